//! The store that is configured, and the world of the campaign file in it.
//!
//! Entry functions: [`open_memory`], [`campaign_key`], [`key_of`], [`archive`]. **Never**: changes what
//! somebody else has put into it.

use std::{sync::Arc, time::UNIX_EPOCH};

use futures::FutureExt;

use super::{
    reload::wall_clock,
    world::{self, CAMPAIGN_FILE},
};
use crate::{
    config::{Config, EmbedderChoice, MemoryPlace},
    import::campaign::hyphened,
    memory::{CampaignKey, MemoryStore, Postgres, Sqlite},
    provider::Embedder,
    tools::builtin::{Archive, ArchiveParts, Meaning},
};

/// Longest key of a campaign, in characters.
const KEY_MAX: usize = 64;

/// Opens the store; a file is made where there is none, and the entities of the campaign file are
/// put into it where they have changed.
///
/// # Errors
/// It cannot be reached or written, is newer than this program, or damaged.
pub async fn open_memory(config: &Config) -> anyhow::Result<Arc<dyn MemoryStore>> {
    let store: Arc<dyn MemoryStore> = match config.memory.place.clone() {
        MemoryPlace::File(path) => {
            Arc::new(tokio::task::spawn_blocking(move || Sqlite::open(&path)).await??)
        }
        MemoryPlace::Server(address) => Arc::new(Postgres::open(&address).await?),
    };
    put_world(config, &*store).await?;
    Ok(store)
}

/// What tools find in `store`; without one it is opened when the first of them asks.
pub fn archive(
    config: &Config,
    store: Option<Arc<dyn MemoryStore>>,
    meaning: Meaning,
) -> Arc<Archive> {
    let config = Arc::new(config.clone());
    let (campaign, described) = (campaign_key(&config), Arc::clone(&config));
    let open = move || {
        let (store, config) = (store.clone(), Arc::clone(&config));
        async move {
            match store {
                Some(store) => Ok(store),
                None => open_memory(&config).await.map_err(|error| format!("{error:#}")),
            }
        }
        .boxed()
    };
    let parts = ArchiveParts { campaign, open: Box::new(open), meaning, now };
    let archive = Archive::new(parts);
    archive.set_cast(&described.npcs, &described.assistant);
    Arc::new(archive)
}

/// What finds by meaning; without an embedder by spelling.
pub fn meaning(choice: &EmbedderChoice, embedder: Option<&Arc<dyn Embedder>>) -> Meaning {
    let model = match choice {
        EmbedderChoice::None => None,
        EmbedderChoice::OpenAi(options) => Some(options.model.clone()),
        EmbedderChoice::MiniLm(folder) => Some(format!("minilm:{}", folder.display())),
    };
    model.zip(embedder).map_or_else(Meaning::by_spelling, |(model, embedder)| {
        let embedder = Arc::clone(embedder);
        Meaning { model, embedder }
    })
}

/// Unix time in ms.
pub fn now() -> i64 {
    let since = wall_clock().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The key of the campaign that is configured; "default" without a name.
pub fn campaign_key(config: &Config) -> CampaignKey {
    key_of(&config.campaign.name)
}

/// The key of the campaign called `name`: its letters and digits in lower case, anything between them
/// a hyphen; "default" without any.
pub fn key_of(name: &str) -> CampaignKey {
    let key: String = hyphened(name).chars().take(KEY_MAX).collect();
    CampaignKey(if key.is_empty() { "default".to_owned() } else { key })
}

/// Makes the entities that come from the campaign file those that are in it.
async fn put_world(config: &Config, store: &dyn MemoryStore) -> anyhow::Result<()> {
    let campaign = campaign_key(config);
    let worlds = std::slice::from_ref(&config.world);
    let mut plan = world::plan(store, &campaign, worlds, CAMPAIGN_FILE).await?;
    plan.carry_out(store, &campaign).await?;
    let world::Plan { added, changed, removed, .. } = plan;
    tracing::debug!(added, changed, removed, "the world of the campaign file is remembered");
    Ok(())
}
