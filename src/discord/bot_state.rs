//! State of the whole bot, made once. Entry type: [`Bot`].

use std::sync::{Arc, OnceLock};

use serenity::all::{ApplicationId, UserId};
use songbird::Config;
use tokio::time::Instant;

use super::{
    admission::Admission, capacity::Capacity, options::Options, served_shards::ServedShards,
};
use crate::campaign::Handles;

/// State shared by the shards of the bot.
pub struct Bot {
    pub options: Options,
    pub handles: Handles,
    pub admission: Admission,
    pub capacity: Capacity,
    pub served: ServedShards,
    pub client: discord_http::Client,
    /// Its threads mix the calls of all shards.
    pub voice: Config,
    pub me: UserId,
    /// Name of this node; `None`: the process serves alone.
    pub node: Option<String>,
    /// Set if sessions go on in another node: when shards are closed by.
    pub hand_over_by: Arc<OnceLock<Instant>>,
    pub application: ApplicationId,
}
