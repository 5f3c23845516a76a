//! Entities and relations of drafts as the store has them.
//!
//! Entry function: [`entities`]. An entity keeps its id over imports by its source; a name that something
//! of another source has already leads to that, and is left alone.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    people::People,
    preview::{Item, Left, Preview},
    written::{NOT_SAYABLE, hash, is_sayable, name, without_data},
};
use crate::{
    campaign::world::{BROUGHT, PRONUNCIATION, SECRETS, kind, word},
    domain::{bare_name, visible},
    import::{
        campaign::{Edge, hyphened},
        draft::{Drafts, EntityDraft, NpcDraft, Passage, RelationTarget},
    },
    memory::{Entity, EntityKind, Visibility},
};

/// Longest description, in characters.
const TEXT_MAX: usize = 20_000;
/// Longest id without the hash behind it, in characters.
const ID_MAX: usize = 60;

#[derive(Debug, Default)]
pub struct Brought {
    /// The entities, ids unique.
    pub entities: Vec<Entity>,
    /// Relations between them, and to others that are there.
    pub edges: Vec<Edge>,
}

/// The entities and relations of `drafts`, beside those there are `before`; `preview` gets what only the
/// game master sees and what is left out.
pub fn entities(
    drafts: &Drafts,
    before: &[Entity],
    people: &People,
    knows_secrets: bool,
    preview: &mut Preview,
) -> Brought {
    let mut ids = Ids::of(before);
    let mut brought = Brought::default();
    for draft in &drafts.entities {
        if let Some(entity) = ids.entity(draft, people, preview) {
            brought.entities.push(entity);
        }
        let EntityDraft { source, file, name, secrets, .. } = draft;
        brought.entities.extend(ids.secrets(&Hidden { source, file, name, secrets }, preview));
    }
    for npc in drafts.npcs.iter().filter(|npc| people.names.contains_key(&npc.source)) {
        let is_written = !people.edited.contains(&npc.source);
        for note in npc.for_dm.iter().filter(|_| is_written) {
            let about = format!("{}, a comment in the file", note.from);
            preview.for_dm.push(Item::new("note", &npc.name, about));
        }
        if !knows_secrets {
            let NpcDraft { source, file, name, secrets, .. } = npc;
            brought.entities.extend(ids.secrets(&Hidden { source, file, name, secrets }, preview));
        }
    }
    // A person is an entity only where something is related to them: the cast has them anyway.
    let related = related(drafts, &ids);
    let public = public_people(&brought.entities);
    let mut done = BTreeSet::new();
    for npc in drafts.npcs.iter().filter(|npc| related.contains(npc.source.as_str())) {
        let name = people.names.get(&npc.source).filter(|_| done.insert(&npc.source));
        let Some(name) = name else { continue };
        let known = ids.foreign.get(&bare_name(name)).map(Vec::as_slice);
        let known = match known {
            Some([id]) => Some(id),
            _ => public.get(&bare_name(name)),
        };
        if let Some(id) = known.cloned() {
            ids.by_source.insert(npc.source.clone(), id);
            continue;
        }
        let id = ids.take(&npc.source, name);
        let mut aliases: Vec<String> = npc.aliases.iter().map(|it| self::name(it)).collect();
        aliases.retain(|it| !it.is_empty());
        ids.call(&id, name, &aliases);
        let mut entity = blank(&npc.source, id, name);
        entity.kind = EntityKind::Npc;
        entity.aliases = aliases;
        brought.entities.push(entity);
    }
    brought.edges = ids.edges(drafts, preview);
    brought
}

/// Ids, by bare name, of entities that describe a person for everyone: they are that person's own.
fn public_people(entities: &[Entity]) -> BTreeMap<String, String> {
    let is_public =
        |it: &&Entity| it.kind == EntityKind::Npc && it.visibility == Visibility::Everyone;
    entities.iter().filter(is_public).map(|it| (bare_name(&it.name), it.id.clone())).collect()
}

