//! What the configuration says about the bot, as the bot takes it.
//!
//! Entry function: [`bot_options`]. **Never**: checks anything; `config` has done that.

use crate::{
    config::DiscordOptions,
    discord::{Options, Token},
};

/// The bot's options.
pub fn bot_options(options: &DiscordOptions) -> Options {
    Options {
        token: Token(options.token.0.clone()),
        api: options.api,
        guild: options.guild,
        served: options.served.clone(),
        code: None,
        dm_role: options.dm_role,
        everyone_is_dm: options.everyone_is_dm,
        consent: options.consent,
        idle: options.idle,
        folder: options.folder.clone(),
    }
}
