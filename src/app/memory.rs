//! The configured store, with the world of the campaign file in it.
//!
//! Entry functions: [`open_memory`], [`nodes`], [`campaign_key`], [`archive`].

use std::sync::Arc;

use futures::FutureExt;

use crate::{
    campaign::{self, Accounts, Scoped, key_of, now},
    config::{Config, MemoryPlace},
    domain::Scope,
    import::campaign::World,
    memory::{CampaignKey, Leases, MemoryStore, NodeStatus, Postgres, Sqlite},
    provider::{Embedder, EmbedderEntry},
    tools::builtin::{Archive, ArchiveParts, Meaning},
};

/// Opens the store and creates a missing file. Updates the campaign file's entities for this
/// machine; guilds get theirs when they play.
pub async fn open_memory(config: &Config) -> anyhow::Result<Arc<dyn MemoryStore>> {
    let store = open_store(config).await?;
    put_world(config, &*store).await?;
    Ok(store)
}

async fn open_store(config: &Config) -> anyhow::Result<Arc<dyn MemoryStore>> {
    Ok(match config.memory.place.clone() {
        MemoryPlace::File(path) => {
            Arc::new(tokio::task::spawn_blocking(move || Sqlite::open(&path)).await??)
        }
        MemoryPlace::Server(address) => Arc::new(Postgres::open(&address).await?),
    })
}

/// Nodes that share the store, without becoming one of them. `None`: it is a file of one process.
pub async fn nodes(config: &Config) -> anyhow::Result<Option<Vec<NodeStatus>>> {
    let MemoryPlace::Server(address) = &config.memory.place else { return Ok(None) };
    Ok(Some(Postgres::open(address).await?.nodes().await?))
}

/// Accounts in `store`; without one, opens the store if anything has a price.
pub async fn accounts(
    config: &Config,
    store: Option<Arc<dyn MemoryStore>>,
) -> anyhow::Result<Accounts> {
    let store = match store {
        None if !config.budget.prices.is_empty() => Some(open_store(config).await?),
        known => known,
    };
    Ok(Accounts::new(store))
}

/// Archive of the tools over `store`; without one, the first call opens the store.
pub fn archive(
    config: &Config,
    store: Option<Arc<dyn MemoryStore>>,
    meaning: Meaning,
) -> Arc<Archive> {
    let config = Arc::new(config.clone());
    let described = Arc::clone(&config);
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
    let parts = ArchiveParts { open: Box::new(open), meaning, now };
    let archive = Archive::new(parts);
    archive.set_cast(&described.npcs, &described.assistant);
    Arc::new(archive)
}

/// Search by meaning, or by spelling without an embedder.
pub fn meaning(entry: Option<&EmbedderEntry>, embedder: Option<&Arc<dyn Embedder>>) -> Meaning {
    let model = entry.map(EmbedderEntry::space);
    model.zip(embedder).map_or_else(Meaning::by_spelling, |(model, embedder)| {
        let embedder = Arc::clone(embedder);
        Meaning { model, embedder }
    })
}

/// Key of the configured campaign; "default" without a name.
pub fn campaign_key(config: &Config) -> CampaignKey {
    key_of(&config.campaign.name)
}

pub fn world_of<'c>(config: &'c Config, campaign: &CampaignKey) -> Option<&'c World> {
    if *campaign == campaign_key(config) {
        return Some(&config.world);
    }
    let shared = config.shared.iter().find(|(shared, _)| key_of(&shared.name) == *campaign);
    shared.map(|(_, world)| world)
}

/// Scope of the configured campaign at the command line.
pub fn local_scope(config: &Config) -> Scope {
    Scope::local(campaign_key(config))
}

/// Updates the stored entities of campaign files.
async fn put_world(config: &Config, store: &dyn MemoryStore) -> anyhow::Result<()> {
    let shared = config.shared.iter().map(|(campaign, _)| key_of(&campaign.name));
    for campaign in std::iter::once(campaign_key(config)).chain(shared) {
        if let Some(world) = world_of(config, &campaign) {
            campaign::seed(Scoped::new(store, &Scope::local(campaign.clone())), world).await?;
        }
    }
    Ok(())
}
