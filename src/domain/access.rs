//! Access tokens of programs outside: their roles and their prefix. Entry type: [`AccessRole`].

use serde::{Deserialize, Serialize};

/// Marks the secret of a token, for people and for scanners of leaked secrets.
pub const TOKEN_PREFIX: &str = "glx_";

/// Rights of a token's holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessRole {
    /// Sees and does only what a player at the table may.
    Player,
    /// Sees and does everything that the game master may.
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
