//! Campaign files: entities of a world and their relations.
//!
//! Entry functions: [`campaign_file`] (bytes), [`world()`] (a checked tree), [`link()`] (relations
//! over several files). **Never**: guesses the meaning of an ambiguous name.

mod entities;
mod keys;
mod link;
#[cfg(test)]
mod tests;

pub use self::{
    entities::{KnownEntity, Relationship, Target, World, WorldEntity},
    keys::{FILE, PLAYER, SCENE},
    link::{Edge, link},
};
use crate::{
    domain::{Entity, EntityKind, Npc, bare_name},
    yaml::{self, Fields, Kind, Node, Position, Problem, Problems, Value, nearest, quoted},
};

/// Largest file, in bytes.
pub const BYTES_MAX: usize = 10 * 1024 * 1024;
/// Keys that only the file of an NPC has beside `name`.
const NPC: [&str; 4] = ["lines", "personality", "secret_knowledge", "voice"];

/// The world in `bytes`, the content of `file`, and its problems. NPCs that may know of an entity
/// are those of `cast` and of the file. `None`: invalid YAML, or the file of an NPC.
pub fn campaign_file(file: &str, bytes: Vec<u8>, cast: &[Npc]) -> (Option<World>, Vec<Problem>) {
    let mut problems = Problems::new(file);
    let mut found = None;
    if bytes.len() > BYTES_MAX {
        problems.add(Position::START, "larger than 10 MiB", "is this the right file?");
    } else if let Some(mut node) = parsed(bytes, &mut problems) {
        if is_npc(|key| node.inside(&[key]).is_some()) {
            let way_out = "put it into the folder of NPCs, npc_dir";
            problems.add(node.at, "this is the file of an NPC, not of a campaign", way_out);
            return (None, problems.into_vec());
        }
        yaml::check(&mut node, "", &Kind::Shape(&FILE), &mut problems);
        found = Some(world(&node, Some(cast), &mut problems));
    }
    (found, problems.into_vec())
}

/// True for the file of an NPC, by the keys that it `has`.
pub fn is_npc(has: impl Fn(&str) -> bool) -> bool {
    has("name") && NPC.iter().any(|key| has(key))
}

fn parsed(bytes: Vec<u8>, problems: &mut Problems) -> Option<Node> {
    match yaml::text(bytes) {
        Ok(text) => yaml::parse(&text, problems),
        Err(at) => {
            problems.add(at, "not UTF-8 text from here on", "save it as UTF-8");
            None
        }
    }
}

/// The world in `node`, which was checked against [`FILE`]. `visibility` may name NPCs of `cast`
/// and of the file; `None`: the cast is partly unreadable, so no name counts as unknown.
pub fn world(node: &Node, cast: Option<&[Npc]>, problems: &mut Problems) -> World {
    let file = Fields::new(node, &FILE);
    let about = file.map("campaign", &keys::CAMPAIGN);
    let text = |key| about.and_then(|it| it.text(key)).unwrap_or_default().trim().to_owned();
    let (mut read, mut half_read) = (Vec::new(), Vec::new());
    for node in mappings(&file, "entities") {
        let fields = Fields::new(node, &keys::ENTITY);
        match entity(&fields, problems) {
            Some(entity) => read.push((fields, entity)),
            None => half_read.extend(named(&fields)),
        }
    }
    let people: Vec<(String, String)> = read
        .iter()
        .filter(|(_, it)| it.entity.kind == EntityKind::Npc)
        .flat_map(|(_, it)| {
            let called = std::iter::once(&it.entity.name).chain(&it.entity.aliases);
            called.chain([&it.id]).map(|name| (bare_name(name), it.entity.name.clone()))
        })
        .collect();
    for (fields, found) in &mut read {
        found.entity.known_to = known_to(fields, cast, &people, problems);
    }
    let unused = ["players", "scenes"].into_iter().filter(|key| file.get(key).is_some());
    World {
        file: problems.file().to_string(),
        name: text("name"),
        description: text("description"),
        system: text("system"),
        entities: read.into_iter().map(|(_, entity)| entity).collect(),
        half_read,
        unused: unused.collect(),
    }
}

/// Id and names of an invalid entity; others may be related to it.
fn named(fields: &Fields) -> Option<KnownEntity> {
    let name = fields.text("name").unwrap_or_default().trim();
    let id = fields.text("id").map_or_else(|| hyphened(name), |id| id.trim().to_owned());
    let mut names = fields.texts("aliases");
    names.push(name.to_owned());
    (!id.is_empty()).then_some(KnownEntity { id, names })
}

/// Letters and digits in lower case, with a hyphen for anything between them.
pub fn hyphened(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c } else { ' ' };
    let words: String = name.chars().map(plain).collect();
    words.split_whitespace().collect::<Vec<_>>().join("-").to_lowercase()
}

fn mappings<'a>(fields: &Fields<'a>, key: &str) -> impl Iterator<Item = &'a Node> {
    fields.items(key).iter().filter(|node| matches!(node.value, Value::Map(_)))
}

