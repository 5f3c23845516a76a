//! Keys of NPCs, in files and inline.

use super::{COUNT, MONEY, TEXT_OR_TEXTS, TEXTS, WAIT};
use crate::{
    logic::language,
    provider::VoiceService,
    yaml::{Key, Kind, Shape},
};

pub static NPC: Shape = Shape {
    title: "A Glyphoxa NPC",
    keys: &[
        Key::required("name", Kind::Filled, "Full name, unique at the table."),
        Key::new(
            "kind",
            Kind::Word(&["npc", "assistant"]),
            "npc, the default, or assistant, the game master's assistant (one at most): it \
             answers `/ask` in writing, is never at the table, and needs no voice.",
        ),
        Key::new("aliases", TEXTS, "Other names players call it by."),
        Key::new(
            "profession",
            Kind::Filled,
            "Its occupation (\"barkeep\"): players may call it \"the barkeep\", unless another \
             NPC has the same one.",
        ),
        Key::new(
            "pronunciation",
            Kind::Either(&[Kind::Filled, Kind::Names(&Kind::Filled)]),
            "Pronunciation of the name in plain letters (\"gray mantle\"), or a mapping of words \
             to respellings.",
        ),
        Key::new("personality", Kind::Text, "Its character, in prose."),
        Key::new("behavior_rules", TEXTS, "Rules it follows while playing."),
        Key::new(
            "secret_knowledge",
            TEXT_OR_TEXTS,
            "Secrets that only this NPC knows; they go into no other NPC's prompt.",
        ),
        Key::new("knowledge_scope", TEXTS, "Topics it knows about."),
        Key::new("voice", Kind::Shape(&VOICE), "Its voice."),
        Key::new(
            "llm",
            Kind::Filled,
            "Chat model asked first for this NPC, by the name of its entry in providers.llm \
             (`as`); the others follow in order. Default: the first of the list.",
        ),
        Key::new(
            "language",
            Kind::Filled,
            "ISO 639-1 code of the language it speaks; default: the table's.",
        ),
        Key::new(
            "max_sentences",
            Kind::Whole { min: 1, max: 20 },
            "Longest reply in sentences; default 4.",
        ),
        Key::new(
            "engine",
            Kind::Word(ENGINES),
            "Engine of its speech: cascaded, the default (recogniser, chat model, voice); \
             sentence_cascade, a fast chat model for the first sentence and a strong one for the \
             rest (`cascade`); s2s or speech_to_speech, one model of providers.speech_to_speech \
             that hears the players' own voices.",
        ),
        Key::new(
            "cascade",
            Kind::Shape(&CASCADE),
            "Its two chat models with `engine: sentence_cascade`; `llm` has no effect then.",
        ),
        Key::new(
            "s2s",
            Kind::Shape(&S2S),
            "Its speech with `engine: s2s`; its `voice` speaks when that service cannot.",
        ),
        Key::new(
            "budget_tier",
            Kind::Word(&["fast", "standard", "deep"]),
            "Highest tier it reaches without the game master's override; default fast.",
        ),
        Key::new(
            "tools",
            TEXTS,
            "Tools it may use: `server.tool`, a bare tool name, `server.*` or `server.prefix*`; \
             default none.",
        ),
        Key::new(
            "address",
            Kind::Word(&["name_only", "adaptive", "always"]),
            "When it feels addressed: only by name; by name, in conversation or alone with the \
             speaker (the default); or by anything not said to another NPC.",
        ),
        Key::new("lines", Kind::List(&Kind::Shape(&LINE)), "Lines of the scripted brain."),
        Key::new("fillers", TEXTS, "Said in its own voice while a long tool round runs."),
        Key::new("policy", Kind::Shape(&POLICY), "Limits on its tool use, overriding the table's."),
    ],
};

pub static NPCS: Shape = Shape {
    title: "Glyphoxa NPCs",
    keys: &[Key::required(
        "npcs",
        Kind::List(&Kind::Shape(&NPC)),
        "NPCs, each as in its own file.",
    )],
};

const ENGINES: &[&str] = &["cascaded", "sentence_cascade", "speech_to_speech", "s2s"];

pub static CASCADE: Shape = Shape {
    title: "Sentence cascade of an NPC",
    keys: &[
        Key::required(
            "opener",
            Kind::Filled,
            "Fast chat model that says the first sentence, by the name of its entry in \
             providers.llm.",
        ),
        Key::required(
            "strong",
            Kind::Filled,
            "Strong chat model that goes on and calls tools, by the name of its entry.",
        ),
    ],
};

pub static S2S: Shape = Shape {
    title: "Speech to speech of an NPC",
    keys: &[
        Key::new(
            "provider",
            Kind::Filled,
            "Entry of providers.speech_to_speech, by its `as` or its service; default: the first \
             there.",
        ),
        Key::new(
            "voice",
            Kind::Filled,
            "The service's name for the voice (cedar, marin); default: the service's choice.",
        ),
        Key::new(
            "slow_tool_ms",
            WAIT,
            "Duration in milliseconds: if a key word or the game master asks for a tier that \
             allows a slower tool, the cascade answers; default 1500.",
        ),
        Key::new(
            "max_answer_s",
            Kind::Whole { min: 5, max: 30 },
            "Longest answer in seconds of speech; what is longer is cut off, between two sentences \
             where possible. Default 30.",
        ),
    ],
};

