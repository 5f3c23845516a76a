//! Anthropic's Messages API: a chat model with thoughts and a prompt cache.
//!
//! Entry types: [`Chat`], made from [`Options`]; [`probe`] for a quick check. **Never**: speaks
//! thoughts, changes them on their way back, or keeps them beyond their turn.

mod blocks;
mod chat;
mod home;
mod messages;
mod options;
mod request;
mod taste;

#[cfg(test)]
pub use blocks::Reading;
pub use chat::Chat;
pub use home::{BASE_URL, NAME, probe};
pub use options::Options;
pub use request::OWN_MEMBERS;
