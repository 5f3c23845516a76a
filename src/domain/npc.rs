//! A non-player character.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use super::Tier;

/// One NPC as in its YAML file.
#[derive(Clone, Debug, PartialEq)]
pub struct Npc {
    /// Full name, unique at a table ("Bartok the Barkeep").
    pub name: String,
    pub aliases: Vec<String>,
    /// Applied to spoken and heard words.
    pub pronunciation: Vec<Pronunciation>,
    pub personality: String,
    pub behavior_rules: Vec<String>,
    /// Only in its own prompt, guarded.
    pub secret_knowledge: Vec<String>,
    pub knowledge_scope: Vec<String>,
    pub voice: Voice,
    /// Name of its first chat model; `None`: the table's.
    pub llm: Option<String>,
    /// Required by [`EngineKind::SentenceCascade`].
    pub cascade: Option<CascadeModels>,
    /// ISO 639-1 code of its language ("en").
    pub language: String,
    /// Longest reply, in sentences.
    pub max_sentences: u8,
    pub engine: EngineKind,
    pub s2s: S2s,
    pub budget_tier: Tier,
    pub tools: Vec<String>,
    pub address: AddressMode,
    /// Lines of the scripted chat model; copies of an NPC share them, a cast has hundreds.
    pub lines: Arc<[ScriptedLine]>,
    /// Said while a long tool round runs, in its own voice.
    pub fillers: Vec<String>,
    pub policy: Policy,
}

impl Npc {
    pub fn plays_music(&self) -> bool {
        self.tools.iter().any(|tool| tool.starts_with("music-ambiance."))
    }

    pub fn has_pictures(&self) -> bool {
        self.tools.iter().any(|tool| tool.starts_with("image-gen."))
    }
}

#[cfg(test)]
impl Npc {
    /// An NPC with defaults for everything but its name.
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
            lines: Arc::default(),
            fillers: Vec::new(),
            policy: Policy::default(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pronunciation {
    pub word: String,
    pub respelling: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Voice {
    pub provider: String,
    pub voice_id: String,
    /// Semitones, -10 to 10.
    pub pitch_shift: f32,
    /// 0.5 to 2.0.
    pub speed_factor: f32,
    /// Shift of the mouth's resonances in semitones, -6 to 6; up: a smaller body.
    pub formant_shift: f32,
    /// Factor, 0.0 to 2.0.
    pub volume: f32,
    /// Replaces a failed voice; has no further fallback.
    pub fallback: Option<Box<Voice>>,
}

impl Voice {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// Speech-to-text, chat model, text-to-speech.
    Cascaded,
    /// A cascade of two chat models: a fast one opens, a strong one continues.
    SentenceCascade,
    /// One model that hears the players' own voices and speaks.
    SpeechToSpeech,
}

impl EngineKind {
    pub const NAMES: [&str; 3] = ["cascaded", "sentence_cascade", "s2s"];

    pub fn named(name: &str) -> Option<Self> {
        match name {
            "cascaded" => Some(Self::Cascaded),
            "sentence_cascade" => Some(Self::SentenceCascade),
            "s2s" | "speech_to_speech" => Some(Self::SpeechToSpeech),
            _ => None,
        }
    }

    pub const fn short(self) -> &'static str {
        match self {
            Self::Cascaded => "cascaded",
            Self::SentenceCascade => "sentence_cascade",
            Self::SpeechToSpeech => "s2s",
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Cascaded => "cascaded",
            Self::SentenceCascade => "sentence_cascade",
            Self::SpeechToSpeech => "speech_to_speech",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CascadeModels {
    pub opener: String,
    pub strong: String,
}

/// Settings of an NPC at a speech-to-speech service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct S2s {
    /// Name of the service in files ("gemini-live"); `None`: the first of the configuration.
    pub provider: Option<String>,
    /// The service's name of the voice ("cedar"); `None`: the service chooses.
    pub voice: Option<String>,
    /// The cascade answers instead if the requested tier allows a tool slower than this (its p50).
    pub slow_tool: Duration,
    /// Longest speech of one answer; the rest is cut off.
    pub max_answer: Duration,
}

impl S2s {
    /// Upper bound of [`Self::max_answer`].
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressMode {
    /// Only by name.
    NameOnly,
    /// By name, in conversation, or alone with the speaker.
    #[default]
    Adaptive,
    /// By everything not addressed to another NPC or player.
    Always,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ScriptedLine {
    /// `None`: the default line.
    pub when: Option<LineWhen>,
    /// ISO 639-1 code of the language it answers; `None`: any.
    pub language: Option<String>,
    pub say: Vec<String>,
    pub tool: Option<LineTool>,
    /// Variants for when the tool cannot be called; empty: the line does not apply then.
    pub otherwise: Vec<String>,
    pub once: bool,
    pub weight: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineWhen {
    Phrases(Vec<String>),
    /// A regular expression; its captures are `{1}`, `{2}`, `{name}`.
    Pattern(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct LineTool {
    pub name: String,
    /// JSON object whose strings are templates.
    pub arguments: Value,
}

/// Rules for an NPC's use of tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    pub tool_choice: ToolChoice,
    /// Model rounds with tool calls in one turn.
    pub max_rounds: u32,
    /// Calls in one turn.
    pub max_calls_per_turn: u32,
    /// Parallel calls in one round.
    pub max_parallel: u32,
    pub max_calls_per_session: u32,
    /// Calls in any 60 seconds.
    pub max_calls_per_minute: u32,
    pub max_identical: u32,
    pub blocklist: Vec<String>,
    /// Tools whose result ends the rounds: the turn continues with speech.
    pub stop_on_tool: Vec<String>,
    /// Cap per session, in the prices' currency; `None`: only the session's cap.
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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    #[default]
    Auto,
    Required,
    None,
    Named(String),
}

impl Npc {
    /// Name of the first chat model of its engine; `None`: the table's.
    pub fn thinks_with(&self) -> Option<&str> {
        let cascade = self.cascade.as_ref().filter(|_| self.engine == EngineKind::SentenceCascade);
        cascade.map(|models| models.strong.as_str()).or(self.llm.as_deref())
    }

    /// True if `name` is its name or an alias, ignoring case and extra spaces.
    pub fn is_called(&self, name: &str) -> bool {
        let name = bare_name(name);
        bare_name(&self.name) == name || self.aliases.iter().any(|alias| bare_name(alias) == name)
    }
}

pub fn bare_name(name: &str) -> String {
    name.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}