/// Sources of drafts at both ends of relations, as far as both are there.
fn related<'a>(drafts: &'a Drafts, ids: &Ids) -> BTreeSet<&'a str> {
    let mut named: BTreeMap<String, &str> = BTreeMap::new();
    for npc in &drafts.npcs {
        let called = std::iter::once(&npc.name).chain(&npc.aliases);
        named.extend(called.map(|it| (bare_name(it), npc.source.as_str())));
    }
    let sources: BTreeSet<&str> = drafts.npcs.iter().map(|it| it.source.as_str()).collect();
    let mut ends = BTreeSet::new();
    for relation in &drafts.relations {
        let (to, is_there) = match &relation.to {
            RelationTarget::Source(source) => {
                let is_there =
                    sources.contains(source.as_str()) || ids.by_source.contains_key(source);
                (Some(source.as_str()), is_there)
            }
            RelationTarget::Name(name) => {
                let name = bare_name(name);
                let to = named.get(&name).copied();
                (to, to.is_some() || ids.by_name.contains_key(&name))
            }
        };
        if is_there {
            ends.extend(std::iter::once(relation.from.as_str()).chain(to));
        }
    }
    ends
}

/// Secrets of a draft, for the game master alone.
struct Hidden<'a> {
    /// Of the draft.
    source: &'a str,
    file: &'a str,
    name: &'a str,
    secrets: &'a [Passage],
}

/// Ids that are taken, by what leads to them.
#[derive(Default)]
struct Ids {
    taken: BTreeSet<String>,
    /// Ids of what this or an earlier import brought, by the draft's source.
    by_source: BTreeMap<String, String>,
    /// Ids of what comes from elsewhere, by bare name.
    foreign: BTreeMap<String, Vec<String>>,
    /// Ids of everything that relations may name, by bare name.
    by_name: BTreeMap<String, BTreeSet<String>>,
    seen: BTreeSet<String>,
}

impl Ids {
    fn of(before: &[Entity]) -> Self {
        let mut ids = Self::default();
        for entity in before {
            ids.taken.insert(entity.id.clone());
            ids.call(&entity.id, &entity.name, &entity.aliases);
            match entity.source.as_deref().and_then(|it| it.strip_prefix(BROUGHT)) {
                Some(source) => {
                    ids.by_source.insert(source.to_owned(), entity.id.clone());
                }
                None => {
                    let name = bare_name(&entity.name);
                    ids.foreign.entry(name).or_default().push(entity.id.clone());
                }
            }
        }
        ids
    }

    /// Makes relations find `id` by these names.
    fn call(&mut self, id: &str, name: &str, aliases: &[String]) {
        for called in std::iter::once(name).chain(aliases.iter().map(String::as_str)) {
            self.by_name.entry(bare_name(called)).or_default().insert(id.to_owned());
        }
    }

    /// The id of a draft: the one it had, or a free one made of its name.
    fn take(&mut self, source: &str, name: &str) -> String {
        if let Some(id) = self.by_source.get(source) {
            return id.clone();
        }
        let plain: String = hyphened(name).chars().take(ID_MAX).collect();
        let id = match plain.is_empty() || self.taken.contains(&plain) {
            true => format!("{plain}-{}", hash(source)).trim_start_matches('-').to_owned(),
            false => plain,
        };
        self.taken.insert(id.clone());
        self.by_source.insert(source.to_owned(), id.clone());
        id
    }

    /// The entity of a draft, unless something else has its name.
    fn entity(
        &mut self,
        draft: &EntityDraft,
        people: &People,
        preview: &mut Preview,
    ) -> Option<Entity> {
        let own = name(&draft.name);
        if !self.seen.insert(draft.source.clone()) {
            let about = format!("{} has it twice; the first counts", draft.file);
            preview.kept.push(Item::new(&word(kind(draft.kind)), &own, about));
            return None;
        }
        if let Some(ids) = self.foreign.get(&bare_name(&own)).filter(|_| !draft.dm_only) {
            let first = ids.first().cloned().unwrap_or_default();
            self.by_source.insert(draft.source.clone(), first);
            let about = format!("{}: it is there already, from elsewhere", draft.file);
            preview.kept.push(Item::new(&word(kind(draft.kind)), &own, about));
            return None;
        }
        let id = self.take(&draft.source, &own);
        let mut entity = blank(&draft.source, id, &own);
        entity.kind = kind(draft.kind);
        entity.aliases = draft.aliases.iter().map(|it| name(it)).collect();
        entity.aliases.retain(|it| !it.is_empty());
        entity.description = joined(&draft.text, &draft.file, &own, preview);
        let properties = draft.properties.iter();
        entity.attributes = properties
            .map(|(key, value)| {
                (name(key), Value::String(shown(value).chars().take(TEXT_MAX).collect()))
            })
            .filter(|(key, _)| !key.is_empty())
            .collect();
        entity.tags = draft.tags.iter().map(|it| name(it)).collect();
        let said = entity.attributes.get(PRONUNCIATION).and_then(Value::as_str);
        if said.is_some_and(|it| !is_sayable(it)) {
            entity.attributes.remove(PRONUNCIATION);
            preview.left_out.push(Left {
                file: draft.file.clone(),
                what: format!("the pronunciation of '{own}'"),
                why: NOT_SAYABLE.to_owned(),
            });
        }
        let known_to = draft.known_to.iter().filter_map(|it| people.names.get(it)).cloned();
        let known_to: Vec<String> = known_to.collect();
        entity.visibility = match (draft.dm_only, draft.known_to.is_empty()) {
            (true, _) => Visibility::Dm,
            (false, true) => Visibility::Everyone,
            // The NPCs that knew it were left out, so only the game master sees it.
            (false, false) if known_to.is_empty() => Visibility::Dm,
            (false, false) => Visibility::Npcs(known_to),
        };
        if entity.visibility == Visibility::Dm {
            preview.for_dm.push(Item::new(&word(kind(draft.kind)), &own, draft.file.clone()));
        }
        self.call(&entity.id, &entity.name, &entity.aliases);
        Some(entity)
    }

