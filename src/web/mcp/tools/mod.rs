//! The tools themselves, one file a subject; `table.rs` lists them.

pub mod called;
pub mod dice;
pub mod health;
pub mod memory;
pub mod npcs;
pub mod schedules;
pub mod sessions;
pub mod status;
pub mod voice;
pub mod workflows;
