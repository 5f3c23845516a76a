//! An NPC's conversation: what is said is added at its end, so that providers' prompt caches stay
//! warm, until its oldest half is summed up.
//!
//! Entry type: [`History`]. **Never**: holds what was generated but not heard.

use super::{
    exchanges::{exchanges, forget_exchanges},
    summary::Summary,
};
use crate::{
    domain::{Message, Person, Said},
    engine::TurnReport,
    logic::prompt::{FOLLOW_UP, SideLine},
};

/// Lines overheard since an NPC's last turn that are kept for its next.
const SIDE_LINES_MAX: usize = 20;
/// Messages kept where nothing sums up; past twice as many the older half goes, so that caches stay
/// warm in between.
const MESSAGES: usize = 80;
/// Like [`MESSAGES`], where a model should have summed up long before.
const MESSAGES_AT_MOST: usize = 2_000;

/// An NPC's memory of a session.
#[derive(Debug, Default)]
pub struct History {
    messages: Vec<Message>,
    side_lines: Vec<SideLine>,
}

impl History {
    /// A conversation that goes on from `messages`.
    pub fn new(messages: Vec<Message>) -> Self {
        Self { messages, side_lines: Vec::new() }
    }

    /// Utterances and answers, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Lines said around the NPC since it last spoke.
    pub fn side_lines(&self) -> &[SideLine] {
        &self.side_lines
    }

    /// Adds something said to somebody else.
    pub fn add_side_line(&mut self, line: SideLine) {
        if self.side_lines.len() == SIDE_LINES_MAX {
            self.side_lines.remove(0);
        }
        self.side_lines.push(line);
    }

    /// Takes back the last side line in exactly these words.
    pub fn remove_side_line(&mut self, line: &SideLine) {
        if let Some(index) = self.side_lines.iter().rposition(|it| it.is_same(line)) {
            self.side_lines.remove(index);
        }
    }

    /// Takes back everything of one person: what was overheard, and their exchanges.
    pub fn forget(&mut self, person: &Person) {
        self.side_lines.retain(|line| line.by.as_ref() != Some(&person.id));
        forget_exchanges(&mut self.messages, person);
    }

    /// Takes back the last exchange, if it begins with `said`; where only a summary is left that it
    /// went into, that.
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
        }
    }

    /// Puts a summary in the place of the messages it is of; false: they are not there any more.
    pub fn replace(&mut self, summary: Summary) -> bool {
        let is_there = self.messages.starts_with(&summary.of);
        if is_there {
            self.messages.splice(..summary.of.len(), [summary.instead]);
        }
        is_there
    }

    /// Adds a turn with the text of it that was spoken.
    pub fn add(&mut self, turn: &TurnReport, spoken: &str) {
        let kept = kept(&turn.said, &turn.exchange, turn.told_secrets, spoken);
        if kept.is_empty() {
            // Nothing came of it: it stays known as something said, without an empty answer.
            if let Some((speaker, words)) = turn.said.text.split_once(": ") {
                let (speaker, text) = (speaker.to_owned(), words.to_owned());
                let by = turn.said.by.clone();
                self.add_side_line(SideLine { speaker, by, text, unanswered: true });
            }
            return;
        }
        self.side_lines.clear();
        self.messages.extend(kept);
    }

    /// Drops the older half of a long conversation that nothing sums up.
    pub fn trim(&mut self) {
        if self.messages.len() >= 2 * MESSAGES {
            let cut = self.cut(MESSAGES);
            self.messages.drain(..cut);
        }
    }

    /// The older half of a conversation that is too long for memory.
    pub fn excess(&self) -> Option<Vec<Message>> {
        let is_long = self.messages.len() >= 2 * MESSAGES_AT_MOST;
        is_long.then(|| self.messages.iter().take(self.cut(MESSAGES_AT_MOST)).cloned().collect())
    }

    /// Index where the newest exchanges with at most so many messages begin.
    fn cut(&self, newest: usize) -> usize {
        let older = self.messages.len().saturating_sub(newest);
        exchanges(&self.messages).find(|at| *at >= older).unwrap_or(self.messages.len())
    }
}

/// The messages that a turn leaves in a conversation: `said`, its calls, and the `spoken` part of the
/// answer. Empty if there were no calls and nothing was spoken.
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
