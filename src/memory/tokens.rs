//! Access tokens of programs outside.
//!
//! Entry trait: [`AccessTokens`]. **Never**: stores the secret of a token.

use super::StoreFuture;
use crate::domain::{AccessRole, Owner, Timestamp};

/// A token as a store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptToken {
    pub id: String,
    /// SHA-256 of the secret, in lower-case hexadecimal digits.
    pub hash: String,
    pub owner: Owner,
    pub role: AccessRole,
    /// `None`: every tool of the role.
    pub tools: Option<Vec<String>>,
    pub made: Timestamp,
    /// `None`: valid until revoked.
    pub ends: Option<Timestamp>,
}

impl KeptToken {
    /// True if it has not ended at `now`.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.ends.is_none_or(|ends| now < ends)
    }
}

pub trait AccessTokens: Send + Sync {
    /// Fails if the id or the hash is known.
    fn add_token(&self, token: KeptToken) -> StoreFuture<'_, ()>;

    /// Tokens of `owner`, or of all; oldest first, ended ones too. Omits those with a role or an
    /// owner unknown to this version.
    fn tokens(&self, owner: Option<Owner>) -> StoreFuture<'_, Vec<KeptToken>>;

    /// The token of this hash, ended or not.
    fn token<'a>(&'a self, hash: &'a str) -> StoreFuture<'a, Option<KeptToken>>;

    /// True if it existed.
    fn remove_token<'a>(&'a self, id: &'a str) -> StoreFuture<'a, bool>;
}
