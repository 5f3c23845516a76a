//! State of a voice connection.
//!
//! Entry type: [`ConnectionState`]. **Never**: changes it; the guild's voice supervisor does.

/// State of a session's voice connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    /// Players are heard, and NPCs are.
    Up,
    /// It broke and is being made again.
    Down {
        /// Reason, for the panel.
        why: String,
        /// Attempts that failed since it broke.
        attempts: u32,
    },
    /// The session is over and the channel left.
    Left,
}
