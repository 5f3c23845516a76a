//! Rendering for Discord, and its buttons: values in, values of Discord's and actions out.
//!
//! Entry types: [`action::Action`], [`reply::Reply`]; function [`panel::render`]. **Never**: changes a
//! guild, or waits for anything.

pub mod action;
pub mod approvals;
pub mod facts;
pub mod forms;
pub mod marked;
pub mod message;
pub mod names;
pub mod notices;
pub mod panel;
pub mod reply;
