//! Services behind an address: connections, errors, streamed replies and the pairing of calls with
//! their results, for [`super::openai`] and [`super::anthropic`].
//!
//! Entry types: [`Options`], [`Endpoint`], [`Failure`], [`Protocol`] with [`stream()`]; [`probe`].
//! **Never**: a service's own field names; a key or a prompt in a message.

mod endpoint;
mod failure;
mod options;
mod reply;
mod retry;
mod said;
mod sse;

#[cfg(test)]
#[path = "../../../tests/support/anthropic_server.rs"]
pub mod anthropic_server;
#[cfg(test)]
#[expect(dead_code, reason = "tests of the real program use the rest")]
#[path = "../../../tests/support/chat_server.rs"]
pub mod chat_server;
#[cfg(test)]
#[path = "../../../tests/support/own_thread.rs"]
pub mod own_thread;
#[cfg(test)]
pub mod props;
#[cfg(test)]
#[expect(dead_code, reason = "tests of the real program use the rest")]
#[path = "../../../tests/support/socket_server.rs"]
pub mod socket_server;

use std::collections::HashMap;

use serde_json::{Map, Value};

pub use self::endpoint::{Endpoint, Manner, probe};
pub use self::failure::{
    Failure, begun, disconnected, hide_echoes, names_concurrency, quotable, retry_after,
    shown_address, without_key,
};
#[cfg(test)]
pub use self::options::tests::options;
pub use self::options::{CONTEXT_WINDOW, Options};
pub use self::reply::{Asked, Broken, Life, Protocol, Reader, stream};
pub use self::retry::Retry;
pub use self::said::ServiceError;
pub use self::sse::{Decoder, Frame};
use crate::domain::{Message, ToolCall};

/// Result shown to the model for a call whose turn was interrupted.
pub const NO_RESULT: &str = "cancelled: the call has no result";

/// The result of each call, from the messages before the assistant's next calls.
pub fn results<'m>(calls: &[ToolCall], after: &'m [Message]) -> Vec<Option<&'m str>> {
    let mut given = HashMap::new();
    for message in after {
        match message {
            Message::Tool { call, content, .. } => {
                given.entry(call).or_insert(content.as_str());
            }
            Message::Assistant { calls, .. } if !calls.is_empty() => break,
            _ => {}
        }
    }
    calls.iter().map(|call| given.get(&call.id).copied()).collect()
}

/// The arguments as an object. `None` if they are malformed: services parse them again and fail.
pub fn arguments(call: &ToolCall) -> Option<Map<String, Value>> {
    serde_json::from_str(&call.arguments).ok()
}
