//! What can be set about the bot.
//!
//! Entry type: [`Options`]. **Never**: prints the token.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use crate::{campaign::Consent, domain::Secret};

/// Settings of the bot; `config` builds it.
#[derive(Clone, Debug)]
pub struct Options {
    /// The bot's token.
    pub token: Secret,
    /// Where Discord's API is, when not at its own address: its TLS certificate must be for
    /// `discord.com` and by an authority of `SSL_CERT_FILE`.
    pub api: Option<SocketAddr>,
    /// Commands are registered in this guild alone, where they are there at once.
    pub guild: Option<u64>,
    /// Members with this role are game masters, where a guild has not set its own.
    pub dm_role: Option<u64>,
    /// Everybody is a game master.
    pub everyone_is_dm: bool,
    /// How players agree to be heard, where a guild has not set its own.
    pub consent: Consent,
    /// Alone in a channel for so long, the bot leaves.
    pub idle: Duration,
    /// Folder of what is noted beside the store.
    pub folder: PathBuf,
}
