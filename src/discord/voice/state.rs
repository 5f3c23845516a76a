//! State of a voice connection.
//!
//! Entry type: [`ConnectionState`]. Only the guild's voice supervisor changes it.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    Up,
    /// Lost and reconnecting.
    Down {
        /// Shown on the panel.
        why: String,
        /// Failed attempts since the loss.
        attempts: u32,
    },
    /// The session is over.
    Left,
}
