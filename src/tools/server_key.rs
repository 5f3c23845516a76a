//! Identity of a server: two guilds may each have one with the same name.
//!
//! Entry type: [`ServerKey`]. **Never**: knows how a server is reached.

use crate::domain::Owner;

/// A server of the installation, or one that an owner has added for itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerKey {
    /// The owner who added it; `None`: it is the installation's, and everybody's.
    pub owner: Option<Owner>,
    /// Its name, or the prefix that stands for it in the identities of its tools.
    pub name: String,
}

impl ServerKey {
    /// A server of the installation.
    pub fn installed(name: &str) -> Self {
        Self { owner: None, name: name.to_owned() }
    }

    /// A server that `owner` has added.
    pub fn added(owner: Owner, name: &str) -> Self {
        Self { owner: Some(owner), name: name.to_owned() }
    }
}
