//! The running answer, until all of it is known.
//!
//! Entry type: [`Running`]. Words and billed tokens may arrive before or after the end of a turn,
//! so an end waits a moment for them.

use std::{mem, time::Duration};

use tokio::time::Instant;

use crate::provider::{
    Counted, SpeechEnding, SpeechUsage,
    speech_to_speech::{answer::Answer, peer::Peer},
};

/// Longest wait for missing words and tokens after the end of an answer.
const GRACE: Duration = Duration::from_millis(300);
/// Longest wait, after an awaited call, for more calls and the billed tokens. It delays the results
/// if neither they nor the end of the turn arrive.
const CALLED: Duration = Duration::from_millis(150);
/// Shorter sound, in samples (half a second), may be the rest of the previous turn.
const REMNANT: usize = 12_000;
/// Longest wait for the answer after such a remnant; then the remnant was the answer.
const FOLLOWS: Duration = Duration::from_secs(2);
/// Longest wait for the end of a cancelled answer.
pub const STOPPED: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Running {
    pub answer: Answer,
    pub has_begun: bool,
    pub is_over: bool,
    /// An end arrived that may belong to the previous turn, and nothing since.
    is_expected: bool,
    samples: usize,
    has_calls: bool,
    pub ending: SpeechEnding,
    pub usage: Counted<SpeechUsage>,
    /// The service waits for results within its turn; for us the answer ends with its calls.
    pub is_blocked: bool,
    /// Tokens were counted since its calls.
    is_counted: bool,
    has_words: bool,
    has_last_words: bool,
    /// Deadline, whatever is missing.
    ends_at: Option<Instant>,
}

impl Running {
    pub fn new(name: String) -> Self {
        Self {
            answer: Answer::new(name),
            has_begun: false,
            is_over: false,
            is_expected: false,
            samples: 0,
            has_calls: false,
            ending: SpeechEnding::Completed,
            usage: Counted::default(),
            is_blocked: false,
            is_counted: false,
            has_words: false,
            has_last_words: false,
            ends_at: None,
        }
    }

    pub fn goes_on(&mut self) {
        self.has_begun = true;
        if self.is_blocked {
            self.ends_at = Some(Instant::now() + CALLED);
        } else if mem::take(&mut self.is_expected) {
            self.ends_at = None;
        }
    }

    pub const fn sounds(&mut self, samples: usize) {
        self.samples = self.samples.saturating_add(samples);
    }

    /// Notes calls; `is_blocked`: the service awaits some of their results.
    pub fn calls(&mut self, is_blocked: bool) {
        self.has_calls = true;
        if is_blocked {
            self.is_blocked = true;
            self.goes_on();
        }
    }

    /// Notes words. Words that `may_be_late` neither begin nor end the answer.
    pub fn words(&mut self, may_be_late: bool, is_last: bool) {
        self.has_words = true;
        if !may_be_late {
            self.has_last_words |= is_last;
            // An expected answer begins with sound or calls.
            if !self.is_expected {
                self.goes_on();
            }
        }
    }

    /// True if all of it may belong to the previous turn.
    pub fn is_remnant(&self) -> bool {
        self.answer.cancelled_at.is_none() && !self.has_calls && self.samples < REMNANT
    }

    /// Treats what arrived as a remnant; the answer ends soon if nothing follows.
    pub fn begins_again(&mut self) {
        self.is_expected = true;
        self.ends_at = Some(Instant::now() + FOLLOWS);
    }

    pub const fn is_turn_over(&self) -> bool {
        self.is_over || self.is_expected
    }

    pub fn count(&mut self, usage: SpeechUsage) {
        let is_empty = usage == SpeechUsage::default();
        self.is_counted |= self.is_blocked && !is_empty;
        self.usage.merge(usage);
    }

    pub fn ends(&mut self) {
        let soon = Instant::now() + GRACE;
        self.ends_at = Some(self.ends_at.map_or(soon, |at| at.min(soon)));
    }

    pub fn is_whole(&self) -> bool {
        if self.is_blocked {
            return self.is_counted || (self.is_over && self.usage.get().is_some());
        }
        let is_cut = self.ending != SpeechEnding::Completed;
        let has_words = is_cut || !self.has_words || self.has_last_words;
        self.is_over && self.usage.get().is_some() && has_words
    }

    pub fn is_due(&self) -> bool {
        self.ends_at.is_some_and(|at| at <= Instant::now())
    }

    pub fn due(&self) -> Option<Instant> {
        self.ends_at.or(self.answer.cancelled_at.map(|at| at + STOPPED))
    }
}

pub fn ending(reason: &str, peer: &Peer) -> SpeechEnding {
    match reason {
        "" | "TURN_COMPLETE_REASON_UNSPECIFIED" | "NEED_MORE_INPUT" => SpeechEnding::Completed,
        "MAX_TOKENS" => SpeechEnding::TooLong,
        "RESPONSE_REJECTED" | "SAFETY" | "BLOCKLIST" => SpeechEnding::Withheld,
        reason if reason.starts_with("PROHIBITED") => SpeechEnding::Withheld,
        "MALFORMED_FUNCTION_CALL" => {
            SpeechEnding::Failed("the model's call of a tool is malformed".to_owned())
        }
        reason => {
            peer.notes(&format!("unknown end of a turn \"{reason}\""));
            SpeechEnding::Completed
        }
    }
}
