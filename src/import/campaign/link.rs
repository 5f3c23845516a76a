//! Relations between entities.

use std::collections::{BTreeMap, BTreeSet};

use super::entities::{KnownEntity, Relationship, Target, World, WorldEntity};
use crate::{
    domain::bare_name,
    yaml::{Position, Problem, Problems, nearest, quoted},
};

/// A directed relation between entity ids.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub from: String,
    pub kind: String,
    pub to: String,
    /// The entity whose file entry has it; the other end if it holds both ways.
    pub said_by: String,
}

/// Relations of the entities of `worlds`, to each other and to those `known`; two edges if in both
/// directions. Fails on duplicate ids and unknown targets.
pub fn link(worlds: &[World], known: &[KnownEntity]) -> Result<Vec<Edge>, Vec<Problem>> {
    let mut problems = Vec::new();
    check_ids(worlds, &mut problems);
    let ids = Ids::of(worlds, known);
    let mut edges = BTreeMap::new();
    for world in worlds {
        let mut found = Problems::new(world.file.as_str());
        for entity in &world.entities {
            for relationship in &entity.relationships {
                if let Some(to) = ids.find(relationship, &mut found) {
                    add(&mut edges, entity, relationship, &to);
                }
            }
        }
        problems.extend(found.into_vec());
    }
    if problems.is_empty() { Ok(edges.into_values().collect()) } else { Err(problems) }
}

/// Adds one or two edges; the first of two equal entries counts.
fn add(
    edges: &mut BTreeMap<(String, String, String), Edge>,
    entity: &WorldEntity,
    relationship: &Relationship,
    to: &str,
) {
    let mut put = |from: &str, to: &str| {
        let kind = relationship.kind.clone();
        let key = (from.to_owned(), kind.to_lowercase(), to.to_owned());
        edges.entry(key).or_insert_with(|| Edge {
            from: from.to_owned(),
            kind,
            to: to.to_owned(),
            said_by: entity.id.clone(),
        });
    };
    put(&entity.id, to);
    if relationship.bidirectional {
        put(to, &entity.id);
    }
}

fn check_ids(worlds: &[World], problems: &mut Vec<Problem>) {
    let mut places: BTreeMap<&str, (&str, Position)> = BTreeMap::new();
    for world in worlds {
        let mut found = Problems::new(world.file.as_str());
        for entity in &world.entities {
            let Some((file, at)) = places.get(entity.id.as_str()) else {
                places.insert(&entity.id, (&world.file, entity.at));
                continue;
            };
            let before = if *file == world.file { "" } else { file };
            let before = if before.is_empty() { "it".to_owned() } else { format!("{before}: it") };
            let message = format!("id {} appears twice", quoted(&entity.id));
            let way_out =
                format!("{before} is already at line {}; give each its own 'id'", at.line);
            found.add(entity.at, message, way_out);
        }
        problems.extend(found.into_vec());
    }
}

struct Ids<'a> {
    ids: BTreeSet<&'a str>,
    names: BTreeMap<String, BTreeSet<&'a str>>,
    /// Names as written.
    spelled: Vec<&'a str>,
}

impl<'a> Ids<'a> {
    fn of(worlds: &'a [World], known: &'a [KnownEntity]) -> Self {
        let (mut ids, mut names, mut spelled) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
        let mut add = |id: &'a str, called: &mut dyn Iterator<Item = &'a String>| {
            ids.insert(id);
            for name in called {
                spelled.push(name.as_str());
                names.entry(bare_name(name)).or_insert_with(BTreeSet::new).insert(id);
            }
        };
        for entity in worlds.iter().flat_map(|world| &world.entities) {
            let called = &entity.entity;
            add(&entity.id, &mut std::iter::once(&called.name).chain(&called.aliases));
        }
        let own: BTreeSet<&str> =
            worlds.iter().flat_map(|world| &world.entities).map(|it| it.id.as_str()).collect();
        for entity in worlds.iter().flat_map(|world| &world.half_read) {
            add(&entity.id, &mut entity.names.iter());
        }
        for entity in known.iter().filter(|it| !own.contains(it.id.as_str())) {
            add(&entity.id, &mut entity.names.iter());
        }
        Self { ids, names, spelled }
    }

    fn find(&self, relationship: &Relationship, problems: &mut Problems) -> Option<String> {
        let (asked, found): (_, Vec<&str>) = match &relationship.target {
            Target::Id(id) => (id, self.ids.get(id.as_str()).copied().into_iter().collect()),
            Target::Name(name) => {
                let found = self.names.get(&bare_name(name)).into_iter().flatten().copied();
                (name, found.collect())
            }
        };
        match found.as_slice() {
            [id] => return Some((*id).to_owned()),
            [] => {
                let near = match relationship.target {
                    Target::Id(_) => nearest(asked, self.ids.iter().copied()),
                    Target::Name(_) => nearest(asked, self.spelled.iter().copied()),
                };
                let way_out = near.map_or_else(
                    || "add it to the file's entities".to_owned(),
                    |near| format!("did you mean '{near}'?"),
                );
                let message = format!("unknown entity {}", quoted(asked));
                problems.add(relationship.at, message, way_out);
            }
            several => {
                let message = format!("{} entities are called {}", several.len(), quoted(asked));
                let way_out = format!("name one by target_id: {}", several.join(", "));
                problems.add(relationship.at, message, way_out);
            }
        }
        None
    }
}
