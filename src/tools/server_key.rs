//! Identity of a server: two guilds may use the same name.

use crate::domain::Owner;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerKey {
    /// Its owner; `None`: installed for everyone.
    pub owner: Option<Owner>,
    /// Its name, or the prefix that replaces it in identities of its tools.
    pub name: String,
}

impl ServerKey {
    pub fn installed(name: &str) -> Self {
        Self { owner: None, name: name.to_owned() }
    }

    pub fn added(owner: Owner, name: &str) -> Self {
        Self { owner: Some(owner), name: name.to_owned() }
    }
}
