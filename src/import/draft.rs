//! Content of other programs' files as plain values.
//!
//! Readers fill [`Drafts`]; `campaign/bringing/` compares them with the store and the NPC files.

use std::fmt;

use serde_json::Value;

use crate::domain::EntityKind;

/// Content of all files of one import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drafts {
    /// People with seats.
    pub npcs: Vec<NpcDraft>,
    pub entities: Vec<EntityDraft>,
    pub relations: Vec<RelationDraft>,
    pub left_out: Vec<LeftOut>,
    /// Faults; any of them refuses the whole import.
    pub mistakes: Vec<Mistake>,
}

/// A person with a seat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NpcDraft {
    /// Identifies the document over imports: "foundry:actor:Jx2…", "card:Luna:5f2c…".
    pub source: String,
    /// File as the user named it, with the path inside an archive after "!".
    pub file: String,
    /// One line, without controls and bidirectional marks.
    pub name: String,
    pub aliases: Vec<String>,
    /// In the order of the prompt.
    pub personality: Vec<Passage>,
    pub knowledge: Vec<Passage>,
    /// Only for the game master, unless the import says that the NPC knows it.
    pub secrets: Vec<Passage>,
    /// Shown to the game master, never in a prompt: instructions to models, notes of the author.
    pub for_dm: Vec<Passage>,
    /// Spoken words, without stage directions.
    pub greetings: Vec<String>,
    pub examples: Vec<Exchange>,
    /// BCP 47, if the file says it.
    pub language: Option<String>,
    /// Gender, age and kind as the file names them, for choosing a voice.
    pub looks: Vec<String>,
    pub tags: Vec<String>,
    /// Words of the name and how the file respells them; a blank word: the distinctive one of the name.
    pub pronunciation: Vec<(String, String)>,
    /// Settings of a card that was exported here beside the fields of all cards, at most 4 KiB as JSON.
    pub extension: Option<Value>,
}

/// A person, place, thing or text of the world, without a seat.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityDraft {
    pub source: String,
    pub file: String,
    pub kind: EntityKind,
    /// One line, without controls and bidirectional marks.
    pub name: String,
    pub aliases: Vec<String>,
    /// For everyone, unless `dm_only`.
    pub text: Vec<Passage>,
    /// Becomes a separate entity that only the game master sees.
    pub secrets: Vec<Passage>,
    pub dm_only: bool,
    /// Always in the prompt of the NPCs that came with it (a lorebook's `constant`).
    pub is_standing: bool,
    /// Sources of the NPCs that know it; empty: everyone.
    pub known_to: Vec<String>,
    pub properties: Vec<(String, String)>,
    pub tags: Vec<String>,
}

/// A relation between two drafts, or a draft and an entity that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationDraft {
    pub from: String,
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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passage {
    /// Place inside the file: "personality", "system.details.biography.value".
    pub from: String,
    /// Plain text, lines by `\n`.
    pub text: String,
}

/// A player's line and the spoken words of the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The player's line; may be empty.
    pub player: String,
    pub npc: String,
}

/// Parts that were not used, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub file: String,
    /// "3 scenes", "pictures".
    pub what: String,
    pub why: String,
}

/// A fault of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub file: String,
    /// Place inside it: "actors/3/system.details"; empty: the whole file.
    pub place: String,
    /// The fault, in lower case.
    pub message: String,
    /// The fix; may be empty.
    pub way_out: String,
}

/// "world!actors.json: actors/3: the fault (the fix)".
impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, place, message, way_out } = self;
        f.write_str(file)?;
        if !place.is_empty() {
            write!(f, ": {place}")?;
        }
        write!(f, ": {message}")?;
        if !way_out.is_empty() {
            write!(f, " ({way_out})")?;
        }
        Ok(())
    }
}
