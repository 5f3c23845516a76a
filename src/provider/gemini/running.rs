//! The answer that is being made, until all of it is known.
//!
//! Entry type: [`Running`]. Words and the billed tokens have no order against the end of a turn, so an
//! end waits a moment for them. **Never**: ends by itself.

use std::{mem, time::Duration};

use tokio::time::Instant;

use crate::provider::{
    Counted, SpeechEnding, SpeechUsage,
    speech_to_speech::{answer::Answer, peer::Peer},
};

/// Longest wait, after the end of an answer, for what belongs to it.
const GRACE: Duration = Duration::from_millis(300);
/// Longest wait, after a call whose result is awaited, for other calls and the billed tokens: the results
/// are late by so much where neither they nor the end of the turn come.
const CALLED: Duration = Duration::from_millis(150);
/// Less sound than an answer has, in samples: half a second. It may be the last of the turn before.
const REMNANT: usize = 12_000;
/// Longest wait for the answer behind such a remnant; after it the remnant was the answer.
const FOLLOWS: Duration = Duration::from_secs(2);
/// Longest wait for the end of an answer that was cancelled.
pub const STOPPED: Duration = Duration::from_secs(10);

/// An answer that was asked for and has not ended.
#[derive(Debug)]
pub struct Running {
    /// Its bounds and calls.
    pub answer: Answer,
    /// Some of it has come.
    pub has_begun: bool,
    /// The turn of the model is over.
    pub is_over: bool,
    /// An end has come that may be its own or that of the turn before, and nothing since.
    is_expected: bool,
    /// Samples that have come.
    samples: usize,
    has_calls: bool,
    /// Its ending.
    pub ending: SpeechEnding,
    /// The billed tokens.
    pub usage: Counted<SpeechUsage>,
    /// The service waits for results within its turn: for us the answer ends with its calls.
    pub is_blocked: bool,
    /// Tokens were counted since then.
    is_counted: bool,
    has_words: bool,
    has_last_words: bool,
    /// Deadline at which it ends, whatever is missing.
    ends_at: Option<Instant>,
}

impl Running {
    /// An answer of which nothing has come.
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

    /// Some of it has come.
    pub fn goes_on(&mut self) {
        self.has_begun = true;
        if self.is_blocked {
            self.ends_at = Some(Instant::now() + CALLED);
        } else if mem::take(&mut self.is_expected) {
            self.ends_at = None;
        }
    }

    /// Counts samples that came.
    pub const fn sounds(&mut self, samples: usize) {
        self.samples = self.samples.saturating_add(samples);
    }

    /// It has calls, of which the results of some are awaited if it `is_blocked` by them.
    pub fn calls(&mut self, is_blocked: bool) {
        self.has_calls = true;
        if is_blocked {
            self.is_blocked = true;
            self.goes_on();
        }
    }

    /// Notes words that came. Words that `may_be_late` are no beginning, nor are the last of them its last.
    pub fn words(&mut self, may_be_late: bool, is_last: bool) {
        self.has_words = true;
        if !may_be_late {
            self.has_last_words |= is_last;
            // An answer that is expected begins with sound or calls.
            if !self.is_expected {
                self.goes_on();
            }
        }
    }

    /// It has so little that all of it may be of the turn before.
    pub fn is_remnant(&self) -> bool {
        self.answer.cancelled_at.is_none() && !self.has_calls && self.samples < REMNANT
    }

    /// Takes what has come for a remnant whose turn has ended. It ends soon if nothing more comes.
    pub fn begins_again(&mut self) {
        self.is_expected = true;
        self.ends_at = Some(Instant::now() + FOLLOWS);
    }

    /// The service has ended its turn, as far as is known.
    pub const fn is_turn_over(&self) -> bool {
        self.is_over || self.is_expected
    }

    /// Takes a count of tokens.
    pub fn count(&mut self, usage: SpeechUsage) {
        let is_empty = usage == SpeechUsage::default();
        self.is_counted |= self.is_blocked && !is_empty;
        self.usage.merge(usage);
    }

    /// It ends soon.
    pub fn ends(&mut self) {
        let soon = Instant::now() + GRACE;
        self.ends_at = Some(self.ends_at.map_or(soon, |at| at.min(soon)));
    }

    /// Nothing of it is missing.
    pub fn is_whole(&self) -> bool {
        if self.is_blocked {
            return self.is_counted || (self.is_over && self.usage.get().is_some());
        }
        let is_cut = self.ending != SpeechEnding::Completed;
        let has_words = is_cut || !self.has_words || self.has_last_words;
        self.is_over && self.usage.get().is_some() && has_words
    }

    /// It has waited long enough for what is missing.
    pub fn is_due(&self) -> bool {
        self.ends_at.is_some_and(|at| at <= Instant::now())
    }

    /// Deadline of its current wait.
    pub fn due(&self) -> Option<Instant> {
        self.ends_at.or(self.answer.cancelled_at.map(|at| at + STOPPED))
    }
}

/// Ending of an answer whose turn is over for `reason`.
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
