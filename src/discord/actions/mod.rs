//! Handling of buttons, menus and forms.
//!
//! Entry function: [`act`]. **Never**: believes that only those can press who were meant.

mod decisions;
mod dispatch;
mod panel;

pub use dispatch::act;
