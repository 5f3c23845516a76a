//! What Discord shows: the panel, answers, forms. Values in, values of Discord's out.
//!
//! Entry functions: [`panel::render`], entry types: [`ui::reply::Reply`], [`ui::forms::Question`].
//! **Never**: changes a guild, or waits for anything.

pub mod forms;
pub mod panel;
pub mod reply;
