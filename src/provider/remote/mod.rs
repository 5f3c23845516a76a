//! Services behind an address: how they are reached, what goes wrong there, and how a streamed reply
//! is asked for and read. The clients of [`super::openai`] and [`super::anthropic`] stand on it.
//!
//! Entry types: [`Options`], [`Endpoint`], [`Failure`], [`Protocol`] with [`stream()`]; [`probe`] for a
//! quick look at a service.
//! **Never**: knows what a service calls things in its requests; prints a key or a prompt.

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
