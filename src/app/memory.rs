//! The store that is configured, and the world of the campaign file in it.
//!
//! Entry functions: [`open_memory`], [`campaign_key`]. **Never**: changes what somebody else has put
//! into it.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    config::{Config, MemoryPlace},
    domain,
    memory::{
        CampaignKey, Change, Entity, EntityFilter, EntityKind, Error, MemoryStore, Postgres,
        Sqlite, Viewer, Visibility,
    },
};

/// Longest key of a campaign, in characters.
const KEY_MAX: usize = 64;
/// Where entities of the campaign file come from, before their own name.
const SOURCE: &str = "campaign-file:";

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

/// The key of the campaign that is configured: letters and digits of its name in lower case, anything
/// between them a hyphen; "default" without a name.
pub fn campaign_key(config: &Config) -> CampaignKey {
    let key: String = hyphened(&config.campaign.name).chars().take(KEY_MAX).collect();
    CampaignKey(if key.is_empty() { "default".to_owned() } else { key })
}

/// Letters and digits in lower case, anything between them a hyphen.
fn hyphened(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c } else { ' ' };
    let words: String = name.chars().map(plain).collect();
    words.split_whitespace().collect::<Vec<_>>().join("-").to_lowercase()
}

/// Makes the entities that come from the campaign file those that are in it.
async fn put_world(config: &Config, store: &dyn MemoryStore) -> Result<(), Error> {
    let campaign = campaign_key(config);
    let filter = EntityFilter { source: Some(SOURCE.to_owned()), ..EntityFilter::default() };
    let before = store.entities(&campaign, filter, Viewer::Dm).await?;
    let now: Vec<Entity> = config.campaign.entities.iter().map(entity).collect();
    let gone = before.iter().filter(|old| now.iter().all(|new| new.id != old.id));
    let gone = gone.map(|old| Change::Remove(old.id.clone()));
    let new = now.iter().filter(|new| !before.contains(new)).cloned().map(Change::Put);
    let changes: Vec<Change> = gone.chain(new).collect();
    if !changes.is_empty() {
        let done = store.apply(&campaign, changes).await?;
        tracing::debug!(
            added = done.added,
            changed = done.changed,
            removed = done.removed,
            "the world of the campaign file is remembered"
        );
    }
    Ok(())
}

fn entity(of: &domain::Entity) -> Entity {
    let name = hyphened(&of.name);
    Entity {
        id: name.clone(),
        kind: match of.kind {
            domain::EntityKind::Npc => EntityKind::Npc,
            domain::EntityKind::Location => EntityKind::Location,
            domain::EntityKind::Item => EntityKind::Item,
            domain::EntityKind::Faction => EntityKind::Faction,
            domain::EntityKind::Quest => EntityKind::Quest,
            domain::EntityKind::Event => EntityKind::Event,
            domain::EntityKind::Lore => EntityKind::Lore,
        },
        name: of.name.clone(),
        aliases: of.aliases.clone(),
        description: of.description.clone(),
        attributes: BTreeMap::new(),
        tags: Vec::new(),
        knowledge: Vec::new(),
        visibility: if of.dm_only { Visibility::Dm } else { Visibility::Everyone },
        source: Some(format!("{SOURCE}{name}")),
    }
}
