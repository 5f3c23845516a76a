//! Parts of notes that are not used, counted over a whole folder.
//!
//! Entry items: [`Tally`], [`Part`].

use std::collections::BTreeMap;

use crate::import::draft::{Drafts, LeftOut};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A file of Obsidian or of the system, or a deleted one.
    Hidden,
    Template,
    Drawing,
    /// A note without text.
    Empty,
    /// An embedded picture, recording or note.
    Embed,
    /// A block of code, a query or a table of a plugin.
    Block,
    Address,
    Field,
    /// A field of the front matter with fields of its own.
    Nested,
}

impl Part {
    /// Name of one, name of several, and the reason.
    const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Hidden => {
                ("hidden file", "hidden files", "settings and deleted notes are no content")
            }
            Self::Template => ("template", "templates", "notes are made from it"),
            Self::Drawing => ("drawing", "drawings", "only text is imported"),
            Self::Empty => ("empty note", "empty notes", "it has neither text nor a type"),
            Self::Embed => {
                ("embedded file", "embedded files", "only the note's own text is imported")
            }
            Self::Block => ("block of code", "blocks of code", "it is meant for a program"),
            Self::Address => ("web address", "web addresses", "only the words of a link are kept"),
            Self::Field => ("field", "fields", "such as 'cssclass': they are meant for Obsidian"),
            Self::Nested => {
                ("nested field", "nested fields", "only texts and lists of them are kept")
            }
        }
    }
}

#[derive(Debug, Default)]
pub struct Tally {
    /// Number of them, and the first file with one.
    parts: BTreeMap<Part, (usize, String)>,
    single: Vec<LeftOut>,
}

impl Tally {
    pub fn add(&mut self, part: Part, number: usize, file: &str) {
        if number > 0 {
            let (count, _) = self.parts.entry(part).or_insert_with(|| (0, file.to_owned()));
            *count += number;
        }
    }

    pub fn note(&mut self, file: &str, what: &str, why: impl Into<String>) {
        let (file, what, why) = (file.to_owned(), what.to_owned(), why.into());
        self.single.push(LeftOut { file, what, why });
    }

    /// Adds all of it to `drafts`, a line a kind.
    pub fn report(self, drafts: &mut Drafts) {
        drafts.left_out.extend(self.single);
        for (part, (count, file)) in self.parts {
            let (one, several, why) = part.words();
            let what = if count == 1 { one } else { several };
            let what = format!("{count} {what}");
            drafts.left_out.push(LeftOut { file, what, why: why.to_owned() });
        }
    }
}
