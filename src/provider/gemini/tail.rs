//! The turn of the answer before, until the service says that it is over.
//!
//! Entry type: [`Tail`]. For us an answer ends with its awaited calls or its last sound; for the service
//! its turn goes on until the results are told, or the sound was played. **Never**: ends an answer.

use std::mem;

use super::running::Running;
use crate::provider::{Counted, SpeechUsage, speech_to_speech::answer::Called};

/// Most calls that wait for the next round.
pub const CALLS_MAX: usize = 64;

/// The rest of a turn that is still to come.
#[derive(Debug, Default)]
pub struct Tail {
    /// Its end has not come.
    is_open: bool,
    /// More calls may come of it, since the service waits for results.
    takes_calls: bool,
    /// Calls that have come, for the next round.
    calls: Vec<Called>,
    /// Tokens that were billed since.
    billed: Counted<SpeechUsage>,
}

impl Tail {
    /// Its end has not come.
    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Calls that come while no answer is running are of it.
    pub const fn takes_calls(&self) -> bool {
        self.takes_calls
    }

    /// An end or a count of tokens is its own: of the `running` answer next to nothing has come.
    pub fn owns_end(&self, running: Option<&Running>) -> bool {
        self.is_open && running.is_none_or(Running::is_remnant)
    }

    /// Follows an answer that has ended, with its turn if `is_over`, waiting for results if `is_blocked`.
    pub const fn follow(&mut self, is_over: bool, is_blocked: bool) {
        (self.is_open, self.takes_calls) = (!is_over, is_blocked && !is_over);
    }

    /// Belongs to an answer that was never asked for.
    pub const fn begins(&mut self) {
        self.is_open = true;
    }

    /// Its end has come.
    pub const fn ends(&mut self) {
        (self.is_open, self.takes_calls) = (false, false);
    }

    /// Keeps calls for the next round; false: they are too many.
    #[must_use]
    pub fn call(&mut self, calls: Vec<Called>) -> bool {
        self.calls.extend(calls);
        self.calls.len() <= CALLS_MAX
    }

    /// Drops the calls with these ids, which the service takes back.
    pub fn take_back(&mut self, ids: &[String]) {
        self.calls.retain(|call| !ids.contains(&call.id));
    }

    /// Drops its calls: it is interrupted.
    pub fn interrupt(&mut self) {
        self.calls.clear();
    }

    /// Takes a count of tokens. Those of calls are kept; the answer before them was booked without others.
    pub fn count(&mut self, usage: SpeechUsage) {
        if !self.calls.is_empty() {
            self.billed.merge(usage);
        }
    }

    /// Another answer is asked for, and takes the calls with the tokens counted for them.
    pub fn hand_over(&mut self) -> (Vec<Called>, SpeechUsage) {
        self.takes_calls = false;
        let billed = mem::take(&mut self.billed).get().unwrap_or_default();
        (mem::take(&mut self.calls), billed)
    }
}
