//! Keys about a tool that stand in more than one kind of file.

use super::TEXTS;
use crate::{
    tools::SideEffects,
    yaml::{Key, Kind},
};

/// Up to a day in milliseconds.
pub const DURATION: Kind = Kind::Number { min: 0.0, max: 86_400_000.0 };
/// Tiers a tool may be kept from.
pub const TIER: Kind = Kind::Word(&["fast", "standard", "deep"]);

/// The p50 that its author expects.
pub const ESTIMATED: Key =
    Key::new("estimated_duration_ms", DURATION, "How long a call usually takes (p50).");
/// Its p50 elsewhere.
pub const MEASURED: Key =
    Key::new("measured_duration_ms", DURATION, "A p50 that was measured elsewhere.");
/// Its p99 elsewhere.
pub const MEASURED_P99: Key =
    Key::new("measured_p99_ms", DURATION, "A p99 that was measured elsewhere.");
/// Whether it may be repeated.
pub const IDEMPOTENT: Key = Key::new(
    "idempotent",
    Kind::Flag,
    "Calling it twice is calling it once, so it may be tried again.",
);
/// Whether it only reads.
pub const READ_ONLY: Key =
    Key::new("read_only", Kind::Flag, "It changes nothing, so it may run ahead.");
/// Whether it may destroy.
pub const DESTRUCTIVE: Key = Key::new("destructive", Kind::Flag, "It may destroy something.");
/// Whether it reaches outside.
pub const OPEN_WORLD: Key = Key::new(
    "open_world",
    Kind::Flag,
    "What it is asked leaves this machine; default true, but for built-in tools.",
);
/// What its calls may do.
pub const EFFECTS: Key = Key::new(
    "effects",
    Kind::Word(SideEffects::NAMES),
    "What a call may do, whatever the tool says of itself: none or reversible asks nobody, \
     destructive asks the game master once words from outside are in the conversation.",
);
/// How long an answer is kept.
pub const CACHEABLE: Key = Key::new(
    "cacheable_seconds",
    Kind::Number { min: 0.0, max: 86_400.0 },
    "How long an answer stays true; default 0.",
);
/// What becomes of a late answer.
pub const LATE: Key = Key::new(
    "late",
    Kind::Word(&["follow_up"]),
    "follow_up: a late answer comes as a turn of its own (deep tools).",
);
/// Who decides its calls.
pub const APPROVAL: Key = Key::new(
    "approval",
    Kind::Word(&["dm", "none"]),
    "dm: the game master decides each call; default none.",
);
/// What is said meanwhile.
pub const FILLERS: Key = Key::new("fillers", TEXTS, "What an NPC says while it runs.");
/// What it is measured with.
pub const PROBE: Key = Key::new(
    "probe",
    Kind::Names(&Kind::Any),
    "Arguments it may be called with to be measured; it is then really called.",
);
