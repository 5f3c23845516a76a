//! Keys of campaign files.

use crate::yaml::{Key, Kind, Shape};

const TEXTS: Kind = Kind::List(&Kind::Filled);

pub static FILE: Shape = Shape {
    title: "A Glyphoxa campaign",
    keys: &[
        Key::new("campaign", Kind::Shape(&CAMPAIGN), "The campaign itself."),
        Key::new(
            "entities",
            Kind::List(&Kind::Shape(&ENTITY)),
            "People, places, things and quests of the campaign.",
        ),
        Key::new("players", Kind::List(&Kind::Shape(&PLAYER)), "Players and their characters."),
        Key::new(
            "scenes",
            Kind::List(&Kind::Shape(&SCENE)),
            "Scenes and the NPCs present in each; a session starts in the first. Without scenes \
             every NPC is always present.",
        ),
    ],
};

pub static CAMPAIGN: Shape = Shape {
    title: "A campaign",
    keys: &[
        Key::required("name", Kind::Filled, "Its name."),
        Key::new("description", Kind::Text, "Its premise."),
        Key::new("system", Kind::Text, "The rules you play by (\"D&D 5e\")."),
    ],
};

const TYPES: &[&str] =
    &["npc", "player", "location", "item", "faction", "event", "quest", "concept", "lore"];

pub static SCENE: Shape = Shape {
    title: "A scene",
    keys: &[
        Key::required("name", Kind::Filled, "Its name."),
        Key::new("npcs", TEXTS, "Names or aliases of the NPCs present."),
        Key::new(
            "music",
            Kind::Filled,
            "Music that plays when the scene begins: a title, a mood, or a few words.",
        ),
    ],
};

pub static ENTITY: Shape = Shape {
    title: "An entity",
    keys: &[
        Key::new(
            "id",
            Kind::Filled,
            "Its id, which identifies it in later imports; unique in the file. Default: its name \
             in lower case with hyphens.",
        ),
        Key::required("name", Kind::Filled, "Its name."),
        Key::required("type", Kind::Word(TYPES), "Its kind."),
        Key::new("description", Kind::Text, "Description that everyone at the table may know."),
        Key::new("aliases", TEXTS, "Other names for it."),
        Key::new("pronunciation", Kind::Filled, "Pronunciation of its name, in plain letters."),
        Key::new("tags", TEXTS, "Words to find it by."),
        Key::new("properties", Kind::Names(&Kind::Text), "Facts by name."),
        Key::new(
            "relationships",
            Kind::List(&Kind::Shape(&RELATIONSHIP)),
            "Its relationships to other entities.",
        ),
        Key::new(
            "visibility",
            Kind::Either(&[Kind::Word(&["all", "dm"]), TEXTS]),
            "NPCs that may know of it: all (the default), dm (no NPC), or names or ids of NPCs.",
        ),
    ],
};

pub static RELATIONSHIP: Shape = Shape {
    title: "A relationship",
    keys: &[
        Key::new(
            "target",
            Kind::Filled,
            "The other entity's name, in this file or imported before.",
        ),
        Key::new("target_id", Kind::Filled, "The other entity's id, instead of its name."),
        Key::required("type", Kind::Filled, "Kind of the relationship (\"rules\", \"fears\")."),
        Key::new("bidirectional", Kind::Flag, "Also holds in the other direction; default false."),
    ],
};

pub static PLAYER: Shape = Shape {
    title: "A player",
    keys: &[
        Key::required("name", Kind::Filled, "The person's name as the table uses it."),
        Key::required("character", Kind::Filled, "The character's name, which NPCs use."),
    ],
};
