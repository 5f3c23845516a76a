//! Kind of a note, by its `type:`, its tags and its folders; English and German.
//!
//! Entry functions: [`kind`], [`skipped`].

use super::{
    inline::stem,
    words::{is_doubtful_title, is_secret_title, words},
};
use crate::domain::EntityKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub entity: EntityKind,
    /// The game master marked it as an NPC.
    pub is_npc: bool,
}

/// Words -> kinds.
const KINDS: &[(EntityKind, &[&str])] = &[
    (
        EntityKind::Npc,
        &[
            "character",
            "characters",
            "charakter",
            "charaktere",
            "figur",
            "figuren",
            "people",
            "person",
            "personen",
            "persons",
        ],
    ),
    (
        EntityKind::Player,
        &[
            "held",
            "helden",
            "heroes",
            "party",
            "pc",
            "pcs",
            "player",
            "players",
            "sc",
            "scs",
            "spieler",
            "spielercharakter",
            "spielercharaktere",
        ],
    ),
    (
        EntityKind::Location,
        &[
            "building",
            "buildings",
            "cities",
            "city",
            "continent",
            "continents",
            "countries",
            "country",
            "dorf",
            "dungeon",
            "dungeons",
            "dörfer",
            "gebäude",
            "geography",
            "land",
            "länder",
            "location",
            "locations",
            "ort",
            "orte",
            "place",
            "places",
            "region",
            "regionen",
            "regions",
            "schauplatz",
            "schauplätze",
            "settlement",
            "settlements",
            "shop",
            "shops",
            "stadt",
            "städte",
            "tavern",
            "taverns",
            "town",
            "towns",
            "village",
            "villages",
        ],
    ),
    (
        EntityKind::Item,
        &[
            "artefakt",
            "artefakte",
            "artifact",
            "artifacts",
            "equipment",
            "gegenstand",
            "gegenstände",
            "item",
            "items",
            "loot",
            "object",
            "objects",
            "treasure",
            "treasures",
            "weapon",
            "weapons",
        ],
    ),
    (
        EntityKind::Faction,
        &[
            "faction",
            "factions",
            "fraktion",
            "fraktionen",
            "gilde",
            "gilden",
            "group",
            "groups",
            "gruppe",
            "gruppen",
            "gruppierung",
            "gruppierungen",
            "guild",
            "guilds",
            "organisation",
            "organisationen",
            "organisations",
            "organization",
            "organizations",
        ],
    ),
    (
        EntityKind::Quest,
        &[
            "adventure",
            "adventures",
            "aufgabe",
            "aufgaben",
            "auftrag",
            "aufträge",
            "mission",
            "missions",
            "quest",
            "quests",
        ],
    ),
    (
        EntityKind::Event,
        &[
            "ereignis",
            "ereignisse",
            "event",
            "events",
            "session",
            "sessions",
            "sitzung",
            "sitzungen",
            "timeline",
        ],
    ),
    (
        EntityKind::Concept,
        &[
            "concept",
            "concepts",
            "deities",
            "deity",
            "god",
            "gods",
            "gott",
            "gottheit",
            "gottheiten",
            "götter",
            "konzept",
            "konzepte",
            "law",
            "laws",
            "magic",
            "magie",
            "religion",
            "religionen",
            "religions",
        ],
    ),
    (EntityKind::Lore, &["history", "geschichte", "lore", "legend", "legends", "sagen"]),
];
/// Words that mark a person who gets a seat.
const NPCS: &[&str] =
    &["npc", "npcs", "nichtspielercharakter", "nichtspielercharaktere", "nsc", "nscs"];
/// Titles of notes that list others.
const INDEXES: &[&str] = &[
    "home",
    "index",
    "list",
    "liste",
    "moc",
    "npc",
    "npcs",
    "nsc",
    "nscs",
    "overview",
    "readme",
    "übersicht",
];
/// Folders and titles of notes without content.
const TEMPLATES: &[&str] = &["template", "templates", "vorlage", "vorlagen"];

/// Where a note's kind may be said.
#[derive(Debug, Default)]
pub struct Marks<'a> {
    /// Values of the front matter's `type:` and its like.
    pub types: Vec<&'a str>,
    /// Tags without their `#`.
    pub tags: Vec<&'a str>,
    pub path: &'a str,
}

/// The kind that `marks` say: `type:`, else a tag of one word, else the nearest folder, else the first
/// part of a tag with several.
pub fn kind(marks: &Marks<'_>) -> Option<Kind> {
    let by_type = marks.types.iter().find_map(|it| named(it));
    let one_word = |tag: &&&str| !tag.contains('/') || typed(tag).is_some();
    let by_tag = || {
        let tags = marks.tags.iter().filter(one_word);
        tags.filter_map(|tag| named(typed(tag).unwrap_or(tag))).max_by_key(|it| it.is_npc)
    };
    let by_folder = || {
        let found = folders(marks.path).rev().find_map(named)?;
        let is_npc = found.is_npc && !lists_others(marks.path);
        let entity = if is_npc || !found.is_npc { found.entity } else { EntityKind::Lore };
        Some(Kind { entity, is_npc })
    };
    let by_part = || marks.tags.iter().find_map(|tag| named(tag.split('/').next()?));
    by_type.or_else(by_tag).or_else(by_folder).or_else(by_part)
}

