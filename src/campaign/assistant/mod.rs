//! The game master's assistant. Entry types: [`Questions`], [`Assistant`].

mod engine;
mod service;

pub use engine::{Answer, Assistant, AssistantParts};
pub use service::{AssistantQuestion, Questions, Written};