pub static VOICE: Shape = Shape {
    title: "A voice",
    keys: &[
        Key::new(
            "provider",
            SERVICE,
            "Voice service, or an entry of providers.tts by its name there; default: the first of \
             providers.tts.",
        ),
        Key::new("voice_id", Kind::Filled, VOICE_ID),
        PITCH_SHIFT,
        SPEED_FACTOR,
        FORMANT_SHIFT,
        Key::new(
            "volume",
            Kind::Number { min: 0.0, max: 2.0 },
            "Loudness beside other voices, which are all as loud; default 1.0.",
        ),
        Key::new(
            "fallback",
            Kind::Shape(&FALLBACK),
            "Voice that speaks when this one cannot: its files are missing, the machine is too \
             slow for it, or its service is unavailable.",
        ),
    ],
};

const PITCH_SHIFT: Key = Key::new(
    "pitch_shift",
    Kind::Number { min: -10.0, max: 10.0 },
    "Semitones up or down; default 0.",
);
const SPEED_FACTOR: Key =
    Key::new("speed_factor", Kind::Number { min: 0.5, max: 2.0 }, "Speaking speed; default 1.0.");
const VOICE_ID: &str = "The service's name for the voice: for flite slt, rms, awb, kal or kal16; for \
                        piper a folder of a voice in data_dir/models (joe; with several speakers \
                        NAME#SPEAKER); for kokoro one of 28 such as bm_george and af_heart; for \
                        wyoming one that the service lists, or none for the service's choice; for \
                        elevenlabs and cartesia the voice's ID.";
/// Formants show the size of a speaker's body.
const FORMANT_SHIFT: Key = Key::new(
    "formant_shift",
    Kind::Number { min: -6.0, max: 6.0 },
    "Semitones by which a piper, kokoro or wyoming voice's resonances go up (a smaller body) or down (a larger one), \
     whatever its pitch; default 0.",
);

/// A voice service, or the name of an entry.
const SERVICE: Kind = Kind::Either(&[Kind::Word(VoiceService::NAMES), Kind::Filled]);

/// The voice that speaks while one of a service cannot.
pub static REPLACEMENT: Shape = Shape {
    title: "A voice in place of another",
    keys: &[
        Key::required("provider", SERVICE, "Voice service, or an entry of providers.tts."),
        Key::new("voice_id", Kind::Filled, VOICE_ID),
        PITCH_SHIFT,
        SPEED_FACTOR,
        FORMANT_SHIFT,
    ],
};

/// The voice that speaks while the first one cannot.
pub static FALLBACK: Shape = Shape {
    title: "A second voice",
    keys: &[
        Key::new(
            "provider",
            Kind::Word(VoiceService::HERE),
            "A voice service on this machine; default flite.",
        ),
        Key::new("voice_id", Kind::Filled, VOICE_ID),
        PITCH_SHIFT,
        SPEED_FACTOR,
        FORMANT_SHIFT,
    ],
};

pub static LINE: Shape = Shape {
    title: "A line of the scripted brain",
    keys: &[
        Key::new(
            "when",
            TEXT_OR_TEXTS,
            "Whole words or phrases, any of which makes the line fit, or one regular expression \
             between slashes; without it the line always fits.",
        ),
        Key::new(
            "language",
            Kind::Word(language::CODES),
            "Language of the utterances that the line answers, before any line without one; \
             default: any.",
        ),
        Key::required(
            "say",
            TEXT_OR_TEXTS,
            "Text to say, or variants of it. Placeholders: {speaker} {npc} {dice} {utterance}, \
             {1} or {title} for the expression's groups, {name} for the name that the speaker has \
             given (group \"name\" of this line or an earlier one's), {result.…} for the tool's answer.",
        ),
        Key::new("tool", Kind::Shape(&LINE_TOOL), "A tool to call before speaking."),
        Key::new(
            "else",
            TEXT_OR_TEXTS,
            "Text to say instead if the tool fails or takes longer than the turn's tier allows; \
             without it the line does not fit then.",
        ),
        Key::new("once", Kind::Flag, "Said at most once a session; default false."),
        Key::new(
            "weight",
            Kind::Whole { min: 1, max: 1_000_000 },
            "Chance among lines that fit, relative to their weights; default 1.",
        ),
    ],
};

pub static LINE_TOOL: Shape = Shape {
    title: "A tool call",
    keys: &[
        Key::required("name", Kind::Filled, "The tool, one of the NPC's `tools`."),
        Key::new(
            "arguments",
            Kind::Names(&Kind::Any),
            "Its arguments; texts may contain the placeholders of `say`.",
        ),
    ],
};

pub static POLICY: Shape = Shape {
    title: "Limits on tool use",
    keys: &[
        Key::new(
            "tool_choice",
            Kind::Filled,
            "auto (the default), required, none, or the name of a tool to call first.",
        ),
        Key::new("max_rounds", COUNT, "Model rounds with tool calls in one turn; default 4."),
        Key::new("max_calls_per_turn", COUNT, "Calls in one turn; default 8."),
        Key::new(
            "max_parallel",
            Kind::Whole { min: 1, max: 64 },
            "Simultaneous calls in one round; default 8.",
        ),
        Key::new("max_calls_per_session", COUNT, "Calls in one session; default 500."),
        Key::new("max_calls_per_minute", COUNT, "Calls in any 60 seconds; default 60."),
        Key::new(
            "max_identical",
            Kind::Whole { min: 1, max: 1_000_000 },
            "Identical calls across the rounds of one turn; default 2.",
        ),
        Key::new("blocklist", TEXTS, "Tools it may never call."),
        Key::new(
            "stop_on_tool",
            TEXTS,
            "Tools after whose result the turn goes straight to speaking.",
        ),
        Key::new(
            "max_cost",
            MONEY,
            "Money the NPC may spend in a session; default: no limit of its own.",
        ),
    ],
};
