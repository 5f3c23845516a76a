//! An NPC's conversation: append-only, so that providers' prompt caches stay warm.
//!
//! Entry type: [`History`]. **Never**: holds what was generated but not heard.

use super::TurnReport;
use crate::{
    domain::Message,
    logic::prompt::{FOLLOW_UP, Overheard},
};

/// Lines overheard since an NPC's last turn that are kept for its next.
const OVERHEARD_MAX: usize = 20;
/// Messages kept; past twice as many the older half goes, so that caches stay warm in between.
const MESSAGES: usize = 80;

/// What an NPC remembers of a session.
#[derive(Debug, Default)]
pub struct History {
    messages: Vec<Message>,
    overheard: Vec<Overheard>,
}

impl History {
    /// A conversation that goes on from `messages`.
    pub fn new(messages: Vec<Message>) -> Self {
        Self { messages, overheard: Vec::new() }
    }

    /// The conversation.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// What was said around the NPC since it last spoke.
    pub fn overheard(&self) -> &[Overheard] {
        &self.overheard
    }

    /// Adds something said to somebody else.
    pub fn overhear(&mut self, speaker: &str, text: &str) {
        if self.overheard.len() == OVERHEARD_MAX {
            self.overheard.remove(0);
        }
        self.overheard.push(Overheard { speaker: speaker.to_owned(), text: text.to_owned() });
    }

    /// Takes back what was overheard last in exactly these words.
    pub fn forget(&mut self, speaker: &str, text: &str) {
        let is_it = |line: &Overheard| line.speaker == speaker && line.text == text;
        if let Some(index) = self.overheard.iter().rposition(is_it) {
            self.overheard.remove(index);
        }
    }

    /// Takes back everything of one speaker: what was overheard, and their exchanges.
    pub fn forget_speaker(&mut self, speaker: &str) {
        self.overheard.retain(|line| line.speaker != speaker);
        forget_exchanges(&mut self.messages, &[speaker]);
    }

    /// Takes back the last exchange, if it begins with `said`.
    pub fn take_back(&mut self, said: &str) {
        let last = self.messages.iter().rposition(|it| matches!(it, Message::User(_)));
        let begins =
            |at: usize| matches!(self.messages.get(at), Some(Message::User(it)) if it == said);
        if let Some(last) = last.filter(|at| begins(*at)) {
            self.messages.truncate(last);
        }
    }

    /// Adds a turn with the text of it that was heard.
    pub fn add(&mut self, turn: &TurnReport, heard: &str) {
        if heard.is_empty() && turn.exchange.is_empty() {
            // Nothing came of it: it stays known as something said, without an empty answer.
            if let Some((speaker, words)) = turn.said.split_once(": ") {
                self.overhear(speaker, words);
            }
            return;
        }
        self.overheard.clear();
        self.messages.push(Message::User(turn.said.clone()));
        self.messages.extend(turn.exchange.iter().cloned());
        if !heard.is_empty() {
            self.messages.push(Message::Assistant { text: heard.to_owned(), calls: Vec::new() });
        }
        self.trim();
    }

    /// Drops the older half of a long history, up to a player's line.
    fn trim(&mut self) {
        if self.messages.len() < 2 * MESSAGES {
            return;
        }
        let older = self.messages.len() - MESSAGES;
        let cut = self.messages[older..]
            .iter()
            .position(|message| matches!(message, Message::User(_)))
            .map_or(self.messages.len(), |offset| older + offset);
        self.messages.drain(..cut);
    }
}

/// Removes the exchanges that somebody of these names began, answers included.
pub fn forget_exchanges(messages: &mut Vec<Message>, names: &[impl AsRef<str>]) {
    let theirs = |said: &str| {
        let named = |name: &str| said.strip_prefix(name).is_some_and(|it| it.starts_with(": "));
        names.iter().any(|name| named(name.as_ref()))
    };
    let mut is_theirs = false;
    messages.retain(|message| {
        if let Message::User(said) = message {
            // What comes later of a call belongs to whoever led to it.
            is_theirs = theirs(said) || (is_theirs && said == FOLLOW_UP);
        }
        !is_theirs
    });
}
