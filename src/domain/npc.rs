//! A non-player character: who it is, how it sounds, what it may do.

use std::time::Duration;

use serde_json::Value;

use super::Tier;

/// One NPC as its YAML describes it; every field acts.
#[derive(Clone, Debug, PartialEq)]
pub struct Npc {
    /// Full name, unique at a table ("Bartok the Barkeep").
    pub name: String,
    /// Other names players call it by.
    pub aliases: Vec<String>,
    /// Pronunciation of words, spoken and heard: word -> respelling in plain letters.
    pub pronunciation: Vec<Pronunciation>,
    /// Description of the NPC, in prose.
    pub personality: String,
    /// Rules it keeps while playing.
    pub behavior_rules: Vec<String>,
    /// Its secrets; in its own prompt, guarded, and in no other.
    pub secret_knowledge: Vec<String>,
    /// Topics it knows about.
    pub knowledge_scope: Vec<String>,
    /// Its voice.
    pub voice: Voice,
    /// Chat model that is asked first, by the name of its entry; `None`: that of the table.
    pub llm: Option<String>,
    /// Chat models of [`EngineKind::SentenceCascade`], which needs them.
    pub cascade: Option<CascadeModels>,
    /// ISO 639-1 code of the language it speaks ("en").
    pub language: String,
    /// Longest reply, in sentences.
    pub max_sentences: u8,
    /// Engine of its speech.
    pub engine: EngineKind,
    /// Settings of [`EngineKind::SpeechToSpeech`].
    pub s2s: S2s,
    /// Highest tier it reaches without the game master's override.
    pub budget_tier: Tier,
    /// Whitelist of tool identities ("dice-roller.roll", "memory.*").
    pub tools: Vec<String>,
    /// Condition for being addressed.
    pub address: AddressMode,
    /// Lines of the scripted chat model.
    pub lines: Vec<ScriptedLine>,
    /// Said while a long tool round runs, in its own voice.
    pub fillers: Vec<String>,
    /// Limits on tool use.
    pub policy: Policy,
}

impl Npc {
    /// True if its tools play music.
    pub fn plays_music(&self) -> bool {
        self.tools.iter().any(|tool| tool.starts_with("music-ambiance."))
    }

    /// True if its tools show pictures.
    pub fn has_pictures(&self) -> bool {
        self.tools.iter().any(|tool| tool.starts_with("image-gen."))
    }
}

#[cfg(test)]
impl Npc {
    /// An NPC of this name with defaults for everything else.
    pub fn plain(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            aliases: Vec::new(),
            pronunciation: Vec::new(),
            personality: "plain".to_owned(),
            behavior_rules: Vec::new(),
            secret_knowledge: Vec::new(),
            knowledge_scope: Vec::new(),
            voice: Voice::as_is("", "a"),
            llm: None,
            cascade: None,
            language: "en".to_owned(),
            max_sentences: 4,
            engine: EngineKind::Cascaded,
            s2s: S2s::default(),
            budget_tier: Tier::Fast,
            tools: Vec::new(),
            address: AddressMode::Adaptive,
            lines: Vec::new(),
            fillers: Vec::new(),
            policy: Policy::default(),
        }
    }
}

/// A word and its respelling in plain letters ("Greymantle", "gray mantle").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pronunciation {
    /// The word as written.
    pub word: String,
    /// Spelling for reading it aloud, in ordinary letters.
    pub respelling: String,
}

/// A voice of a text-to-speech provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Voice {
    /// Provider name ("flite", "espeak", "piper", "kokoro", "openai").
    pub provider: String,
    /// The provider's own name of the voice.
    pub voice_id: String,
    /// Semitones, -10 to 10.
    pub pitch_shift: f32,
    /// Speaking speed, 0.5 to 2.0.
    pub speed_factor: f32,
    /// Semitones by which the resonances of the mouth are shifted, -6 to 6; up: a smaller body.
    pub formant_shift: f32,
    /// Loudness factor, 0.0 to 2.0.
    pub volume: f32,
    /// Voice that replaces a failed one; it has no further fallback.
    pub fallback: Option<Box<Voice>>,
}

impl Voice {
    /// A voice as its provider has it.
    pub fn as_is(provider: &str, voice_id: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            voice_id: voice_id.to_owned(),
            pitch_shift: 0.0,
            speed_factor: 1.0,
            formant_shift: 0.0,
            volume: 1.0,
            fallback: None,
        }
    }
}

/// Engine of an NPC's speech.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// Speech-to-text, chat model, text-to-speech.
    Cascaded,
    /// A cascade of two chat models: a fast one opens, a strong one goes on.
    SentenceCascade,
    /// One model that hears the players' own voices and speaks.
    SpeechToSpeech,
}

impl EngineKind {
    /// Their names in commands, the shortest of each.
    pub const NAMES: [&str; 3] = ["cascaded", "sentence_cascade", "s2s"];

