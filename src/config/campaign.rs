//! A campaign file.

use std::collections::BTreeMap;

use super::{cast::fold, keys, npc::check_respelling, reading::Notes};
use crate::{
    domain::{Campaign, Entity, EntityKind, Npc, Player, Scene},
    yaml::{Fields, Node, Problems, Value, nearest, quoted},
};

/// The campaign in `node`, which was checked. Scenes name NPCs of `cast`; `None`: some of the cast
/// could not be read, so that nobody is called unknown.
pub fn campaign(node: &Node, cast: Option<&[Npc]>, notes: &mut Notes) -> Campaign {
    let file = Fields::new(node, &keys::campaign::FILE);
    let about = file.map("campaign", &keys::campaign::CAMPAIGN);
    let text = |key| about.and_then(|it| it.text(key)).unwrap_or_default().trim().to_owned();
    let all = mappings(&file, "entities").map(|node| Fields::new(node, &keys::campaign::ENTITY));
    let all: Vec<_> = all.collect();
    check_references(&all, &mut notes.problems);
    let scenes = mappings(&file, "scenes").map(|node| scene(node, cast, &mut notes.problems));
    Campaign {
        name: text("name"),
        description: text("description"),
        system: text("system"),
        scenes: scenes.collect(),
        lines_and_veils: Vec::new(),
        entities: all.iter().filter_map(|fields| entity(fields, notes)).collect(),
        players: mappings(&file, "players").map(player).collect(),
    }
}

/// A scene, its NPCs by their full names.
fn scene(node: &Node, cast: Option<&[Npc]>, problems: &mut Problems) -> Scene {
    let fields = Fields::new(node, &keys::campaign::SCENE);
    let mut npcs = Vec::new();
    for node in fields.items("npcs") {
        let (Some(name), Some(cast)) = (node.text(), cast) else { continue };
        let called = |npc: &&Npc| {
            fold(&npc.name) == fold(name) || npc.aliases.iter().any(|it| fold(it) == fold(name))
        };
        if let Some(npc) = cast.iter().find(called) {
            npcs.push(npc.name.clone());
            continue;
        }
        let names: Vec<_> = cast.iter().map(|npc| npc.name.as_str()).collect();
        let known = cast.iter().flat_map(|npc| npc.aliases.iter()).map(String::as_str);
        let way_out = nearest(name, names.iter().copied().chain(known)).map_or_else(
            || format!("there are {}", names.join(", ")),
            |near| format!("did you mean '{near}'?"),
        );
        problems.add(node.at, format!("unknown npc {}", quoted(name)), way_out);
    }
    Scene { name: fields.text("name").unwrap_or_default().trim().to_owned(), npcs }
}

/// The mappings in a list.
fn mappings<'a>(fields: &Fields<'a>, key: &str) -> impl Iterator<Item = &'a Node> {
    fields.items(key).iter().filter(|node| matches!(node.value, Value::Map(_)))
}

/// An entity that has a name and a kind.
fn entity(fields: &Fields, notes: &mut Notes) -> Option<Entity> {
    let respelling = fields.text("pronunciation");
    if let Some(respelling) = respelling {
        check_respelling(respelling, fields.place("pronunciation"), &mut notes.problems);
    }
    let dm_only = match fields.get("visibility") {
        None => false,
        Some(node) if node.text().is_some() => node.text() == Some("dm"),
        Some(_) => {
            let message = "what only some npcs know is told to none yet";
            let way_out = "write it into their secret_knowledge";
            notes.warnings.add(fields.place("visibility"), message, way_out);
            true
        }
    };
    Some(Entity {
        kind: match fields.text("type")? {
            "npc" | "player" => EntityKind::Npc,
            "location" => EntityKind::Location,
            "item" => EntityKind::Item,
            "faction" => EntityKind::Faction,
            "quest" => EntityKind::Quest,
            "event" => EntityKind::Event,
            _ => EntityKind::Lore,
        },
        name: fields.text("name")?.trim().to_owned(),
        aliases: fields.texts("aliases"),
        description: fields.text("description").unwrap_or_default().trim().to_owned(),
        pronunciation: respelling.map(str::to_owned),
        dm_only,
    })
}

/// A player.
fn player(node: &Node) -> Player {
    let fields = Fields::new(node, &keys::campaign::PLAYER);
    let text = |key| fields.text(key).unwrap_or_default().trim().to_owned();
    Player { name: text("name"), character: text("character") }
}

/// Ids are unique, and relationships lead to entities of the file.
fn check_references(entities: &[Fields], problems: &mut Problems) {
    let mut lines = BTreeMap::new();
    for fields in entities {
        let Some(id) = fields.text("id") else { continue };
        if let Some(line) = lines.insert(id, fields.place("id").line) {
            let message = format!("id {} appears twice", quoted(id));
            problems.add(fields.place("id"), message, format!("it is already at line {line}"));
        }
    }
    let texts = |key| entities.iter().filter_map(move |fields| fields.text(key)).collect();
    let (ids, names): (Vec<&str>, Vec<&str>) = (texts("id"), texts("name"));
    for node in entities.iter().flat_map(|fields| mappings(fields, "relationships")) {
        let fields = Fields::new(node, &keys::campaign::RELATIONSHIP);
        match (fields.get("target"), fields.get("target_id")) {
            (None, None) if !fields.is_broken("target") && !fields.is_broken("target_id") => {
                let message = "a relationship without the other side";
                problems.add(fields.at(), message, "add 'target', a name, or 'target_id', an id");
            }
            (Some(_), Some(_)) => {
                let message = "a relationship has both 'target' and 'target_id'";
                problems.add(fields.at(), message, "remove one of them");
            }
            _ => {
                check_target(&fields, "target", &names, problems);
                check_target(&fields, "target_id", &ids, problems);
            }
        }
    }
}

/// Notes a target that is not in the file.
fn check_target(fields: &Fields, key: &str, known: &[&str], problems: &mut Problems) {
    let Some(target) = fields.text(key).filter(|target| !known.contains(target)) else { return };
    let way_out = nearest(target, known.iter().copied()).map_or_else(
        || "add it to the file's entities".to_owned(),
        |near| format!("did you mean '{near}'?"),
    );
    problems.add(fields.place(key), format!("unknown entity {}", quoted(target)), way_out);
}
