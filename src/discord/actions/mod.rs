//! Handling of buttons, menus and forms.
//!
//! Entry function: [`act`]. **Never**: trusts that Discord showed a button only to those allowed to
//! press it.

mod decisions;
mod dispatch;

pub use dispatch::act;
