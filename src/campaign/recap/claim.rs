use serde::Serialize;

/// An event, and the lines that prove it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// One sentence.
    pub text: String,
    /// Line numbers of the session.
    pub lines: Vec<u64>,
}
