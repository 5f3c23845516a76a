//! Requests to forget a person.
//!
//! Entry type: [`ForgetRequest`].

use crate::domain::{Owner, SessionId};

/// The person whose lines are forgotten, and which of them.
#[derive(Clone, Debug)]
pub struct ForgetRequest {
    /// The person, by their identity: on Discord their id.
    pub player: String,
    /// Their current names, beside those in their lines.
    pub names: Vec<String>,
    /// Sessions in which the lines were said.
    pub from: ForgetFrom,
}

/// Sessions whose lines are forgotten.
#[derive(Clone, Debug)]
pub struct ForgetFrom {
    /// In sessions of this owner, whichever campaign they played.
    pub owner: Owner,
    /// In this session alone; `None`: in all of theirs.
    pub session: Option<SessionId>,
}

/// Names of a person where earlier versions have kept things by name: conversations of NPCs, and calls of
/// tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamesOf {
    /// Theirs alone: what is kept under these goes with their lines.
    pub own: Vec<String>,
    /// Somebody else's too: what is kept under these stays.
    pub shared: Vec<String>,
}
