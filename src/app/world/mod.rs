//! Campaign files into the store, and entities of the store to names at the table.
//!
//! Entry functions: [`plan`] and [`Plan::carry_out`], [`for_session`]. **Never**: changes an entity that
//! belongs to the configured campaign file, unless by that file.

mod orders;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub use orders::carry_out;

use super::{campaign_key, key_of, open_memory};
use crate::{
    config::{Config, MemoryPlace},
    discord::PlayedCampaign,
    domain::{self, Campaign},
    import::campaign::{Edge, KnownEntity, World, WorldEntity, link},
    logic::prompt,
    memory::{
        CampaignKey, Change, Entity, EntityFilter, EntityKind, Error, MemoryStore, Provenance,
        Relation, RelationKey, Viewer, Visibility,
    },
    yaml::{Problem, Problems, quoted},
};

/// Where entities of the configured campaign file come from, before their id.
pub const CAMPAIGN_FILE: &str = "campaign-file:";
/// Where imported entities come from, before their id.
pub const IMPORT: &str = "import:";
/// The attribute of a relation that says which entity's file entry it comes from.
const SAID_BY: &str = "source";
/// The attribute of an entity that says how its name is said.
const PRONUNCIATION: &str = "pronunciation";
/// Most entities of the store whose names a table knows: more would push a recogniser's other words
/// aside.
const NAMED_MAX: usize = 1_000;

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The files, each problem with its place.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Problems(Vec<Problem>),
    /// The store.
    #[error(transparent)]
    Store(#[from] Error),
}

/// What an import would change.
#[derive(Debug)]
pub struct Plan {
    changes: Vec<Change>,
    /// Entities in the files.
    pub entities: usize,
    /// Relations in the files, both directions of what holds both ways counted.
    pub relations: usize,
    /// Entities and relations that are new.
    pub added: usize,
    /// Entities that are there, but not so.
    pub changed: usize,
    /// Entities and relations that are there and in the files no more.
    pub removed: usize,
}

impl Plan {
    /// Does it, all or nothing.
    ///
    /// # Errors
    /// The store's own.
    pub async fn carry_out(
        &mut self,
        store: &dyn MemoryStore,
        campaign: &CampaignKey,
    ) -> Result<(), Error> {
        let changes = std::mem::take(&mut self.changes);
        if !changes.is_empty() {
            store.apply(campaign, changes).await?;
        }
        Ok(())
    }
}

/// What is to change so that the store holds `worlds`, whose entities come from `source`. Relations
/// that the files do not name any more are removed; entities only where they come from the configured
/// campaign file.
///
/// # Errors
/// Ids that are there twice, relations to what is not there, entities that belong to the campaign
/// file; or the store's own.
pub async fn plan(
    store: &dyn MemoryStore,
    campaign: &CampaignKey,
    worlds: &[World],
    source: &str,
) -> Result<Plan, ImportError> {
    let before = store.entities(campaign, EntityFilter::default(), Viewer::Dm).await?;
    let known: Vec<KnownEntity> = before.iter().map(known).collect();
    let mut problems = Vec::new();
    let edges = link(worlds, &known).unwrap_or_else(|found| {
        problems.extend(found);
        Vec::new()
    });
    let before: BTreeMap<&str, &Entity> = before.iter().map(|it| (it.id.as_str(), it)).collect();
    problems.extend(foreign(worlds, &before, source));
    if !problems.is_empty() {
        problems.sort();
        return Err(ImportError::Problems(problems));
    }
    let mut plan = Plan {
        changes: Vec::new(),
        entities: worlds.iter().map(|world| world.entities.len()).sum(),
        relations: edges.len(),
        added: 0,
        changed: 0,
        removed: 0,
    };
    let ours = worlds.iter().flat_map(|world| &world.entities);
    let (mut put, mut own) = (Vec::new(), BTreeSet::new());
    for entity in ours.map(|it| remembered(it, source)) {
        own.insert(entity.id.clone());
        match before.get(entity.id.as_str()) {
            None => plan.added += 1,
            Some(old) if is_same(old, &entity) => continue,
            Some(_) => plan.changed += 1,
        }
        put.push(Change::Put(entity));
    }
    if source == CAMPAIGN_FILE {
        let of_file = |it: &&&Entity| it.source.as_deref().is_some_and(|it| it.starts_with(source));
        let gone = before.values().filter(of_file).filter(|it| !own.contains(&it.id));
        let gone: Vec<Change> = gone.map(|it| Change::Remove(it.id.clone())).collect();
        plan.removed += gone.len();
        plan.changes.extend(gone);
    }
    plan.changes.extend(put);
    let old = own.iter().map(String::as_str).filter(|id| before.contains_key(id));
    let mut ties = Vec::new();
    for id in old {
        let found = store.snapshot(campaign, id, Viewer::Dm).await?;
        ties.extend(found.into_iter().flat_map(|it| it.ties).map(|it| it.relation));
    }
    tie(&mut plan, &edges, &ties, (source, &own));
    Ok(plan)
}

