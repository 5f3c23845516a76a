//! The opening sentence of an answer, and how the answer continues.
//!
//! Entry type: [`Opened`].

use std::sync::Arc;

use tokio::time::Instant;

use crate::{
    domain::Message,
    logic::{
        prompt::go_on_after,
        sentence::is_clause,
        splice::{Splicer, numbers},
    },
    tools::CallRecord,
};

/// The opening sentence of an answer; none by default.
#[derive(Debug, Default)]
pub struct Opened {
    /// Chat model that wrote it; `None`: nothing is spoken.
    pub by: Option<Arc<str>>,
    pub first_text_at: Option<Instant>,
    pub state: State,
}

#[derive(Debug, Default)]
pub enum State {
    #[default]
    Absent,
    /// Contains numbers, so it waits for the results of calls.
    Held(FirstSentence),
    /// Spoken; another model continues.
    Said(FirstSentence),
    /// Spoken, and the whole answer.
    Whole,
}

#[derive(Debug)]
pub struct FirstSentence {
    /// Its words, without mark-up.
    pub text: String,
    pub splicer: Splicer,
    pub utterance: String,
}

impl Opened {
    pub const fn is_whole(&self) -> bool {
        matches!(self.state, State::Whole)
    }

    pub const fn is_said(&self) -> bool {
        matches!(self.state, State::Said(_) | State::Whole)
    }

    /// Number of spoken sentences. A lone first clause does not count, because the other model ends
    /// it.
    pub fn sentences(&self) -> usize {
        match &self.state {
            State::Said(opening) => usize::from(!is_clause(&opening.text)),
            State::Whole => 1,
            State::Absent | State::Held(_) => 0,
        }
    }

    /// Adds the opening to `messages` for the model that continues: as the beginning of its answer
    /// if it `continues` one, else as an order.
    pub fn tell(&self, continues: bool, messages: &mut Vec<Message>) {
        let State::Said(FirstSentence { text, .. }) = &self.state else { return };
        if continues {
            return messages.push(Message::spoken(text.clone()));
        }
        order(messages, &go_on_after(text));
    }

    /// Part of the next `sentence` to speak (`bare` without mark-up); `None`: nothing.
    pub fn join(&mut self, sentence: String, bare: &str) -> Option<String> {
        match &mut self.state {
            // A direction, which the voice applies without words.
            State::Said(_) if bare.is_empty() => Some(sentence),
            State::Said(opening) => {
                let said = opening.splicer.next(bare)?;
                Some(if said == bare { sentence } else { said })
            }
            State::Absent | State::Held(_) | State::Whole => Some(sentence),
        }
    }

    /// True once the answer retracted it; nothing more is spoken then.
    pub fn is_taken_back(&self) -> bool {
        matches!(&self.state, State::Said(opening) if opening.splicer.refuses())
    }

    /// Returns the held sentence after the calls of `records`, if nothing was spoken before and
    /// each of its numbers is in their results; otherwise drops it.
    pub fn release(&mut self, records: &[CallRecord], has_spoken: bool) -> Option<String> {
        let held = match std::mem::take(&mut self.state) {
            State::Held(held) => held,
            other => {
                self.state = other;
                return None;
            }
        };
        let mut known = numbers(&held.utterance);
        records.iter().for_each(|record| known.extend(numbers(&record.for_model)));
        if has_spoken || !numbers(&held.text).iter().all(|number| known.contains(number)) {
            return None;
        }
        let text = held.text.clone();
        self.state = State::Said(held);
        Some(text)
    }
}

/// Adds an order within the player's last message, because some servers refuse two in a row.
pub fn order(messages: &mut Vec<Message>, order: &str) {
    match messages.last_mut() {
        Some(Message::User(said)) => said.text = format!("{}\n\n{order}", said.text),
        _ => messages.push(Message::User(order.into())),
    }
}