    /// The one that files and commands call `name`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "cascaded" => Some(Self::Cascaded),
            "sentence_cascade" => Some(Self::SentenceCascade),
            "s2s" | "speech_to_speech" => Some(Self::SpeechToSpeech),
            _ => None,
        }
    }

    /// Its shortest name in files and commands.
    pub const fn short(self) -> &'static str {
        match self {
            Self::Cascaded => "cascaded",
            Self::SentenceCascade => "sentence_cascade",
            Self::SpeechToSpeech => "s2s",
        }
    }

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cascaded => "cascaded",
            Self::SentenceCascade => "sentence_cascade",
            Self::SpeechToSpeech => "speech_to_speech",
        }
    }
}

/// Chat models of the sentence cascade, by the names of their entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CascadeModels {
    /// Says the first sentence.
    pub opener: String,
    /// Goes on, and calls tools.
    pub strong: String,
}

/// Settings of an NPC at a speech-to-speech service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct S2s {
    /// The service that hears and speaks for it, by its name in files ("gemini-live"); `None`: the
    /// first of the configuration.
    pub provider: Option<String>,
    /// The service's own name of the voice ("cedar"); `None`: the service's choice.
    pub voice: Option<String>,
    /// The cascade answers where a tier was asked for that allows a tool slower than this (its p50).
    pub slow_tool: Duration,
    /// Longest speech of one answer; the rest is cut off.
    pub max_answer: Duration,
}

impl S2s {
    /// Longest that [`Self::max_answer`] may be.
    pub const MAX_ANSWER: Duration = Duration::from_secs(30);
}

impl Default for S2s {
    fn default() -> Self {
        Self {
            provider: None,
            voice: None,
            slow_tool: Duration::from_millis(1_500),
            max_answer: Self::MAX_ANSWER,
        }
    }
}

/// Condition under which an NPC is addressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressMode {
    /// Only when its name is said.
    NameOnly,
    /// By name, in conversation, or alone with the speaker.
    #[default]
    Adaptive,
    /// It answers everything that is not addressed to another NPC or player.
    Always,
}

/// One line of the scripted chat model.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptedLine {
    /// Condition for using the line; `None`: the default line.
    pub when: Option<LineWhen>,
    /// ISO 639-1 code of the language it answers; `None`: whichever.
    pub language: Option<String>,
    /// Variants of what to say, templates.
    pub say: Vec<String>,
    /// A tool to call before speaking.
    pub tool: Option<LineTool>,
    /// Variants of what to say where the tool cannot be called; none: the line does not apply then.
    pub otherwise: Vec<String>,
    /// Said at most once a session.
    pub once: bool,
    /// Relative chance among lines that fit.
    pub weight: u32,
}

/// Condition of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineWhen {
    /// Any of these words or phrases, as whole words.
    Phrases(Vec<String>),
    /// A regular expression; its captures are `{1}`, `{2}`, `{name}`.
    Pattern(String),
}

/// A tool call of a line; its arguments are templates.
#[derive(Clone, Debug, PartialEq)]
pub struct LineTool {
    /// Identity of the tool ("dice-roller.roll").
    pub name: String,
    /// JSON object whose strings are templates.
    pub arguments: Value,
}

/// Rules for an NPC's use of tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Instruction to the model about calling tools.
    pub tool_choice: ToolChoice,
    /// Model rounds with tool calls in one turn.
    pub max_rounds: u32,
    /// Calls in one turn.
    pub max_calls_per_turn: u32,
    /// Calls at once in one round.
    pub max_parallel: u32,
    /// Calls in one session.
    pub max_calls_per_session: u32,
    /// Calls in any 60 seconds.
    pub max_calls_per_minute: u32,
    /// Equal calls across the rounds of one turn.
    pub max_identical: u32,
    /// Identities it may never call.
    pub blocklist: Vec<String>,
    /// Tools after whose result the turn goes straight to speaking.
    pub stop_on_tool: Vec<String>,
    /// Money this NPC may spend in a session; `None`: only the session's cap.
    pub max_cost: Option<f64>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            tool_choice: ToolChoice::Auto,
            max_rounds: 4,
            max_calls_per_turn: 8,
            max_parallel: 8,
            max_calls_per_session: 500,
            max_calls_per_minute: 60,
            max_identical: 2,
            blocklist: Vec::new(),
            stop_on_tool: Vec::new(),
            max_cost: None,
        }
    }
}

/// Instruction to the model about calling tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// At least one call in the first round.
    Required,
    /// No tool at all.
    None,
    /// This tool in the first round.
    Named(String),
}

impl Npc {
    /// The chat model that is asked first for its answers with its engine; `None`: that of the table.
    pub fn thinks_with(&self) -> Option<&str> {
        let cascade = self.cascade.as_ref().filter(|_| self.engine == EngineKind::SentenceCascade);
        cascade.map(|models| models.strong.as_str()).or(self.llm.as_deref())
    }

    /// True if `name` is its name or an alias; case and extra blanks do not matter.
    pub fn is_called(&self, name: &str) -> bool {
        let name = bare_name(name);
        bare_name(&self.name) == name || self.aliases.iter().any(|alias| bare_name(alias) == name)
    }
}

/// A name without case and spare blanks.
pub fn bare_name(name: &str) -> String {
    name.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}
