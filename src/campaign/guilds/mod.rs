//! Settings of guilds, and their store. Entry types: [`GuildSettings`], [`GuildStore`].

mod settings;
mod store;

pub use settings::{
    AddedServer, Consent, GuildSettings, KeptCall, RunningSession, ServedGuilds, ShownRequest,
};
pub use store::{GuildError, GuildStore};
