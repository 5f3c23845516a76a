//! Services behind an address: connections, errors and streamed replies, for [`super::openai`] and
//! [`super::anthropic`].
//!
//! Entry types: [`Options`], [`Endpoint`], [`Failure`], [`Protocol`] with [`stream()`]; [`probe`].
//! **Never**: a service's own field names; a key or a prompt in a message.

mod endpoint;
mod failure;
mod options;
mod pairs;
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

pub use endpoint::{Endpoint, Manner, probe};
pub use failure::{
    Failure, begun, disconnected, hide_echoes, names_concurrency, quotable, retry_after,
    shown_address, without_key,
};
#[cfg(test)]
pub use options::tests::options;
pub use options::{CONTEXT_WINDOW, Options};
pub use pairs::{NO_RESULT, arguments, results};
pub use reply::{Asked, Broken, Life, Protocol, Reader, stream};
pub use retry::Retry;
pub use said::ServiceError;
pub use sse::{Decoder, Frame};
