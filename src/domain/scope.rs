//! Whose something is that is kept.
//!
//! Entry type: [`Scope`]. **Never**: made of a display name; names only lead to keys.

use serde::{Deserialize, Serialize};

/// The campaign something belongs to; nothing is seen from another one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CampaignKey(pub String);

/// Who plays a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A Discord server, by its id.
    Guild(u64),
    /// This machine: the command line.
    Local,
}

/// Whose something is that was said, done, learned or paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Who plays it: a guild, or this machine.
    pub owner: Owner,
    /// What is played.
    pub campaign: CampaignKey,
}

impl Owner {
    /// The Discord server, if it is one.
    pub const fn guild(self) -> Option<u64> {
        match self {
            Self::Guild(id) => Some(id),
            Self::Local => None,
        }
    }

    /// The owner in one word, as a store has it.
    pub fn word(self) -> String {
        self.guild().map_or_else(|| "local".to_owned(), |id| id.to_string())
    }
}
