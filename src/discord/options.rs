//! Options of the bot.
//!
//! Entry type: [`Options`]. **Never**: prints the token.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use crate::{
    campaign::{Consent, ServedGuilds},
    domain::Secret,
};

/// Settings of the bot; `config` builds it.
#[derive(Clone, Debug)]
pub struct Options {
    /// The bot's token.
    pub token: Secret,
    /// Address of Discord's API, when not at its own: its TLS certificate must be for `discord.com`
    /// and by an authority of `SSL_CERT_FILE`.
    pub api: Option<SocketAddr>,
    /// Commands are registered in this guild alone, where they are there at once.
    pub guild: Option<u64>,
    /// The guilds that are served, beside that one.
    pub served: ServedGuilds,
    /// Code that `/setup` of a guild has to give to be served; `None`: no code admits a guild.
    pub code: Option<String>,
    /// Members with this role are game masters, where a guild has not set its own.
    pub dm_role: Option<u64>,
    /// Everybody is a game master.
    pub everyone_is_dm: bool,
    /// Consent required of players, unless a guild has set its own.
    pub consent: Consent,
    /// Alone in a channel for so long, the bot leaves.
    pub idle: Duration,
    /// Folder of what is noted beside the store.
    pub folder: PathBuf,
}

impl Options {
    /// True if `guild` is served, whatever was set there; `None`: only if something was.
    pub fn serves(&self, guild: u64) -> Option<bool> {
        match self.guild {
            Some(own) if own == guild => Some(true),
            _ => self.served.serves(guild),
        }
    }
}

#[cfg(test)]
impl Options {
    /// Options of a bot without a configuration.
    pub fn plain() -> Self {
        Self {
            token: Secret(String::new()),
            api: None,
            guild: None,
            served: ServedGuilds::LetIn,
            code: None,
            dm_role: None,
            everyone_is_dm: false,
            consent: Consent::Notice,
            idle: Duration::from_secs(300),
            folder: PathBuf::new(),
        }
    }
}