/// Adds the relations that are missing, and removes what entities of the files said and say no more.
fn tie(
    plan: &mut Plan,
    edges: &[Edge],
    before: &[Relation],
    (source, own): (&str, &BTreeSet<String>),
) {
    let same = |it: &RelationKey| (it.from.clone(), it.kind.to_lowercase(), it.to.clone());
    let there: BTreeSet<_> = before.iter().map(|it| same(&it.key)).collect();
    let mut wanted = BTreeSet::new();
    for edge in edges {
        let Edge { from, kind, to, said_by } = edge.clone();
        let key = RelationKey { from, kind, to };
        wanted.insert(same(&key));
        if there.contains(&same(&key)) {
            continue;
        }
        plan.added += 1;
        plan.changes.push(Change::Tie(Relation {
            key,
            attributes: [(SAID_BY.to_owned(), Value::String(format!("{source}{said_by}")))].into(),
            visibility: Visibility::Everyone,
            provenance: Provenance { confidence: 1.0, ..Provenance::default() },
        }));
    }
    let mut gone = BTreeSet::new();
    for relation in before {
        let said_by = relation.attributes.get(SAID_BY).and_then(Value::as_str);
        let said_by = said_by.and_then(|it| it.strip_prefix(source));
        let is_ours = said_by.is_some_and(|id| own.contains(id));
        if is_ours && !wanted.contains(&same(&relation.key)) && gone.insert(same(&relation.key)) {
            plan.removed += 1;
            plan.changes.push(Change::Untie(relation.key.clone()));
        }
    }
}

/// Entities of `worlds` that the configured campaign file describes otherwise: at the next start it
/// would win.
fn foreign(worlds: &[World], before: &BTreeMap<&str, &Entity>, source: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for world in worlds.iter().filter(|_| source != CAMPAIGN_FILE) {
        let mut found = Problems::new(world.file.as_str());
        for entity in &world.entities {
            let Some(old) = before.get(entity.id.as_str()).filter(|it| is_of_campaign_file(it))
            else {
                continue;
            };
            if !is_same(old, &remembered(entity, source)) {
                let name = quoted(&entity.entity.name);
                let message = format!("{name} is described otherwise by the campaign file");
                found.add(entity.at, message, "change it there, or give this one another 'id'");
            }
        }
        problems.extend(found.into_vec());
    }
    problems
}

/// Whether the configured campaign file describes it.
pub fn is_of_campaign_file(entity: &Entity) -> bool {
    entity.source.as_deref().is_some_and(|it| it.starts_with(CAMPAIGN_FILE))
}

/// Alike, wherever the campaign file's own come from.
fn is_same(old: &Entity, new: &Entity) -> bool {
    let source = if is_of_campaign_file(old) && !is_of_campaign_file(new) {
        &old.source
    } else {
        &new.source
    };
    *old == Entity { source: source.clone(), ..new.clone() }
}

fn known(entity: &Entity) -> KnownEntity {
    let names = std::iter::once(&entity.name).chain(&entity.aliases).cloned();
    KnownEntity { id: entity.id.clone(), names: names.collect() }
}

/// As the store has it.
fn remembered(of: &WorldEntity, source: &str) -> Entity {
    let entity = &of.entity;
    let text = |text: &String| Value::String(text.clone());
    let mut attributes: BTreeMap<String, Value> =
        of.properties.iter().map(|(key, value)| (key.clone(), text(value))).collect();
    attributes.extend(entity.pronunciation.iter().map(|it| (PRONUNCIATION.to_owned(), text(it))));
    Entity {
        id: of.id.clone(),
        kind: kind(entity.kind),
        name: entity.name.clone(),
        aliases: entity.aliases.clone(),
        description: entity.description.clone(),
        attributes,
        tags: of.tags.clone(),
        knowledge: prompt::known_by(entity),
        visibility: match (entity.dm_only, entity.known_to.as_slice()) {
            (false, _) => Visibility::Everyone,
            (true, []) => Visibility::Dm,
            (true, npcs) => Visibility::Npcs(npcs.to_vec()),
        },
        source: Some(format!("{source}{}", of.id)),
    }
}

