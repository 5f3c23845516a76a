//! Settings of guilds, and their store. Entry types: [`GuildSettings`], [`GuildStore`].

mod consent;
mod served;
mod settings;
mod store;

pub use consent::Consent;
pub use served::ServedGuilds;
pub use settings::{AddedServer, GuildSettings, KeptCall, ShownRequest};
pub use store::{GuildError, GuildStore};
