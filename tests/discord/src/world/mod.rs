//! The world of this Discord, and how a test builds and changes it.
//!
//! Entry types: [`Guild`], [`Member`]. Never: sockets.

mod build;
mod handle;
pub(crate) mod json;
pub(crate) mod message;
pub(crate) mod model;
pub mod permission;
mod voice;

pub use handle::{Guild, Member, Overwrite};
pub use message::{Message, Version};
