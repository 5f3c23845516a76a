//! An NPC's conversation. It only grows at the end, so that prompt caches of providers stay valid,
//! until its older half is summarised.
//!
//! Entry type: [`History`]. Contains only what was played.

use std::mem;

use super::{
    exchanges::{exchanges, forget_exchanges},
    summary::Summary,
};
use crate::{
    domain::{Message, Person, Said},
    engine::TurnReport,
    logic::prompt::{FOLLOW_UP, SideLine},
};

/// Most overheard lines that are kept for the next turn.
const SIDE_LINES_MAX: usize = 20;
/// Messages kept without summaries. The older half goes at twice this number, so that caches
/// survive in between.
const MESSAGES: usize = 80;
/// Like [`MESSAGES`], for models that should have summarised long before.
const MESSAGES_AT_MOST: usize = 2_000;

#[derive(Debug, Default)]
pub struct History {
    messages: Vec<Message>,
    /// The messages have changed since [`History::changed`].
    is_changed: bool,
    side_lines: Vec<SideLine>,
}

impl History {
    pub fn new(messages: Vec<Message>) -> Self {
        let is_changed = !messages.is_empty();
        Self { messages, is_changed, side_lines: Vec::new() }
    }

    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The messages, if they have changed since the last call.
    pub fn changed(&mut self) -> Option<&[Message]> {
        mem::take(&mut self.is_changed).then_some(self.messages.as_slice())
    }

    pub fn side_lines(&self) -> &[SideLine] {
        &self.side_lines
    }

    pub fn add_side_line(&mut self, line: SideLine) {
        if self.side_lines.len() == SIDE_LINES_MAX {
            self.side_lines.remove(0);
        }
        self.side_lines.push(line);
    }

    pub fn remove_side_line(&mut self, line: &SideLine) {
        if let Some(index) = self.side_lines.iter().rposition(|it| it.is_same(line)) {
            self.side_lines.remove(index);
        }
    }

    pub fn forget(&mut self, person: &Person) {
        self.side_lines.retain(|line| line.by.as_ref() != Some(&person.id));
        forget_exchanges(&mut self.messages, person);
        self.is_changed = true;
    }

    /// Removes the last exchange, if it begins with `said`; if it was summarised, removes the
    /// summary.
    pub fn take_back(&mut self, said: &Said) {
        let is_said = |it: &Message| matches!(it, Message::User(_) | Message::Summary { .. });
        let Some(last) = self.messages.iter().rposition(is_said) else { return };
        let is_it = match self.messages.get(last) {
            Some(Message::User(it)) => it == said,
            Some(Message::Summary { speakers, people, .. }) => match &said.by {
                Some(id) => people.contains(id),
                None => said.text == FOLLOW_UP || speakers.iter().any(|it| said.is_by(it)),
            },
            _ => false,
        };
        if is_it {
            self.messages.truncate(last);
            self.is_changed = true;
        }
    }

    /// Replaces messages by their summary; false if they have changed.
    pub fn replace(&mut self, summary: Summary) -> bool {
        let is_there = self.messages.starts_with(&summary.of);
        if is_there {
            self.messages.splice(..summary.of.len(), [summary.instead]);
            self.is_changed = true;
        }
        is_there
    }

    pub fn add(&mut self, turn: &TurnReport, spoken: &str) {
        let kept = kept(&turn.said, &turn.exchange, turn.told_secrets, spoken);
        if kept.is_empty() {
            // Without an answer the utterance stays known, as a side line.
            if let Some((speaker, words)) = turn.said.name_and_words() {
                let (speaker, text) = (speaker.to_owned(), words.to_owned());
                let by = turn.said.by.clone();
                self.add_side_line(SideLine { speaker, by, text, unanswered: true });
            }
            return;
        }
        self.side_lines.clear();
        self.messages.extend(kept);
        self.is_changed = true;
    }

    pub fn trim(&mut self) {
        if self.messages.len() >= 2 * MESSAGES {
            let cut = self.cut(MESSAGES);
            self.messages.drain(..cut);
        }
    }

    /// The older half of a conversation that is too long to keep.
    pub fn excess(&self) -> Option<Vec<Message>> {
        let is_long = self.messages.len() >= 2 * MESSAGES_AT_MOST;
        is_long.then(|| self.messages.iter().take(self.cut(MESSAGES_AT_MOST)).cloned().collect())
    }

    /// Start index of the newest exchanges with at most `newest` messages.
    fn cut(&self, newest: usize) -> usize {
        let older = self.messages.len().saturating_sub(newest);
        exchanges(&self.messages).find(|at| *at >= older).unwrap_or(self.messages.len())
    }
}

/// A turn's messages: `said`, its calls, and the `spoken` answer. Empty without calls and spoken
/// text.
pub fn kept(said: &Said, exchange: &[Message], told_secrets: bool, spoken: &str) -> Vec<Message> {
    if spoken.is_empty() && exchange.is_empty() {
        return Vec::new();
    }
    let answer = (!spoken.is_empty()).then(|| Message::spoken(spoken.to_owned()));
    let own = exchange.iter().cloned().chain(answer);
    // The turn's own message is not kept, but calls and answers may repeat its secrets.
    let own = own.map(|mut message| {
        if let Message::Assistant { gated, .. } = &mut message {
            *gated |= told_secrets;
        }
        message
    });
    std::iter::once(Message::User(said.clone())).chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_of_secrets_is_one() {
        let mut told = vec![Message::User("Ben: What is below?".into())];
        told.push(Message::Assistant { text: "A crypt.".into(), calls: Vec::new(), gated: true });
        let mut history = History::new(told.clone());
        assert!(history.replace(Summary::extract("Bartok", told, 100)));
        assert!(history.messages()[0].is_gated());
        let plain = vec![Message::User("Ben: Hm.".into())];
        let mut history = History::new(plain.clone());
        assert!(history.replace(Summary::extract("Bartok", plain, 100)));
        assert!(!history.messages()[0].is_gated());
    }
}
