//! One guild: a task, its session, and what waits in it.
//!
//! Entry function: [`task::open`]. **Never**: waits for Discord on that task.

pub mod decisions;
pub mod effects;
mod health;
mod mic_check;
pub mod notices;
pub mod outbox;
pub mod panel_actions;
mod people;
pub mod session;
mod supervisor;
pub mod task;
