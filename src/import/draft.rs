//! What files of other programs hold, as values that nothing has been done with yet.
//!
//! Readers fill [`Drafts`]; the campaign decides what is new, writes NPC files and entities, and shows a preview.

use serde_json::{Map, Value};

use crate::domain::EntityKind;

/// Content of all files of one import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drafts {
    /// People who get seats.
    pub npcs: Vec<NpcDraft>,
    /// Everything else of the world.
    pub entities: Vec<EntityDraft>,
    /// What they are to each other.
    pub relations: Vec<RelationDraft>,
    /// Parts that have no place here.
    pub left_out: Vec<LeftOut>,
    /// Faults; any of them refuses the whole import.
    pub mistakes: Vec<Mistake>,
}

/// A person who gets a seat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NpcDraft {
    /// Identifies the document over imports: "foundry:actor:Jx2…", "card:Luna:5f2c…".
    pub source: String,
    /// File as the user named it, with the path inside an archive after "!".
    pub file: String,
    /// One line, without controls and bidirectional marks.
    pub name: String,
    /// Shorter names that players say.
    pub aliases: Vec<String>,
    /// Who they are, in the order of the prompt.
    pub personality: Vec<Passage>,
    /// What they know and may tell.
    pub knowledge: Vec<Passage>,
    /// Only for the game master, unless the import says that the NPC knows it.
    pub secrets: Vec<Passage>,
    /// Shown to the game master, never in a prompt: instructions to models, notes of the author.
    pub for_dm: Vec<Passage>,
    /// What they say when a scene begins or somebody greets them.
    pub greetings: Vec<String>,
    /// Example lines.
    pub examples: Vec<Exchange>,
    /// BCP 47, if the file says it.
    pub language: Option<String>,
    /// Gender, age and kind as the file names them, for choosing a voice.
    pub looks: Vec<String>,
    /// Words to find them by.
    pub tags: Vec<String>,
    /// The original document, for export.
    pub original: Map<String, Value>,
}

/// A person, place, thing or text of the world, without a seat.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityDraft {
    /// As of an [`NpcDraft`].
    pub source: String,
    /// As of an [`NpcDraft`].
    pub file: String,
    /// What it is.
    pub kind: EntityKind,
    /// One line, without controls and bidirectional marks.
    pub name: String,
    /// Other names for it.
    pub aliases: Vec<String>,
    /// What everyone may know, unless `dm_only`.
    pub text: Vec<Passage>,
    /// Becomes an entity of its own that only the game master sees.
    pub secrets: Vec<Passage>,
    /// Known to the game master alone.
    pub dm_only: bool,
    /// Always in the prompt of the NPCs that came with it (a lorebook's `constant`).
    pub is_standing: bool,
    /// Sources of the NPCs that know it; empty: everyone.
    pub known_to: Vec<String>,
    /// Facts by name.
    pub properties: Vec<(String, String)>,
    /// Words to find it by.
    pub tags: Vec<String>,
}

/// A relation between two drafts, or a draft and an entity that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationDraft {
    /// Source of the draft that names it.
    pub from: String,
    /// The other side.
    pub to: RelationTarget,
    /// "works for", "mentions".
    pub kind: String,
}

/// The other side of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelationTarget {
    /// A draft, by its source.
    Source(String),
    /// A draft or an entity that exists, by its name.
    Name(String),
}

/// Text with where it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// Place inside the file: "personality", "system.details.biography.value".
    pub from: String,
    /// Plain text, lines by `\n`.
    pub text: String,
}

/// Example lines: what a player says, and the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The player's line; may be empty.
    pub player: String,
    /// The answer.
    pub npc: String,
}

/// Parts that were not used, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// As of an [`NpcDraft`].
    pub file: String,
    /// "3 scenes", "pictures".
    pub what: String,
    /// The reason.
    pub why: String,
}

/// A fault of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// As of an [`NpcDraft`].
    pub file: String,
    /// Place inside it: "actors/3/system.details"; empty: the whole file.
    pub place: String,
    /// The fault, in lower case.
    pub message: String,
    /// The fix; may be empty.
    pub way_out: String,
}
