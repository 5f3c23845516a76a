//! The message of a person that an NPC answered last, and its tools.
//!
//! Entry function: [`last_answered`]. **Never**: looks at lines that the NPC only overheard.

use crate::{
    domain::{Message, PersonId, Said},
    engine::Conversation,
};

/// The last message of `by` in `conversation`; true if the NPC then called a tool whose name ends with one of
/// `tools`. `None`: they said nothing to it yet.
pub fn last_answered<'c>(
    by: &PersonId,
    conversation: &'c Conversation,
    tools: &[&str],
) -> Option<(&'c Said, bool)> {
    let mut has_called = false;
    for message in conversation.messages().iter().rev() {
        match message {
            Message::Assistant { calls, .. } => {
                has_called |=
                    calls.iter().any(|call| tools.iter().any(|it| call.name.ends_with(it)));
            }
            Message::User(said) if said.by.as_ref() == Some(by) => return Some((said, has_called)),
            Message::User(_) => has_called = false,
            Message::System(_) | Message::Tool { .. } | Message::Summary { .. } => {}
        }
    }
    None
}
