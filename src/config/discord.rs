//! The bot's settings. Entry function: [`options`]. **Never**: asks Discord.

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

/// Default minutes alone before the bot leaves.
const IDLE_MINUTES: u64 = 5;

#[derive(Clone, Debug)]
pub struct DiscordOptions {
    /// May be empty.
    pub token: Secret,
    /// `None`: Discord's own API.
    pub api: Option<SocketAddr>,
    /// The only guild of the bot, if set.
    pub guild: Option<u64>,
    /// Further guilds that it serves.
    pub served: ServedGuilds,
    /// Role of game masters in guilds that set none.
    pub dm_role: Option<u64>,
    /// Every member is a game master.
    pub everyone_is_dm: bool,
    /// Required consent in guilds that set none.
    pub consent: Consent,
    /// Time alone in a channel before the bot leaves.
    pub idle: Duration,
    /// Folder of records beside the store.
    pub folder: PathBuf,
    /// Game masters may add tool servers that run here or on this network.
    pub trust_dms: bool,
}

/// Reads `fields`; files beside the store are in `data_dir`.
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

fn id_of(key: &str, text: &str, at: Position, notes: &mut Notes) -> Option<u64> {
    let id = text.trim().parse().ok().filter(|id| *id > 0);
    if id.is_none() {
        let message = format!("{key} '{text}' is not a Discord id");
        let way_out = "turn on developer mode in Discord, right-click the server or role, Copy ID";
        notes.problems.add(at, message, way_out);
    }
    id
}

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

/// `None`: Discord's own API.
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
