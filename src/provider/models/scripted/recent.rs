//! The last answers of an NPC, so that it does not repeat itself.
//!
//! Entry type: [`Recent`].

use super::template;
use crate::{domain::Message, logic::words::fold};

/// Answers within which a line is not repeated if others fit.
pub const LAST: usize = 3;

#[derive(Debug)]
pub struct Recent<'m> {
    /// Newest first.
    answers: Vec<&'m str>,
    /// Utterance before the newest answer; empty: unknown.
    asked: &'m str,
}

impl<'m> Recent<'m> {
    pub fn of(messages: &'m [Message]) -> Self {
        let said = |message: &'m Message| match message {
            Message::Assistant { text, .. } if !text.is_empty() => Some(text.as_str()),
            _ => None,
        };
        let answers = messages.iter().rev().filter_map(said).take(LAST).collect();
        let newest = messages.iter().rposition(|message| said(message).is_some());
        let before = messages.iter().take(newest.unwrap_or(0)).rev();
        let mut words = before.filter_map(|message| match message {
            Message::User(said) => said.text.split_once(": "),
            _ => None,
        });
        Self { answers, asked: words.next().map_or("", |(_, words)| words) }
    }

    /// Answers since one matched `template`: 0 for the last one, at most [`LAST`].
    pub fn age(&self, template: &str) -> usize {
        let mut answers = self.answers.iter();
        answers.position(|said| template::is_of(said, template)).unwrap_or(LAST)
    }

    /// True if `utterance` equals the last one: the player asks again.
    pub fn was_asked(&self, utterance: &str) -> bool {
        !self.asked.is_empty() && fold(self.asked) == fold(utterance)
    }
}
