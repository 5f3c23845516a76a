//! The campaign file of a configuration.

use super::reading::Notes;
use crate::{
    domain::{Campaign, Npc, Player, Scene},
    import::campaign::{self as import, World},
    logic::music::Library,
    yaml::{Fields, Node, Value, nearest, quoted},
};

/// Most moods in a warning.
const MOODS_SHOWN: usize = 30;

#[derive(Clone, Copy)]
pub struct Nameable<'a> {
    /// `None`: some of the cast is unreadable, so no name counts as unknown.
    pub cast: Option<&'a [Npc]>,
    /// NPCs that may have been in the cast until now.
    pub left: &'a [Npc],
    /// Tracks for scenes.
    pub music: &'a Library,
}

/// The campaign and its world in the checked `node`. Scenes name NPCs of the cast.
pub fn campaign(node: &Node, known: Nameable<'_>, notes: &mut Notes) -> (Campaign, World) {
    let file = Fields::new(node, &import::FILE);
    let all = known.cast.map(|cast| [cast, known.left].concat());
    let world = import::world(node, all.as_deref(), &mut notes.problems);
    for problem in import::link(std::slice::from_ref(&world), &[]).err().into_iter().flatten() {
        notes.problems.add(problem.at, problem.message, problem.way_out);
    }
    let scenes = mappings(&file, "scenes").map(|node| scene(node, known, notes));
    let campaign = Campaign {
        name: world.name.clone(),
        description: world.description.clone(),
        system: world.system.clone(),
        scenes: scenes.collect(),
        lines_and_veils: Vec::new(),
        cast: Vec::new(),
        entities: world.entities.iter().map(|it| it.entity.clone()).collect(),
        players: mappings(&file, "players").map(player).collect(),
    };
    (campaign, world)
}

/// A scene, with the full names of its NPCs.
fn scene(node: &Node, Nameable { cast, left, music }: Nameable<'_>, notes: &mut Notes) -> Scene {
    let fields = Fields::new(node, &import::SCENE);
    let words = fields.text("music").map(|words| words.trim().to_owned());
    if let Some(words) = words.as_deref().filter(|words| music.find(words).is_empty()) {
        let message = format!("the scene's music {} fits no track", quoted(words));
        let moods: Vec<_> = music.moods().into_iter().take(MOODS_SHOWN).collect();
        let way_out = format!("use a title or a mood ({})", moods.join(", "));
        notes.warnings.add(fields.place("music"), message, way_out);
    }
    let mut npcs = Vec::new();
    for node in fields.items("npcs") {
        let (Some(name), Some(cast)) = (node.text(), cast) else { continue };
        if let Some(npc) = cast.iter().find(|npc| npc.is_called(name)) {
            npcs.push(npc.name.clone());
            continue;
        }
        if left.iter().any(|npc| npc.is_called(name)) {
            let message = format!("the scene names {}, who is no longer in the cast", quoted(name));
            notes.warnings.add(node.at, message, "remove the name before the next start");
            continue;
        }
        let names: Vec<_> = cast.iter().map(|npc| npc.name.as_str()).collect();
        let known = cast.iter().flat_map(|npc| npc.aliases.iter()).map(String::as_str);
        let way_out = nearest(name, names.iter().copied().chain(known)).map_or_else(
            || format!("known: {}", names.join(", ")),
            |near| format!("did you mean '{near}'?"),
        );
        notes.problems.add(node.at, format!("unknown npc {}", quoted(name)), way_out);
    }
    Scene { name: fields.text("name").unwrap_or_default().trim().to_owned(), npcs, music: words }
}

fn mappings<'a>(fields: &Fields<'a>, key: &str) -> impl Iterator<Item = &'a Node> {
    fields.items(key).iter().filter(|node| matches!(node.value, Value::Map(_)))
}

fn player(node: &Node) -> Player {
    let fields = Fields::new(node, &import::PLAYER);
    let text = |key| fields.text(key).unwrap_or_default().trim().to_owned();
    Player { name: text("name"), character: text("character") }
}
