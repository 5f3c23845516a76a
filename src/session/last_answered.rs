//! A person's last message that an NPC answered, and its tools.
//!
//! Entry function: [`last_answered`]. Ignores lines that the NPC only overheard.

use crate::{
    domain::{Message, PersonId, Said},
    engine::Conversation,
};

/// Last message of `by`; true if its answer called a tool whose name ends with one of `tools`.
/// `None` if they have said nothing yet.
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