    /// The secrets of a draft as a separate entity.
    fn secrets(&mut self, of: &Hidden<'_>, preview: &mut Preview) -> Option<Entity> {
        let Hidden { source, file, name: whose, secrets } = *of;
        let source = format!("{SECRETS}{source}");
        if self.seen.contains(&source) {
            return None;
        }
        let name = name(&format!("Secrets of {whose}"));
        let description = joined(secrets, file, &name, preview);
        if description.is_empty() {
            return None;
        }
        self.seen.insert(source.clone());
        let id = self.take(&source, &name);
        let mut entity = blank(&source, id, &name);
        entity.description = description;
        entity.visibility = Visibility::Dm;
        let from: Vec<&str> = secrets.iter().map(|it| it.from.as_str()).collect();
        preview.for_dm.push(Item::new("lore", &name, from.join(", ")));
        Some(entity)
    }

    fn edges(&self, drafts: &Drafts, preview: &mut Preview) -> Vec<Edge> {
        let (mut edges, mut open) = (BTreeMap::new(), 0_usize);
        for relation in &drafts.relations {
            let from = self.by_source.get(&relation.from);
            let to = match &relation.to {
                // Files link to documents that were not exported with them.
                RelationTarget::Source(source) if !self.by_source.contains_key(source) => continue,
                RelationTarget::Source(source) => self.by_source.get(source),
                RelationTarget::Name(name) => {
                    let found = self.by_name.get(&bare_name(name));
                    found.filter(|ids| ids.len() == 1).and_then(BTreeSet::first)
                }
            };
            let kind = name(&relation.kind);
            let (Some(from), Some(to)) = (from, to) else {
                open += 1;
                continue;
            };
            if kind.is_empty() || from == to {
                continue;
            }
            let key = (from.clone(), kind.to_lowercase(), to.clone());
            edges.entry(key).or_insert_with(|| Edge {
                from: from.clone(),
                kind,
                to: to.clone(),
                said_by: from.clone(),
            });
        }
        if open > 0 {
            preview.left_out.push(Left {
                file: "all files".to_owned(),
                what: format!("{open} relations"),
                why: "nothing, or more than one thing, has the name they lead to".to_owned(),
            });
        }
        edges.into_values().collect()
    }
}

fn blank(source: &str, id: String, name: &str) -> Entity {
    Entity {
        id,
        kind: EntityKind::Lore,
        name: name.to_owned(),
        aliases: Vec::new(),
        description: String::new(),
        attributes: BTreeMap::new(),
        tags: Vec::new(),
        knowledge: Vec::new(),
        visibility: Visibility::Everyone,
        source: Some(format!("{BROUGHT}{source}")),
    }
}

fn shown(text: &str) -> String {
    without_data(&visible(text)).trim().to_owned()
}

/// The text of the entity `of`; `preview` gets how much has no room.
fn joined(passages: &[Passage], file: &str, of: &str, preview: &mut Preview) -> String {
    let texts: Vec<&str> =
        passages.iter().map(|it| it.text.trim()).filter(|it| !it.is_empty()).collect();
    let mut text = shown(&texts.join("\n\n"));
    if let Some((end, _)) = text.char_indices().nth(TEXT_MAX) {
        let cut = text.split_off(end).chars().count();
        preview.left_out.push(Left {
            file: file.to_owned(),
            what: format!("the last {cut} characters of '{of}'"),
            why: "a description has room for 20,000".to_owned(),
        });
    }
    text
}
