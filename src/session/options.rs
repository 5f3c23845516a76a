//! Settings of a table.

use std::time::Duration;

use crate::logic::turn::{Detector, EndOfTurn, Patience};

#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    pub patience: Patience,
    /// Evidence that shortens or lengthens that silence.
    pub detector: Detector,
    pub preemptive: bool,
    /// A tool round expected to last longer gets a filler line.
    pub filler_after: Duration,
    /// Longest answer of a model, in tokens.
    pub max_tokens: u32,
    /// Deadline for a turn's first sound.
    pub turn_timeout: Duration,
    /// Longest memory lookup; the turn continues without late parts.
    pub recall_timeout: Duration,
    pub limits: Limits,
    /// Keep what the last answers were made from; for local tables, and fixed while they run.
    pub explains: bool,
}

/// Limits of one player's requests; game masters have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub paid_turns_per_minute: usize,
    pub waiting: usize,
}

impl Limits {
    pub const NONE: Self = Self { paid_turns_per_minute: usize::MAX, waiting: usize::MAX };
}

impl Options {
    pub const fn ends(&self) -> EndOfTurn {
        EndOfTurn { patience: self.patience, detector: self.detector }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            patience: Patience::Normal,
            detector: Detector::Text,
            preemptive: true,
            filler_after: Duration::from_millis(700),
            max_tokens: 300,
            turn_timeout: Duration::from_secs(30),
            recall_timeout: Duration::from_millis(50),
            limits: Limits { paid_turns_per_minute: 12, waiting: 2 },
            explains: false,
        }
    }
}
