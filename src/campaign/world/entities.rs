//! Conversion of entities between campaign files, the store and tables.
//!
//! Entry functions: [`remembered`], [`entities_of_no_file`].

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    campaign::Scoped,
    domain,
    import::campaign::WorldEntity,
    logic::prompt,
    memory::{Entity, EntityFilter, EntityKind, Error, Viewer, Visibility},
};

/// Prefix of the source of entities from the configured campaign file; the id follows.
pub const CAMPAIGN_FILE: &str = "campaign-file:";
/// Prefix of the source of imported entities; the id follows.
pub const IMPORT: &str = "import:";
/// Prefix of the source of entities from other programs' files; the draft's source follows.
pub const BROUGHT: &str = "brought:";
/// Follows [`BROUGHT`] in the source of an entity that holds the secrets of a draft.
pub const SECRETS: &str = "secrets:";
/// Attribute with the pronunciation of an entity's name.
pub const PRONUNCIATION: &str = "pronunciation";
/// Most stored entities whose names a table knows; more would displace a recogniser's other words.
const NAMED_MAX: usize = 1_000;

/// True if the configured campaign file describes it.
pub fn is_of_campaign_file(entity: &Entity) -> bool {
    entity.source.as_deref().is_some_and(|it| it.starts_with(CAMPAIGN_FILE))
}

/// True if it comes from another program's file.
fn is_brought(entity: &Entity) -> bool {
    entity.source.as_deref().is_some_and(|it| it.starts_with(BROUGHT))
}

/// True for secrets of an imported file, whose names are never spoken.
fn is_secrets(entity: &Entity) -> bool {
    let source = entity.source.as_deref().and_then(|it| it.strip_prefix(BROUGHT));
    source.is_some_and(|it| it.starts_with(SECRETS))
}

pub fn remembered(of: &WorldEntity, source: &str) -> Entity {
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

/// "npc", "location".
pub fn word(kind: EntityKind) -> String {
    let word = serde_json::to_value(kind).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}

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

/// Stored entities of `campaign` whose names a table recognises, corrects and pronounces; with
/// `and_of_file` also those of the configured campaign file.
pub async fn entities_of_no_file(
    at: Scoped<'_>,
    and_of_file: bool,
) -> Result<Vec<domain::Entity>, Error> {
    let found = at.store.entities(at.scope, EntityFilter::default(), Viewer::Dm).await?;
    let is_named = |it: &Entity| (and_of_file || !is_of_campaign_file(it)) && !is_secrets(it);
    let mut others: Vec<Entity> = found.into_iter().filter(is_named).collect();
    // A bestiary must not displace what the game master has added.
    others.sort_by_key(is_brought);
    if let Some(unnamed) = others.len().checked_sub(NAMED_MAX).filter(|&it| it > 0) {
        tracing::warn!(unnamed, "the campaign has more entities than a table can listen for");
    }
    Ok(others.into_iter().take(NAMED_MAX).map(at_table).collect())
}

fn at_table(of: Entity) -> domain::Entity {
    let pronunciation = of.attributes.get(PRONUNCIATION).and_then(Value::as_str);
    let (dm_only, known_to) = match of.visibility {
        // The store's queries check who knows the topics.
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
