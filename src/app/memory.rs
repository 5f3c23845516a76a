//! The store that is configured, and the world of the campaign file in it.
//!
//! Entry functions: [`open_memory`], [`campaign_key`], [`archive`]. **Never**: changes what somebody else
//! has put into it.

use std::sync::Arc;

use futures::FutureExt;

use crate::{
    campaign::{self, Accounts, CAMPAIGN_FILE, Scoped, key_of, now},
    config::{Config, MemoryPlace},
    domain::{Owner, Scope},
    memory::{CampaignKey, MemoryStore, Postgres, Sqlite},
    provider::{Embedder, EmbedderEntry},
    tools::builtin::{Archive, ArchiveParts, Meaning},
};

/// Opens the store; a file is made where there is none, and the entities of the campaign file are
/// put into it where they have changed.
///
/// # Errors
/// It cannot be reached or written, is newer than this program, or damaged.
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

/// The accounts in `store`; without one it is opened where something has a price.
///
/// # Errors
/// It cannot be reached or written, is newer than this program, or damaged.
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
pub fn meaning(entry: Option<&EmbedderEntry>, embedder: Option<&Arc<dyn Embedder>>) -> Meaning {
    let model = entry.map(EmbedderEntry::space);
    model.zip(embedder).map_or_else(Meaning::by_spelling, |(model, embedder)| {
        let embedder = Arc::clone(embedder);
        Meaning { model, embedder }
    })
}

/// The key of the campaign that is configured; "default" without a name.
pub fn campaign_key(config: &Config) -> CampaignKey {
    key_of(&config.campaign.name)
}

/// The campaign that is configured, as it is played at the command line.
pub fn local_scope(config: &Config) -> Scope {
    Scope { owner: Owner::Local, campaign: campaign_key(config) }
}

/// Makes the entities that come from campaign files those that are in them.
async fn put_world(config: &Config, store: &dyn MemoryStore) -> anyhow::Result<()> {
    let shared = config.shared.iter().map(|(campaign, world)| (key_of(&campaign.name), world));
    for (campaign, world) in std::iter::once((campaign_key(config), &config.world)).chain(shared) {
        let scope = Scope { owner: Owner::Local, campaign };
        let at = Scoped::new(store, &scope);
        let mut plan = campaign::plan(at, std::slice::from_ref(world), CAMPAIGN_FILE).await?;
        plan.carry_out(at).await?;
        let campaign::Plan { added, changed, removed, .. } = plan;
        tracing::debug!(added, changed, removed, "the world of a campaign file is remembered");
    }
    Ok(())
}
