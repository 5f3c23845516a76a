//! Something that happened, and the lines that prove it.
//!
//! Entry type: [`Claim`].

use serde::Serialize;

/// Something that happened, and the lines that prove it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// The event, in a sentence.
    pub text: String,
    /// Numbers of lines of the session.
    pub lines: Vec<u64>,
}
