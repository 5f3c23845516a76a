//! Imports campaign files into the store. Entry functions: [`plan`] and [`Plan::carry_out`].
//! **Never**: changes an entity of the configured campaign file, except from that file.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::entities::{CAMPAIGN_FILE, is_of_campaign_file, remembered};
use crate::{
    campaign::Scoped,
    import::campaign::{Edge, KnownEntity, World, link},
    memory::{
        Change, Entity, EntityFilter, Error, Provenance, Relation, RelationKey, Viewer, Visibility,
    },
    yaml::{Problem, Problems, quoted},
};

/// Attribute of a relation: the entity whose file entry defines it.
const SAID_BY: &str = "source";

#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Problems of the files, each with its place.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Problems(Vec<Problem>),
    #[error(transparent)]
    Store(#[from] Error),
}

#[derive(Debug)]
pub struct Plan {
    changes: Vec<Change>,
    pub entities: usize,
    /// Relations in the files; those that hold both ways count twice.
    pub relations: usize,
    pub added: usize,
    /// Entities that differ from the files.
    pub changed: usize,
    /// Stored entities and relations that the files no longer name.
    pub removed: usize,
}

impl Plan {
    /// Applies the plan, all or nothing.
    pub async fn carry_out(&mut self, at: Scoped<'_>) -> Result<(), Error> {
        let changes = std::mem::take(&mut self.changes);
        if !changes.is_empty() {
            at.store.apply(at.scope, changes).await?;
        }
        Ok(())
    }
}

/// Updates the entities of the campaign file, for one owner: owners share the file only.
pub async fn seed(at: Scoped<'_>, world: &World) -> Result<(), ImportError> {
    let mut plan = plan(at, std::slice::from_ref(world), CAMPAIGN_FILE).await?;
    plan.carry_out(at).await?;
    let Plan { added, changed, removed, .. } = plan;
    tracing::debug!(added, changed, removed, "the world of the campaign file is remembered");
    Ok(())
}

/// Plans the changes after which the store holds `worlds`, whose entities come from `source`.
/// Removes relations that the files no longer name; entities only if they come from the configured
/// campaign file. Fails on duplicate ids, relations to unknown entities, or entities of the
/// campaign file.
pub async fn plan(at: Scoped<'_>, worlds: &[World], source: &str) -> Result<Plan, ImportError> {
    let (store, scope) = (at.store, at.scope);
    let before = store.entities(scope, EntityFilter::default(), Viewer::Dm).await?;
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
    let ours = worlds.iter().flat_map(|world| &world.entities);
    let entities = ours.map(|it| remembered(it, source)).collect();
    Ok(plan_entities(
        at,
        &before,
        Described { entities, edges: &edges, for_dm: BTreeSet::new(), source },
    )
    .await?)
}

/// Entities and relations as files describe them.
pub struct Described<'a> {
    /// Ids are unique.
    pub entities: Vec<Entity>,
    /// Relations between them and to stored ones.
    pub edges: &'a [Edge],
    /// Ids whose relations only the game master sees.
    pub for_dm: BTreeSet<String>,
    /// Prefix of their sources.
    pub source: &'a str,
}

/// Plans the changes after which the store, which holds `before` by id, holds `described` too.
pub async fn plan_entities(
    at: Scoped<'_>,
    before: &BTreeMap<&str, &Entity>,
    described: Described<'_>,
) -> Result<Plan, Error> {
    let (store, scope) = (at.store, at.scope);
    let Described { entities, edges, for_dm, source } = described;
    let mut plan = Plan {
        changes: Vec::new(),
        entities: entities.len(),
        relations: edges.len(),
        added: 0,
        changed: 0,
        removed: 0,
    };
    let (mut put, mut own) = (Vec::new(), BTreeSet::new());
    for entity in entities {
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
    let ends = edges.iter().map(|it| it.from.as_str());
    let old = own.iter().map(String::as_str).chain(ends).filter(|id| before.contains_key(id));
    let old: BTreeSet<&str> = old.collect();
    // One by one, thousands of entities would take minutes.
    let mut ties =
        if old.is_empty() { Vec::new() } else { store.relations(scope, Viewer::Dm).await? };
    ties.retain(|it| [&it.key.from, &it.key.to].into_iter().any(|end| old.contains(end.as_str())));
    tie(&mut plan, edges, &Ties { before: &ties, own: &own, for_dm: &for_dm, source });
    Ok(plan)
}

/// The existing relations.
struct Ties<'a> {
    before: &'a [Relation],
    /// Ids of the files' own entities, whose relations the files define.
    own: &'a BTreeSet<String>,
    for_dm: &'a BTreeSet<String>,
    /// Source of the files' relations.
    source: &'a str,
}

/// Adds missing relations, and removes those that the entities' files no longer name.
fn tie(plan: &mut Plan, edges: &[Edge], of: &Ties<'_>) {
    let Ties { before, own, for_dm, source } = *of;
    let same = |it: &RelationKey| (it.from.clone(), it.kind.to_lowercase(), it.to.clone());
    let there: BTreeMap<_, _> = before.iter().map(|it| (same(&it.key), it)).collect();
    let mut wanted = BTreeSet::new();
    for edge in edges {
        let Edge { from, kind, to, said_by } = edge.clone();
        let is_for_dm = for_dm.contains(&from) || for_dm.contains(&to);
        let visibility = if is_for_dm { Visibility::Dm } else { Visibility::Everyone };
        let mut key = RelationKey { from, kind, to };
        wanted.insert(same(&key));
        match there.get(&same(&key)) {
            None => plan.added += 1,
            // Visibility is only narrowed: an open relation shows nothing of a hidden end anyway.
            Some(old) if is_for_dm && old.visibility != visibility => {
                if said_by_file(old, source).is_none() {
                    continue;
                }
                plan.changed += 1;
                // Another spelling would be another relation beside the open one.
                key = old.key.clone();
            }
            Some(_) => continue,
        }
        plan.changes.push(Change::Tie(Relation {
            key,
            attributes: [(SAID_BY.to_owned(), Value::String(format!("{source}{said_by}")))].into(),
            visibility,
            provenance: Provenance { confidence: 1.0, ..Provenance::default() },
        }));
    }
    let mut gone = BTreeSet::new();
    for relation in before {
        let is_ours = said_by_file(relation, source).is_some_and(|id| own.contains(id));
        if is_ours && !wanted.contains(&same(&relation.key)) && gone.insert(same(&relation.key)) {
            plan.removed += 1;
            plan.changes.push(Change::Untie(relation.key.clone()));
        }
    }
}

/// Id of the entity whose file entry has `relation`, if files of `source` do.
fn said_by_file<'a>(relation: &'a Relation, source: &str) -> Option<&'a str> {
    relation.attributes.get(SAID_BY).and_then(Value::as_str)?.strip_prefix(source)
}

/// Reports entities that the configured campaign file would overwrite at the next start.
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
                let message = format!("{name} is described differently in the campaign file");
                found.add(entity.at, message, "change it there, or give this one another 'id'");
            }
        }
        problems.extend(found.into_vec());
    }
    problems
}

/// True if equal, ignoring a new source for an entity of the campaign file.
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
