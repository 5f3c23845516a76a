//! A prompt in named parts, for a game master who asks why an NPC answered as it did.
//!
//! Entry function: [`parts`]. Text has no credentials and a bounded length; of a conversation the
//! newest lines remain.

use serde::Serialize;

use super::{
    said::{LONGEST_NAME, capped},
    summary::told,
};
use crate::domain::{Message, redact};

/// Longest text of a part, in characters; a whole system prompt rarely has as many.
const LONGEST_PART: usize = 16_000;

/// Name of the text before the first heading of a system prompt.
const ROLE: &str = "Role";
const TALK: &str = "Conversation so far";
const MESSAGE: &str = "This turn";
const CALLS: &str = "Calls and results";

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PromptPart {
    pub name: String,
    pub text: String,
}

/// Parts of a prompt of `npc`, in the order of the model; empty ones are omitted. `turn` begins
/// with the turn's own message.
pub fn parts(npc: &str, system: &str, talk: &[Message], turn: &[Message]) -> Vec<PromptPart> {
    let (own, calls) = turn.split_at(turn.len().min(1));
    let own = own.iter().filter_map(|message| match message {
        Message::User(said) => Some((MESSAGE, shown(&said.text))),
        _ => None,
    });
    let all = sections(system)
        .chain([(TALK, newest(&told(npc, talk)))])
        .chain(own)
        .chain([(CALLS, newest(&told(npc, calls)))]);
    let named = all.filter(|(_, text)| !text.is_empty());
    named.map(|(name, text)| PromptPart { name: capped(name, LONGEST_NAME), text }).collect()
}

/// Sections of a system prompt with their headings.
fn sections(system: &str) -> impl Iterator<Item = (&str, String)> {
    let named = system.split("\n## ").enumerate().map(|(nth, section)| {
        match (nth, section.split_once('\n')) {
            (0, _) => (ROLE, section),
            (_, Some((heading, text))) => (heading, text),
            (_, None) => (section, ""),
        }
    });
    named.map(|(name, text)| (name, shown(text.trim())))
}

fn shown(text: &str) -> String {
    capped(&redact::without_credentials(text), LONGEST_PART)
}

/// The newest `lines` that fit, oldest first.
fn newest(lines: &[String]) -> String {
    let mut left = LONGEST_PART;
    let newest = lines.iter().rev().map_while(|line| {
        let line = redact::without_credentials(line);
        left = left.checked_sub(line.chars().count() + 1)?;
        Some(line)
    });
    let mut newest: Vec<String> = newest.collect();
    if newest.len() < lines.len() {
        newest.push("…".to_owned());
    }
    newest.reverse();
    newest.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::domain::{CallId, ToolCall};

    fn said(text: &str) -> Message {
        Message::User(text.into())
    }

    #[test]
    fn prompt_is_parted_by_headings_and_messages() {
        let system = "You are Bartok.\n\n## Who you are\nA barkeep.\nLoud.\n\n## Your secrets";
        let call = ToolCall {
            id: CallId("1".into()),
            name: "roll".into(),
            arguments: "{}".into(),
            extra: Map::new(),
        };
        let result = Message::Tool {
            call: CallId("1".into()),
            content: "eleven".into(),
            outside: false,
            gated: false,
        };
        let called = Message::Assistant { text: String::new(), calls: vec![call], gated: false };
        let talk = [said("Anna: hello"), Message::spoken("Well met.".into())];
        let turn = [said("[Scene: Inn]\nAnna: roll"), called, result];
        let parts = parts("Bartok", system, &talk, &turn);
        let parts: Vec<_> = parts.iter().map(|it| (it.name.as_str(), it.text.as_str())).collect();
        assert_eq!(
            parts,
            [
                ("Role", "You are Bartok."),
                ("Who you are", "A barkeep.\nLoud."),
                ("Conversation so far", "Anna: hello\nBartok: Well met."),
                ("This turn", "[Scene: Inn]\nAnna: roll"),
                ("Calls and results", "Bartok used roll {}\nIt gave eleven"),
            ]
        );
    }

    #[test]
    fn credentials_are_hidden_in_every_part() {
        let key = "ghp_0123456789abcdefghij0123456789abcdef";
        let with_key = |words: &str| said(&format!("{words} {key}"));
        let parts = parts(
            "Bartok",
            &format!("You know {key}.\n## Who you are\nA keeper of {key}"),
            &[with_key("Anna:")],
            &[with_key("Ben:"), with_key("Go on:")],
        );
        assert_eq!(parts.len(), 5);
        for part in parts {
            assert!(part.text.contains(redact::SECRET) && !part.text.contains("ghp_"), "{part:?}");
        }
    }

    #[test]
    fn long_conversation_keeps_its_newest_lines() {
        let talk: Vec<Message> =
            (0..900).map(|nth| said(&format!("Anna: {nth} {}", "word ".repeat(20)))).collect();
        let parts = parts("Bartok", &"rule ".repeat(9_000), &talk, &[]);
        let [role, talk] = parts.as_slice() else { panic!("{}", parts.len()) };
        assert!(role.text.starts_with("rule rule") && role.text.ends_with('…'));
        assert!(talk.text.starts_with("…\nAnna: ") && talk.text.contains("Anna: 899 "));
        for part in [role, talk] {
            assert!(part.text.chars().count() <= LONGEST_PART + 2);
        }
    }
}
