//! Exchanges: an utterance, its calls, and the answer. They are never split.
//!
//! Entry functions: [`exchanges`], [`parties`], [`forget_exchanges`].

use crate::{
    domain::{Message, Person, PersonId, Said},
    logic::prompt::FOLLOW_UP,
};

/// People who began exchanges, without repetition.
pub struct Parties {
    /// Names of people without an id.
    pub speakers: Vec<String>,
    pub people: Vec<PersonId>,
}

/// Start indices of all exchanges but the first: lines of people. A follow-up belongs to the
/// exchange before it.
pub fn exchanges(messages: &[Message]) -> impl Iterator<Item = usize> {
    let begins =
        |message: &Message| matches!(message, Message::User(said) if said.text != FOLLOW_UP);
    let all = messages.iter().enumerate().skip(1);
    all.filter(move |(_, message)| begins(message)).map(|(at, _)| at)
}

/// People who began exchanges, including summarised ones.
pub fn parties(messages: &[Message]) -> Parties {
    let (mut speakers, mut people) = (Vec::new(), Vec::new());
    for message in messages {
        match message {
            Message::User(Said { by: Some(id), .. }) => people.push(id.clone()),
            Message::User(said) if said.text != FOLLOW_UP => {
                speakers.extend(said.name_and_words().map(|(name, _)| name.to_owned()));
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

/// Removes a person's exchanges with answers and follow-ups, and a summary that contains one.
/// Another person's exchange may lie between a question and its follow-up.
pub fn forget_exchanges(messages: &mut Vec<Message>, person: &Person) {
    let mut is_theirs = false;
    messages.retain(|message| {
        match message {
            // Old follow-ups have no owner; they belong to the exchange before them.
            Message::User(Said { text, by: None }) if text == FOLLOW_UP => {}
            Message::User(said) => is_theirs = person.has_said(said),
            // Old versions took speakers from their lines: of a name with a colon, only the part
            // before it.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Anna's question, Ben's, and the follow-up of Anna's call, each with its answer.
    fn talk() -> Vec<Message> {
        let by = |id: &str, text: &str| {
            Message::User(Said { text: text.to_owned(), by: Some(PersonId(id.to_owned())) })
        };
        let answer = |text: &str| Message::spoken(text.to_owned());
        vec![
            by("1", "Anna: my wombat"),
            answer("I look after the wombat."),
            by("2", "Ben: my mule"),
            answer("The mule is well."),
            by("1", FOLLOW_UP),
            answer("The wombat is well."),
        ]
    }

    #[test]
    fn follow_up_is_forgotten_with_its_asker() {
        for (id, left, gone) in [("1", "mule", "wombat"), ("2", "wombat", "mule")] {
            let mut messages = talk();
            let person = Person { id: PersonId(id.to_owned()), names: Vec::new() };
            forget_exchanges(&mut messages, &person);
            let words = format!("{messages:?}");
            assert!(words.contains(left) && !words.contains(gone), "{id}: {words}");
        }
    }

    #[test]
    fn ownerless_follow_up_joins_line_before() {
        let mut messages = talk();
        messages.drain(2..4);
        if let Some(Message::User(said)) = messages.get_mut(2) {
            said.by = None;
        }
        let anna = Person { id: PersonId("1".to_owned()), names: Vec::new() };
        forget_exchanges(&mut messages, &anna);
        assert!(messages.is_empty(), "{messages:?}");
    }
}