/// The same kind in the store.
pub const fn kind(kind: domain::EntityKind) -> EntityKind {
    match kind {
        domain::EntityKind::Npc => EntityKind::Npc,
        domain::EntityKind::Player => EntityKind::Player,
        domain::EntityKind::Location => EntityKind::Location,
        domain::EntityKind::Item => EntityKind::Item,
        domain::EntityKind::Faction => EntityKind::Faction,
        domain::EntityKind::Event => EntityKind::Event,
        domain::EntityKind::Quest => EntityKind::Quest,
        domain::EntityKind::Concept => EntityKind::Concept,
        domain::EntityKind::Lore => EntityKind::Lore,
    }
}

/// The same kind at a table.
const fn kind_at_table(kind: EntityKind) -> domain::EntityKind {
    match kind {
        EntityKind::Npc => domain::EntityKind::Npc,
        EntityKind::Player => domain::EntityKind::Player,
        EntityKind::Location => domain::EntityKind::Location,
        EntityKind::Item => domain::EntityKind::Item,
        EntityKind::Faction => domain::EntityKind::Faction,
        EntityKind::Event => domain::EntityKind::Event,
        EntityKind::Quest => domain::EntityKind::Quest,
        EntityKind::Concept => domain::EntityKind::Concept,
        EntityKind::Lore => domain::EntityKind::Lore,
    }
}

/// `config` as a session of the campaign called `other` plays it, or of the one that is configured: its
/// campaign also has the entities of the store that no file has, so that their names are heard, put
/// right, said, and known.
///
/// # Errors
/// The store's own.
pub async fn for_session(
    config: &Config,
    store: &dyn MemoryStore,
    other: Option<&PlayedCampaign>,
) -> Result<Config, Error> {
    let mut config = config.clone();
    let own = campaign_key(&config);
    if let Some(other) = other.filter(|other| key_of(&other.name) != own) {
        config.campaign = Campaign {
            name: other.name.clone(),
            description: other.description.clone(),
            system: other.system.clone(),
            // What people do not want brought up they want in no campaign.
            lines_and_veils: config.campaign.lines_and_veils,
            ..Campaign::default()
        };
        config.world = World::default();
    }
    let key = campaign_key(&config);
    let found = store.entities(&key, EntityFilter::default(), Viewer::Dm).await?;
    let others: Vec<Entity> =
        found.into_iter().filter(|it| key != own || !is_of_campaign_file(it)).collect();
    if let Some(unnamed) = others.len().checked_sub(NAMED_MAX).filter(|&it| it > 0) {
        tracing::warn!(unnamed, "there are more entities than names a table can listen for");
    }
    config.campaign.entities.extend(others.into_iter().take(NAMED_MAX).map(at_table));
    Ok(config)
}

/// `config` with the names that its store has, if it has one yet.
pub async fn with_names(config: &Config) -> Config {
    if let MemoryPlace::File(path) = &config.memory.place
        && !path.exists()
    {
        return config.clone();
    }
    let named = async {
        let store = open_memory(config).await?;
        anyhow::Ok(for_session(config, &*store, None).await?)
    };
    named.await.unwrap_or_else(|error| {
        let error = format!("{error:#}");
        tracing::warn!(error, "only names of files are known");
        config.clone()
    })
}

/// As a table has it.
fn at_table(of: Entity) -> domain::Entity {
    let pronunciation = of.attributes.get(PRONUNCIATION).and_then(Value::as_str);
    let (dm_only, known_to) = match of.visibility {
        // Who must know a topic to know of it is for the store's queries to say.
        Visibility::Everyone => (!of.knowledge.is_empty(), Vec::new()),
        Visibility::Dm => (true, Vec::new()),
        Visibility::Npcs(npcs) => (true, npcs),
    };
    domain::Entity {
        kind: kind_at_table(of.kind),
        name: of.name,
        aliases: of.aliases,
        description: of.description,
        pronunciation: pronunciation.map(str::to_owned),
        dm_only,
        known_to,
    }
}
