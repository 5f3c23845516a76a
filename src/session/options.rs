//! Settings of a table.

use std::time::Duration;

use crate::logic::turn::{Detector, EndOfTurn, Patience};

/// Settings of one table; `config` builds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Silence that ends an utterance.
    pub patience: Patience,
    /// Evidence that shortens and lengthens that silence.
    pub detector: Detector,
    /// Ask the model ahead of the final transcript when the partial is stable.
    pub preemptive: bool,
    /// A tool round expected to last longer than this is covered by a filler line.
    pub filler_after: Duration,
    /// Longest answer of a model, in tokens.
    pub max_tokens: u32,
    /// A turn without a first sound by then ends with a clear outcome.
    pub turn_timeout: Duration,
    /// Longest look-up of what an NPC remembers; its turn goes on without what is late.
    pub recall_timeout: Duration,
    /// Limits of one player's requests.
    pub limits: Limits,
}

/// Limits of one player's requests; game masters have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Answers that cost something, in a minute.
    pub paid_turns_per_minute: usize,
    /// Utterances that wait for an answer at once.
    pub waiting: usize,
}

impl Limits {
    /// Nobody is held to anything.
    pub const NONE: Self = Self { paid_turns_per_minute: usize::MAX, waiting: usize::MAX };
}

impl Options {
    /// Conditions for the end of a turn.
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
        }
    }
}
