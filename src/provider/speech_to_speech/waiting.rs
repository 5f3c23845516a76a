//! Orders that wait for the end of an answer, in their order.
//!
//! Entry type: [`Waiting`].

use std::collections::VecDeque;

use crate::provider::SpeechOrder;

#[derive(Debug, Default)]
pub struct Waiting(VecDeque<Waits>);

#[derive(Debug)]
pub enum Waits {
    Order(SpeechOrder),
    /// An answer cancelled while it waited.
    Stopped,
}

impl Waiting {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn push(&mut self, order: SpeechOrder) {
        self.0.push_back(Waits::Order(order));
    }

    /// Cancels the waiting answers.
    pub fn cancel(&mut self) {
        for held in &mut self.0 {
            if matches!(held, Waits::Order(SpeechOrder::Answer(_))) {
                *held = Waits::Stopped;
            }
        }
    }

    /// The next order, unless it is an answer while one `is_running`.
    pub fn next(&mut self, is_running: bool) -> Option<Waits> {
        let next = self.0.front()?;
        let is_an_answer = matches!(next, Waits::Stopped | Waits::Order(SpeechOrder::Answer(_)));
        if is_running && is_an_answer { None } else { self.0.pop_front() }
    }
}
