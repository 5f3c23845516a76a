//! Keys of campaign files.

use crate::yaml::{Key, Kind, Shape};

/// A list of texts.
const TEXTS: Kind = Kind::List(&Kind::Filled);

/// A campaign file.
pub static FILE: Shape = Shape {
    title: "A Glyphoxa campaign",
    keys: &[
        Key::new("campaign", Kind::Shape(&CAMPAIGN), "What is played."),
        Key::new(
            "entities",
            Kind::List(&Kind::Shape(&ENTITY)),
            "People, places, things and quests whose names are known at the table.",
        ),
        Key::new("players", Kind::List(&Kind::Shape(&PLAYER)), "Who plays whom."),
        Key::new(
            "scenes",
            Kind::List(&Kind::Shape(&SCENE)),
            "Situations and who is present; a session starts in the first. None: everybody is \
             always present.",
        ),
    ],
};

/// What is played.
pub static CAMPAIGN: Shape = Shape {
    title: "A campaign",
    keys: &[
        Key::required("name", Kind::Filled, "Its name."),
        Key::new("description", Kind::Text, "What it is about."),
        Key::new("system", Kind::Text, "The rules played (\"D&D 5e\")."),
    ],
};

/// Words of an entity's `type`.
const TYPES: &[&str] =
    &["npc", "player", "location", "item", "faction", "event", "quest", "concept", "lore"];

/// A scene: where it is, when, and who is there.
pub static SCENE: Shape = Shape {
    title: "A scene",
    keys: &[
        Key::required("name", Kind::Filled, "Its name."),
        Key::new("npcs", TEXTS, "Names or aliases of the NPCs present."),
    ],
};

/// Something of the world with a name.
pub static ENTITY: Shape = Shape {
    title: "An entity",
    keys: &[
        Key::new(
            "id",
            Kind::Filled,
            "Its id, by which it stays itself when it is imported again; unique in the file. Default: \
             its name in lower case with hyphens.",
        ),
        Key::required("name", Kind::Filled, "Its name."),
        Key::required("type", Kind::Word(TYPES), "What kind of thing it is."),
        Key::new("description", Kind::Text, "What everyone at the table may know."),
        Key::new("aliases", TEXTS, "Other names for it."),
        Key::new("pronunciation", Kind::Filled, "How its name is said, in plain letters."),
        Key::new("tags", TEXTS, "Words to find it by."),
        Key::new("properties", Kind::Names(&Kind::Text), "Facts by name."),
        Key::new(
            "relationships",
            Kind::List(&Kind::Shape(&RELATIONSHIP)),
            "How it stands to other entities.",
        ),
        Key::new(
            "visibility",
            Kind::Either(&[Kind::Word(&["all", "dm"]), TEXTS]),
            "Who may know of it: all (the default), dm (no NPC), or names or ids of NPCs.",
        ),
    ],
};

/// How an entity stands to another.
pub static RELATIONSHIP: Shape = Shape {
    title: "A relationship",
    keys: &[
        Key::new(
            "target",
            Kind::Filled,
            "The other entity's name, in this file or imported before.",
        ),
        Key::new("target_id", Kind::Filled, "The other entity's id, instead of its name."),
        Key::required("type", Kind::Filled, "What it is to the other (\"rules\", \"fears\")."),
        Key::new("bidirectional", Kind::Flag, "Holds the other way round too; default false."),
    ],
};

/// A player and the character that is played.
pub static PLAYER: Shape = Shape {
    title: "A player",
    keys: &[
        Key::required("name", Kind::Filled, "The person's name as the table uses it."),
        Key::required("character", Kind::Filled, "The character's name, which NPCs use."),
    ],
};
