//! Keys of a tool that appear in several kinds of files.

use super::TEXTS;
use crate::{
    tools::SideEffects,
    yaml::{Key, Kind},
};

/// Up to a day, in milliseconds.
pub const DURATION: Kind = Kind::Number { min: 0.0, max: 86_400_000.0 };
/// Tiers a tool may be kept from.
pub const TIER: Kind = Kind::Word(&["fast", "standard", "deep"]);

pub const ESTIMATED: Key =
    Key::new("estimated_duration_ms", DURATION, "Usual duration of a call (p50).");
pub const MEASURED: Key =
    Key::new("measured_duration_ms", DURATION, "The usual duration (p50) as measured elsewhere.");
pub const MEASURED_P99: Key =
    Key::new("measured_p99_ms", DURATION, "The p99 as measured elsewhere.");
pub const IDEMPOTENT: Key = Key::new(
    "idempotent",
    Kind::Flag,
    "A second call has no further effect, so a failed call may be retried.",
);
pub const READ_ONLY: Key =
    Key::new("read_only", Kind::Flag, "It changes nothing, so it may be called ahead of time.");
pub const DESTRUCTIVE: Key = Key::new("destructive", Kind::Flag, "It may destroy something.");
pub const OPEN_WORLD: Key = Key::new(
    "open_world",
    Kind::Flag,
    "Its arguments leave this machine; default true, except for built-in tools.",
);
pub const EFFECTS: Key = Key::new(
    "effects",
    Kind::Word(SideEffects::NAMES),
    "Side effects of a call, overriding the tool's own description: none and reversible need no \
     approval; destructive needs the game master's as soon as the conversation contains text from \
     outside.",
);
pub const CACHEABLE: Key = Key::new(
    "cacheable_seconds",
    Kind::Number { min: 0.0, max: 86_400.0 },
    "Seconds for which an answer can be reused; default 0.",
);
pub const LATE: Key = Key::new(
    "late",
    Kind::Word(&["follow_up"]),
    "follow_up: a late answer becomes a turn of its own (deep tools).",
);
pub const URGENT: Key = Key::new(
    "urgent",
    Kind::Flag,
    "With late: follow_up, its answer may interrupt the NPC while its turn lasts, where a speech-to-speech \
     service can do that (gemini-live); default false.",
);
pub const RECORDS: Key = Key::new(
    "records",
    Kind::Flag,
    "It only records something, so the NPC speaks on without its answer, where a speech-to-speech \
     service can do that (gemini-live); default false.",
);
pub const APPROVAL: Key = Key::new(
    "approval",
    Kind::Word(&["dm", "none"]),
    "dm: the game master decides each call; default none.",
);
pub const FILLERS: Key = Key::new("fillers", TEXTS, "Lines that an NPC says while it runs.");
pub const PROBE: Key = Key::new(
    "probe",
    Kind::Names(&Kind::Any),
    "Arguments for measuring its duration; the tool is really called with them.",
);
