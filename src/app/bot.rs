//! The bot's options from the configuration.

use crate::{config::DiscordOptions, discord::Options};

/// Options as in the file; no `/setup` code is set.
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