/// The last part of a tag such as "type/npc".
fn typed(tag: &str) -> Option<&str> {
    let (first, rest) = tag.split_once('/')?;
    let is_type = ["art", "category", "kategorie", "kind", "typ", "type"].contains(&first);
    is_type.then_some(rest)
}

/// Folders of `path`, the outermost first.
fn folders(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    let end = path.rfind(['/', '\\']).unwrap_or(0);
    path.get(..end).unwrap_or_default().split(['/', '\\'])
}

/// True for the note of a folder, or of an index.
fn lists_others(path: &str) -> bool {
    let stem = stem(path);
    let is_folders = folders(path).next_back().is_some_and(|it| it.eq_ignore_ascii_case(stem));
    is_folders || words(stem).iter().all(|it| INDEXES.contains(&it.as_str()))
}

/// The kind that a word or a few name; the last of them counts, as in "Important NPCs".
fn named(text: &str) -> Option<Kind> {
    let words = words(text);
    let has = |all: &[&str]| words.iter().any(|it| all.contains(&it.as_str()));
    let is_player = has(&["player", "spieler"]);
    if is_player && has(&["non", "nicht"]) {
        return Some(Kind { entity: EntityKind::Npc, is_npc: true });
    }
    if is_player {
        return Some(Kind { entity: EntityKind::Player, is_npc: false });
    }
    words.iter().rev().find_map(|word| {
        if NPCS.contains(&word.as_str()) {
            return Some(Kind { entity: EntityKind::Npc, is_npc: true });
        }
        let found = KINDS.iter().find(|(_, all)| all.contains(&word.as_str()));
        found.map(|(entity, _)| Kind { entity: *entity, is_npc: false })
    })
}

/// True if a folder or the name of the file marks the whole note as the game master's. A doubtful name of a
/// file does not count if the note `is_parted`: it has open and secret parts of its own.
pub fn is_secret_path(path: &str, is_parted: bool) -> bool {
    let by_name = is_secret_title(stem(path)) && !(is_parted && is_doubtful_title(stem(path)));
    folders(path).any(is_secret_title) || by_name
}

/// Files that are no content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// Of Obsidian itself, or deleted.
    Hidden,
    Template,
}

pub fn skipped(path: &str) -> Option<Skipped> {
    let is_template = |name: &str| words(name).iter().any(|it| TEMPLATES.contains(&it.as_str()));
    let mut parts = path.split(['/', '\\']).filter(|it| !matches!(*it, "." | ".."));
    if parts.any(|it| it.starts_with('.') || it == "__MACOSX") {
        return Some(Skipped::Hidden);
    }
    let found = folders(path).any(is_template) || is_template(stem(path));
    found.then_some(Skipped::Template)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npc(types: &[&str], tags: &[&str], path: &str) -> Option<(EntityKind, bool)> {
        let marks = Marks { types: types.to_vec(), tags: tags.to_vec(), path };
        kind(&marks).map(|it| (it.entity, it.is_npc))
    }

    #[test]
    fn seat_needs_a_mark_as_npc() {
        let seat = Some((EntityKind::Npc, true));
        assert_eq!(npc(&[], &[], "03-WORLD/npcs/holya.md"), seat);
        assert_eq!(npc(&["[[NSC]]"], &[], "orte/x.md"), seat);
        assert_eq!(npc(&[], &["location/mire", "npc"], "x.md"), seat);
        assert_eq!(npc(&[], &["type/npc"], "locations/x.md"), seat);
        assert_eq!(npc(&[], &["npc/ally"], "x.md"), seat);
        assert_eq!(npc(&[], &[], "Non-Player Characters/x.md"), seat);
        assert_eq!(npc(&["character"], &[], "x.md"), Some((EntityKind::Npc, false)));
        assert_eq!(npc(&[], &[], "Player Characters/x.md"), Some((EntityKind::Player, false)));
        assert_eq!(npc(&[], &["npc/holya"], "Orte/x.md"), Some((EntityKind::Location, false)));
        assert_eq!(npc(&[], &[], "npcs/NPCs.md"), Some((EntityKind::Lore, false)));
        assert_eq!(npc(&[], &[], "x.md"), None);
    }

    #[test]
    fn files_of_the_program_are_no_content() {
        assert_eq!(skipped("v/.obsidian/x.md"), Some(Skipped::Hidden));
        assert_eq!(skipped("Vorlagen/NSC.md"), Some(Skipped::Template));
        assert_eq!(skipped("NPC Template.md"), Some(Skipped::Template));
        assert_eq!(skipped("./npcs/Contemplate.md"), None);
        let is_secret = |path: &str| is_secret_path(path, false);
        assert!(is_secret("GM/x.md") && !is_secret("Secret Garden/x.md"));
        assert!(is_secret("old_gm_sheet.md") && !is_secret_path("old_gm_sheet.md", true));
        assert!(is_secret_path("Vex (DM only).md", true) && is_secret_path("GM/x.md", true));
    }
}
