//! The previous answer's turn, until the service ends it.
//!
//! Entry type: [`Tail`]. For us an answer ends with its awaited calls or its last sound; the
//! service's turn lasts until it has the results or the sound was played.

use std::mem;

use super::running::Running;
use crate::provider::{Counted, SpeechUsage, speech_to_speech::answer::Called};

/// Most calls kept for the next round.
pub const CALLS_MAX: usize = 64;

#[derive(Debug, Default)]
pub struct Tail {
    is_open: bool,
    /// More calls may arrive, since the service waits for results.
    takes_calls: bool,
    calls: Vec<Called>,
    /// Tokens billed since the answer.
    billed: Counted<SpeechUsage>,
}

impl Tail {
    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    /// True if calls without a running answer belong to it.
    pub const fn takes_calls(&self) -> bool {
        self.takes_calls
    }

    /// True if an end or a token count belongs to it: `running` has almost nothing yet.
    pub fn owns_end(&self, running: Option<&Running>) -> bool {
        self.is_open && running.is_none_or(Running::is_remnant)
    }

    /// Follows an ended answer; `is_blocked`: the service awaits results.
    pub const fn follow(&mut self, is_over: bool, is_blocked: bool) {
        (self.is_open, self.takes_calls) = (!is_over, is_blocked && !is_over);
    }

    /// Follows an answer that was not requested.
    pub const fn begins(&mut self) {
        self.is_open = true;
    }

    pub const fn ends(&mut self) {
        (self.is_open, self.takes_calls) = (false, false);
    }

    /// Keeps calls for the next round; false: too many.
    #[must_use]
    pub fn call(&mut self, calls: Vec<Called>) -> bool {
        self.calls.extend(calls);
        self.calls.len() <= CALLS_MAX
    }

    /// Drops calls that the service cancelled.
    pub fn take_back(&mut self, ids: &[String]) {
        self.calls.retain(|call| !ids.contains(&call.id));
    }

    pub fn interrupt(&mut self) {
        self.calls.clear();
    }

    /// Takes a token count. Without calls it is dropped: the answer is already booked.
    pub fn count(&mut self, usage: SpeechUsage) {
        if !self.calls.is_empty() {
            self.billed.merge(usage);
        }
    }

    pub fn hand_over(&mut self) -> (Vec<Called>, SpeechUsage) {
        self.takes_calls = false;
        let billed = mem::take(&mut self.billed).get().unwrap_or_default();
        (mem::take(&mut self.calls), billed)
    }
}
