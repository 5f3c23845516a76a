//! Whose lines are forgotten, and which of them.
//!
//! Entry type: [`ForgetRequest`].

use crate::domain::{Owner, SessionId};

/// Whose lines are forgotten, and which of them.
#[derive(Clone, Debug)]
pub struct ForgetRequest {
    /// The person, by their id on Discord.
    pub user: u64,
    /// What they are called now, beside what is known of them.
    pub names: Vec<String>,
    /// Where the lines were said.
    pub from: ForgetFrom,
}

/// Where lines were said that are forgotten.
#[derive(Clone, Debug)]
pub enum ForgetFrom {
    /// In every session on Discord.
    Everywhere,
    /// In sessions of this owner.
    Owner(Owner),
    /// In this session alone.
    Session(SessionId),
}
