//! Roles of access tokens. Entry type: [`AccessRole`].

use serde::{Deserialize, Serialize};

/// Rights of the holder of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessRole {
    /// The rights of a player at the table.
    Player,
    /// The rights of the game master.
    Dm,
}

impl AccessRole {
    /// Stored form of the role.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Player => "player",
            Self::Dm => "dm",
        }
    }

    /// `None`: a role unknown to this version.
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Player, Self::Dm].into_iter().find(|role| role.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back_to_roles() {
        for role in [AccessRole::Player, AccessRole::Dm] {
            assert_eq!(AccessRole::of_word(role.word()), Some(role));
            assert_eq!(serde_json::to_value(role).unwrap(), role.word());
        }
        assert_eq!(AccessRole::of_word("admin"), None);
    }
}
