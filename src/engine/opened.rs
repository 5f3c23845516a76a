//! The opening sentence of an answer, and what goes on after it.
//!
//! Entry type: [`Opened`]. **Never**: asks a model, or says a word.

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

/// The opening sentence of an answer; by default there is none.
#[derive(Debug, Default)]
pub struct Opened {
    /// The chat model that wrote it; `None`: nothing of it is said.
    pub by: Option<Arc<str>>,
    /// Arrival of its first word.
    pub first_text_at: Option<Instant>,
    /// Progress of the sentence.
    pub state: State,
}

/// Progress of an opening sentence.
#[derive(Debug, Default)]
pub enum State {
    /// Nothing is said.
    #[default]
    Absent,
    /// It holds numbers, and waits for the results of calls.
    Held(FirstSentence),
    /// It is said; another model goes on.
    Said(FirstSentence),
    /// It is said, and is the whole answer.
    Whole,
}

/// An opening sentence.
#[derive(Debug)]
pub struct FirstSentence {
    /// Its words, without mark-up.
    pub text: String,
    /// Joins the answer to it.
    pub splicer: Splicer,
    /// The player's words that it answers.
    pub utterance: String,
}

impl Opened {
    /// True if no other model is to go on.
    pub const fn is_whole(&self) -> bool {
        matches!(self.state, State::Whole)
    }

    /// True once the voice has it.
    pub const fn is_said(&self) -> bool {
        matches!(self.state, State::Said(_) | State::Whole)
    }

    /// Number of sentences said; a lone first clause is not counted, as the other model ends it.
    pub fn sentences(&self) -> usize {
        match &self.state {
            State::Said(opening) => usize::from(!is_clause(&opening.text)),
            State::Whole => 1,
            State::Absent | State::Held(_) => 0,
        }
    }

    /// Adds to `messages` what the model that goes on has to know: the beginning of its answer where
    /// it `continues` one, else the order to go on.
    pub fn tell(&self, continues: bool, messages: &mut Vec<Message>) {
        let State::Said(FirstSentence { text, .. }) = &self.state else { return };
        if continues {
            return messages.push(Message::spoken(text.clone()));
        }
        order(messages, &go_on_after(text));
    }

    /// The part of the next `sentence` that is said, which is `bare` without mark-up; `None`: nothing of it.
    pub fn join(&mut self, sentence: String, bare: &str) -> Option<String> {
        match &mut self.state {
            // A direction: the voice has to know it, and says nothing of it.
            State::Said(_) if bare.is_empty() => Some(sentence),
            State::Said(opening) => {
                let said = opening.splicer.next(bare)?;
                Some(if said == bare { sentence } else { said })
            }
            State::Absent | State::Held(_) | State::Whole => Some(sentence),
        }
    }

    /// True once the answer took it back; nothing more is said then.
    pub fn is_taken_back(&self) -> bool {
        matches!(&self.state, State::Said(opening) if opening.splicer.refuses())
    }

    /// The sentence that was held back, now that the calls of `records` have returned, if nothing
    /// `has_spoken` before it and every number in it is one of theirs; else it is never said.
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

/// Adds an order to `messages`, within the last one of the player: some servers refuse two in a row.
pub fn order(messages: &mut Vec<Message>, order: &str) {
    match messages.last_mut() {
        Some(Message::User(said)) => said.text = format!("{}\n\n{order}", said.text),
        _ => messages.push(Message::User(order.into())),
    }
}
