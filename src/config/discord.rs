//! The bot's settings.
//!
//! Entry function: [`options`]. **Never**: asks Discord whether they are right.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use super::reading::Notes;
use crate::{
    campaign::{Consent, ServedGuilds},
    domain::Secret,
    yaml::{Fields, Position},
};

/// Minutes alone after which the bot leaves.
const IDLE_MINUTES: u64 = 5;

/// Settings of Discord in the file.
#[derive(Clone, Debug)]
pub struct DiscordOptions {
    /// The bot's token; may be empty.
    pub token: Secret,
    /// Address of Discord's API, when it is not Discord's own.
    pub api: Option<SocketAddr>,
    /// The guild that the bot is for.
    pub guild: Option<u64>,
    /// The guilds that are served, beside that one.
    pub served: ServedGuilds,
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
    /// Game masters may add tool servers that run here or on this network.
    pub trust_dms: bool,
}

/// Reads `fields`; files beside the store lie below `data_dir`.
pub fn options(fields: Option<Fields<'_>>, data_dir: &Path, notes: &mut Notes) -> DiscordOptions {
    let mut id = |key| {
        let text = fields?.text(key).filter(|text| !text.trim().is_empty())?;
        id_of(key, text, fields?.place(key), notes)
    };
    let (guild, dm_role) = (id("guild_id"), id("dm_role"));
    let flag = |key| fields.and_then(|fields| fields.flag(key)).unwrap_or_default();
    let idle = fields.and_then(|fields| fields.whole("idle_minutes")).unwrap_or(IDLE_MINUTES);
    let token = fields.and_then(|it| it.text("token")).unwrap_or_default().trim().to_owned();
    DiscordOptions {
        token: Secret(token),
        api: fields.and_then(|fields| api(fields, notes)),
        guild,
        served: fields.map(|fields| served(fields, notes)).unwrap_or_default(),
        dm_role,
        everyone_is_dm: flag("everyone_is_dm"),
        consent: match fields.and_then(|fields| fields.text("consent")) {
            Some("ask") => Consent::Ask,
            _ => Consent::Notice,
        },
        idle: Duration::from_secs(idle * 60),
        folder: data_dir.join("discord"),
        trust_dms: flag("trust_dms"),
    }
}

/// The id that `text` is, the value of `key`.
fn id_of(key: &str, text: &str, at: Position, notes: &mut Notes) -> Option<u64> {
    let id = text.trim().parse().ok().filter(|id| *id > 0);
    if id.is_none() {
        let message = format!("{key} '{text}' is not a Discord id");
        let way_out = "turn on developer mode in Discord, right-click the server or role, Copy ID";
        notes.problems.add(at, message, way_out);
    }
    id
}

/// The guilds that are served.
fn served(fields: Fields<'_>, notes: &mut Notes) -> ServedGuilds {
    if fields.text("guilds").is_some() {
        return ServedGuilds::Any;
    }
    if fields.get("guilds").is_none() {
        return ServedGuilds::LetIn;
    }
    let nodes = fields.items("guilds").iter();
    let ids = nodes.filter_map(|node| id_of("guilds", node.text()?, node.at, notes));
    ServedGuilds::Listed(ids.collect())
}

/// Address of Discord's API, when it is not Discord's own.
fn api(fields: Fields<'_>, notes: &mut Notes) -> Option<SocketAddr> {
    let text = fields.text("api_base")?;
    let address =
        text.strip_prefix("https://").and_then(|it| it.trim_end_matches('/').parse().ok());
    if address.is_none() {
        let message = format!("api_base '{text}' is not an address");
        notes.problems.add(fields.place("api_base"), message, "write it as https://127.0.0.1:8443");
    }
    address
}
