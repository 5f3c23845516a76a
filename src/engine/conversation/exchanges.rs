//! Exchanges: what somebody said, what was called for it, and what was answered.
//!
//! Entry functions: [`exchanges`], [`parties`], [`forget_exchanges`].
//! **Never**: takes an exchange apart.

use crate::{
    domain::{Message, Person, PersonId, Said},
    logic::prompt::FOLLOW_UP,
};

/// People who began some exchanges, each once.
pub struct Parties {
    /// Names of those who are known by name alone.
    pub speakers: Vec<String>,
    /// Ids of all others.
    pub people: Vec<PersonId>,
}

/// Index where each exchange but the first begins: a line that somebody said. The follow-up of a
/// call belongs to the exchange before it.
pub fn exchanges(messages: &[Message]) -> impl Iterator<Item = usize> {
    let begins =
        |message: &Message| matches!(message, Message::User(said) if said.text != FOLLOW_UP);
    let all = messages.iter().enumerate().skip(1);
    all.filter(move |(_, message)| begins(message)).map(|(at, _)| at)
}

/// People who began the exchanges of a conversation, those that were summed up included.
pub fn parties(messages: &[Message]) -> Parties {
    let (mut speakers, mut people) = (Vec::new(), Vec::new());
    for message in messages {
        match message {
            Message::User(Said { by: Some(id), .. }) => people.push(id.clone()),
            Message::User(Said { text, by: None }) if text != FOLLOW_UP => {
                speakers.extend(text.split_once(": ").map(|(name, _)| name.to_owned()));
            }
            Message::Summary { speakers: names, people: ids, .. } => {
                speakers.extend_from_slice(names);
                people.extend_from_slice(ids);
            }
            _ => {}
        }
    }
    speakers.sort_unstable();
    speakers.dedup();
    people.sort_unstable();
    people.dedup();
    Parties { speakers, people }
}

/// Removes the exchanges that somebody began, answers included, and a summary that such an exchange
/// went into.
pub fn forget_exchanges(messages: &mut Vec<Message>, person: &Person) {
    let mut is_theirs = false;
    messages.retain(|message| {
        match message {
            // The follow-up of a call belongs to the exchange before it.
            Message::User(said) if said.text == FOLLOW_UP => {}
            Message::User(said) => is_theirs = person.has_said(said),
            // Speakers were read off their lines: of a name with a colon, the part before it.
            Message::Summary { speakers, people, .. } => {
                let is = |name: &String| {
                    speakers.iter().any(|it| it == name || name.starts_with(&format!("{it}: ")))
                };
                is_theirs = people.contains(&person.id) || person.names.iter().any(is);
            }
            _ => {}
        }
        !is_theirs
    });
}
