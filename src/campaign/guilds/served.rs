use std::collections::BTreeSet;

/// Guilds that the bot serves: not every guild it is invited to, unless configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ServedGuilds {
    /// Guilds approved by their `/setup`, or by the version that asked for no approval.
    #[default]
    LetIn,
    /// Exactly these Discord ids.
    Listed(BTreeSet<u64>),
    /// Every server that the bot is invited to.
    Any,
}

impl ServedGuilds {
    /// Whether to serve `guild`; `None`: its own settings decide.
    pub fn serves(&self, guild: u64) -> Option<bool> {
        match self {
            Self::Any => Some(true),
            Self::Listed(ids) => Some(ids.contains(&guild)),
            Self::LetIn => None,
        }
    }
}
