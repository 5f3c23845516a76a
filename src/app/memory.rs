//! The store that is configured, and the world of the campaign file in it.
//!
//! Entry functions: [`open_memory`], [`campaign_key`], [`archive`]. **Never**: changes what somebody else has put
//! into it.

use std::{collections::BTreeMap, sync::Arc, time::UNIX_EPOCH};

use futures::FutureExt;

use super::reload::wall_clock;
use crate::{
    config::{Config, EmbedderChoice},
    domain,
    logic::prompt,
    memory::{
        CampaignKey, Change, Entity, EntityFilter, EntityKind, Error, MemoryStore, Sqlite, Viewer,
        Visibility,
    },
    provider::Embedder,
    tools::builtin::{Archive, ArchiveParts, Meaning},
};

/// Longest key of a campaign, in characters.
const KEY_MAX: usize = 64;
/// Where entities of the campaign file come from, before their own name.
const SOURCE: &str = "campaign-file:";

/// Opens the store; its file is made where there is none, and the entities of the campaign file are
/// put into it where they have changed.
///
/// # Errors
/// It cannot be written, is newer than this program, or damaged.
pub async fn open_memory(config: &Config) -> anyhow::Result<Arc<dyn MemoryStore>> {
    let path = config.memory.path.clone();
    let store = tokio::task::spawn_blocking(move || Sqlite::open(&path)).await??;
    put_world(config, &store).await?;
    Ok(Arc::new(store))
}

/// What tools find in `store`; without one it is opened when the first of them asks.
pub fn archive(
    config: &Config,
    store: Option<Arc<dyn MemoryStore>>,
    meaning: Option<Meaning>,
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

/// What finds by meaning, if anything does.
pub fn meaning(choice: &EmbedderChoice, embedder: Option<&Arc<dyn Embedder>>) -> Option<Meaning> {
    let embedder = Arc::clone(embedder?);
    let model = match choice {
        EmbedderChoice::None => return None,
        EmbedderChoice::OpenAi(options) => options.model.clone(),
        EmbedderChoice::MiniLm(folder) => format!("minilm:{}", folder.display()),
    };
    Some(Meaning { model, embedder })
}

/// Unix time in ms.
pub fn now() -> i64 {
    let since = wall_clock().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
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
        knowledge: prompt::known_by(of),
        visibility: if of.dm_only { Visibility::Dm } else { Visibility::Everyone },
        source: Some(format!("{SOURCE}{name}")),
    }
}
