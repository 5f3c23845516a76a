//! Exchanges: what somebody said, what was called for it, and what was answered.
//!
//! Entry functions: [`exchanges`], [`speakers`], [`forget_exchanges`].
//! **Never**: takes an exchange apart.

use crate::{domain::Message, logic::prompt::FOLLOW_UP};

/// Where an exchange begins that is not the first: with somebody's line. What comes later of a call
/// belongs to the exchange before.
pub fn exchanges(messages: &[Message]) -> impl Iterator<Item = usize> {
    let begins = |message: &Message| matches!(message, Message::User(said) if said != FOLLOW_UP);
    let all = messages.iter().enumerate().skip(1);
    all.filter(move |(_, message)| begins(message)).map(|(at, _)| at)
}

/// Who began the exchanges of a conversation, those that were summed up included, each once.
pub fn speakers(messages: &[Message]) -> Vec<String> {
    let of = |message: &Message| match message {
        Message::User(said) if said != FOLLOW_UP => {
            said.split_once(": ").map(|(name, _)| name.to_owned()).into_iter().collect()
        }
        Message::Summary { speakers, .. } => speakers.clone(),
        _ => Vec::new(),
    };
    let mut speakers: Vec<String> = messages.iter().flat_map(of).collect();
    speakers.sort_unstable();
    speakers.dedup();
    speakers
}

/// Removes the exchanges that somebody of these names began, answers included, and a summary that
/// such an exchange went into.
pub fn forget_exchanges(messages: &mut Vec<Message>, names: &[impl AsRef<str>]) {
    let mut is_theirs = false;
    messages.retain(|message| {
        let any = |is: &dyn Fn(&str) -> bool| names.iter().any(|name| is(name.as_ref()));
        match message {
            // What comes later of a call belongs to whoever led to it.
            Message::User(said) => {
                is_theirs = any(&|name| is_by(said, name)) || (is_theirs && said == FOLLOW_UP);
            }
            // Who spoke was read off their lines: of a name with a colon, what is before it.
            Message::Summary { speakers, .. } => {
                is_theirs = any(&|name| speakers.iter().any(|it| it == name || is_by(name, it)));
            }
            _ => {}
        }
        !is_theirs
    });
}

/// Whether a line of a conversation is somebody's of this name.
pub fn is_by(said: &str, name: &str) -> bool {
    said.strip_prefix(name).is_some_and(|it| it.starts_with(": "))
}
