//! Rendering for Discord, and its buttons.
//!
//! Entry types: [`action::Action`], [`reply::Reply`]; function [`panel::render`]. **Never**:
//! changes a guild, or waits.

pub mod action;
pub mod approvals;
pub mod facts;
pub mod forms;
pub mod message;
pub mod names;
pub mod node;
pub mod notices;
pub mod panel;
pub mod reply;
