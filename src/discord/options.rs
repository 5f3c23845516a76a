//! Options of the bot.
//!
//! Entry type: [`Options`]. **Never**: prints the token.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use crate::{
    campaign::{Consent, ServedGuilds},
    domain::Secret,
};

/// Options of the bot, built by `config`.
#[derive(Clone, Debug)]
pub struct Options {
    pub token: Secret,
    /// Address of a substitute for Discord's API. Its TLS certificate must be for `discord.com`, by
    /// an authority of `SSL_CERT_FILE`.
    pub api: Option<SocketAddr>,
    /// Registers commands in this guild alone, where they appear at once.
    pub guild: Option<u64>,
    /// Guilds served beside `guild`.
    pub served: ServedGuilds,
    /// Code with which `/setup` admits a guild; `None`: no code does.
    pub code: Option<String>,
    /// Role of game masters, unless a guild sets its own.
    pub dm_role: Option<u64>,
    /// Makes every member a game master.
    pub everyone_is_dm: bool,
    /// Consent required of players, unless a guild sets its own.
    pub consent: Consent,
    /// Alone in a channel for this long, the bot leaves.
    pub idle: Duration,
    /// Folder for files beside the store.
    pub folder: PathBuf,
}

impl Options {
    /// True if `guild` is always served; `None`: only if it has stored settings.
    pub fn serves(&self, guild: u64) -> Option<bool> {
        match self.guild {
            Some(own) if own == guild => Some(true),
            _ => self.served.serves(guild),
        }
    }
}

#[cfg(test)]
impl Options {
    /// Options without a configuration.
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
