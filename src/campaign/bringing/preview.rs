//! Preview of an import for the game master.
//!
//! Entry type: [`Preview`].

use serde::Serialize;

use crate::import::draft::LeftOut;

/// Effects of an import, planned or done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Preview {
    pub added: Vec<Item>,
    /// Stored ones that differ.
    pub changed: Vec<Item>,
    /// Left as they are, each with the reason.
    pub kept: Vec<Item>,
    pub for_dm: Vec<Item>,
    pub left_out: Vec<Left>,
    /// Number already stored without a difference.
    pub unchanged: usize,
    /// New, changed and removed relations.
    pub relations: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Item {
    /// "npc", "location".
    pub kind: String,
    pub name: String,
    /// More about it: the file and the voice, or a reason; may be empty.
    pub about: String,
}

/// Parts of a file that have no place here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Left {
    pub file: String,
    pub what: String,
    pub why: String,
}

impl Item {
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
    /// Lines for the game master: new, changed, kept, secret and left out.
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
