//! The bot's options from the configuration.
//!
//! Entry function: [`bot_options`]. **Never**: lets anybody in whom the file does not name.

use crate::{config::DiscordOptions, discord::Options};

/// The bot as the file describes it; nothing that `/setup` gives has it serve a guild.
pub fn bot_options(file: &DiscordOptions) -> Options {
    let file = file.clone();
    Options {
        token: file.token,
        api: file.api,
        guild: file.guild,
        served: file.served,
        code: None,
        dm_role: file.dm_role,
        everyone_is_dm: file.everyone_is_dm,
        consent: file.consent,
        idle: file.idle,
        folder: file.folder,
    }
}