/// An entity with a name and a type; its visibility is added later.
fn entity(fields: &Fields, problems: &mut Problems) -> Option<WorldEntity> {
    let respelling = fields.text("pronunciation");
    if let Some(respelling) = respelling {
        check_respelling(respelling, fields.place("pronunciation"), problems);
    }
    let name = fields.text("name")?.trim();
    let kind = kind(fields.text("type")?)?;
    let id = fields.text("id").map_or_else(|| hyphened(name), |id| id.trim().to_owned());
    if id.is_empty() {
        let message = format!("the name {} cannot be turned into an id", quoted(name));
        problems.add(fields.place("name"), message, "give it an 'id'");
    }
    let properties = fields.get("properties").map(Node::entries).unwrap_or_default();
    let properties =
        properties.iter().filter_map(|it| Some((it.key.clone(), it.node.text()?.to_owned())));
    let visibility = fields.get("visibility");
    let relationships = mappings(fields, "relationships");
    Some(WorldEntity {
        id,
        at: fields.at(),
        entity: Entity {
            kind,
            name: name.to_owned(),
            aliases: fields.texts("aliases"),
            description: fields.text("description").unwrap_or_default().trim().to_owned(),
            pronunciation: respelling.map(str::to_owned),
            dm_only: visibility.is_some_and(|node| node.text() != Some("all")),
            known_to: Vec::new(),
        },
        properties: properties.collect(),
        tags: fields.texts("tags"),
        relationships: relationships.filter_map(|node| relationship(node, problems)).collect(),
    })
}

pub fn kind(word: &str) -> Option<EntityKind> {
    Some(match word {
        "npc" => EntityKind::Npc,
        "player" => EntityKind::Player,
        "location" => EntityKind::Location,
        "item" => EntityKind::Item,
        "faction" => EntityKind::Faction,
        "event" => EntityKind::Event,
        "quest" => EntityKind::Quest,
        "concept" => EntityKind::Concept,
        "lore" => EntityKind::Lore,
        _ => return None,
    })
}

fn relationship(node: &Node, problems: &mut Problems) -> Option<Relationship> {
    let fields = Fields::new(node, &keys::RELATIONSHIP);
    let (name, id) = (fields.text("target"), fields.text("target_id"));
    let (target, key) = match (name, id) {
        (None, None) => {
            if !fields.is_broken("target") && !fields.is_broken("target_id") {
                let message = "a relationship needs a target";
                problems.add(fields.at(), message, "add 'target', a name, or 'target_id', an id");
            }
            return None;
        }
        (Some(_), Some(_)) => {
            let message = "a relationship has both 'target' and 'target_id'";
            problems.add(fields.at(), message, "remove one of them");
            return None;
        }
        (Some(name), None) => (Target::Name(name.trim().to_owned()), "target"),
        (None, Some(id)) => (Target::Id(id.trim().to_owned()), "target_id"),
    };
    Some(Relationship {
        target,
        at: fields.place(key),
        kind: fields.text("type")?.trim().to_owned(),
        bidirectional: fields.flag("bidirectional").unwrap_or_default(),
    })
}

/// Full names of the NPCs in `visibility`. `people`: names of the file's NPCs -> full names.
fn known_to(
    fields: &Fields,
    cast: Option<&[Npc]>,
    people: &[(String, String)],
    problems: &mut Problems,
) -> Vec<String> {
    let Some(Node { value: Value::List(listed), .. }) = fields.get("visibility") else {
        return Vec::new();
    };
    let npcs = cast.unwrap_or_default();
    let full = |name: &str| npcs.iter().find(|npc| npc.is_called(name)).map(|npc| npc.name.clone());
    let mut known_to = Vec::new();
    for node in listed {
        let Some(name) = node.text() else { continue };
        let own =
            people.iter().find(|(called, _)| *called == bare_name(name)).map(|(_, name)| name);
        // An NPC of the file may be in the cast under another of its names.
        let found = full(name).or_else(|| own.map(|own| full(own).unwrap_or_else(|| own.clone())));
        match found {
            Some(name) => known_to.push(name),
            None if cast.is_none() => {}
            None => {
                let cast = npcs.iter().map(|npc| npc.name.as_str());
                let all = cast.chain(people.iter().map(|(called, _)| called.as_str()));
                let way_out = nearest(name, all).map_or_else(
                    || {
                        "name an npc of the cast or of this file, or write visibility: dm"
                            .to_owned()
                    },
                    |near| format!("did you mean '{near}'?"),
                );
                problems.add(node.at, format!("unknown npc {}", quoted(name)), way_out);
            }
        }
    }
    known_to
}

/// Reports a respelling that cannot be read aloud.
pub fn check_respelling(text: &str, at: Position, problems: &mut Problems) {
    let plain = |char: char| char.is_alphabetic() || " -'".contains(char);
    if !text.chars().all(plain) || !text.contains(char::is_alphabetic) {
        let message = format!("respelling {} cannot be read aloud", quoted(text));
        problems.add(at, message, "use plain letters and blanks, such as gray mantle");
    }
}
