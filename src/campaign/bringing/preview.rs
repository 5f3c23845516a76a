//! What an import would do, for the game master to read before it is done.
//!
//! Entry type: [`Preview`].

use serde::Serialize;

use crate::import::draft::LeftOut;

/// What an import would do, or has done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// NPCs and entities that are new.
    pub added: Vec<Item>,
    /// Those that are there, but not so.
    pub changed: Vec<Item>,
    /// Those that are left alone, each with the reason.
    pub kept: Vec<Item>,
    /// Texts that only the game master sees.
    pub for_dm: Vec<Item>,
    /// Parts of the files that have no place here.
    pub left_out: Vec<Left>,
    /// Number of those that are there already, exactly so.
    pub unchanged: usize,
    /// New, changed and removed relations.
    pub relations: usize,
}

/// A person or thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Item {
    /// "npc", "location".
    pub kind: String,
    /// Its name.
    pub name: String,
    /// More about it: the file and the voice, or a reason; may be empty.
    pub about: String,
}

/// Parts of a file that have no place here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Left {
    /// The file they are in.
    pub file: String,
    /// What they are.
    pub what: String,
    /// The reason.
    pub why: String,
}

impl Item {
    /// A person or thing with more about it.
    pub fn new(kind: &str, name: &str, about: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), name: name.to_owned(), about: about.into() }
    }
}

impl From<&LeftOut> for Left {
    fn from(of: &LeftOut) -> Self {
        let LeftOut { file, what, why } = of.clone();
        Self { file, what, why }
    }
}

impl Preview {
    /// Lines for people: what is new, what has changed, what is left alone, what only they see, and what is
    /// left out.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let items = [
            ("new", &self.added),
            ("changed", &self.changed),
            ("kept as it is", &self.kept),
            ("only for you", &self.for_dm),
        ];
        for (word, items) in items {
            for Item { kind, name, about } in items {
                let about = if about.is_empty() { String::new() } else { format!(" ({about})") };
                lines.push(format!("{word}: {kind} '{name}'{about}"));
            }
        }
        for Left { file, what, why } in &self.left_out {
            lines.push(format!("left out: {what} of {file} ({why})"));
        }
        lines
    }

    /// The counts in one line.
    pub fn summary(&self) -> String {
        format!(
            "{} new, {} changed, {} unchanged, {} kept as they are; {} relations",
            self.added.len(),
            self.changed.len(),
            self.unchanged,
            self.kept.len(),
            self.relations
        )
    }
}
