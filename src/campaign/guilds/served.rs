//! Guilds that are served.
//!
//! Entry type: [`ServedGuilds`]. **Never**: asks Discord.

use std::collections::BTreeSet;

/// Guilds that are served: an invited bot does not serve every guild unless so configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ServedGuilds {
    /// Those that were let in: by their `/setup`, or by the version that asked nobody.
    #[default]
    LetIn,
    /// Exactly these, by their ids at Discord.
    Listed(BTreeSet<u64>),
    /// Every server that the bot is invited to.
    Any,
}

impl ServedGuilds {
    /// True if `guild` is served, whatever was set there; `None`: what was set there decides.
    pub fn serves(&self, guild: u64) -> Option<bool> {
        match self {
            Self::Any => Some(true),
            Self::Listed(ids) => Some(ids.contains(&guild)),
            Self::LetIn => None,
        }
    }
}
