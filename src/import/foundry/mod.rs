//! Documents of Foundry VTT, versions 9 to 13: actors, journals, folders, adventures, and sources of packs.
//!
//! The NPC itself knows its biography; players may know the public part. Secret blocks, and journals that
//! players can't read, are the game master's. Enrichers become words, links to documents become
//! relations, folders become tags; the rest is counted.
//!
//! Entry items: [`is_foundry`], [`Reading`], [`superseded`].

mod actor;
mod documents;
mod enrich;
mod facts;
mod fields;
mod index;
mod journal;
mod left_out;
mod log;
mod rolls;
mod search;
mod shape;
mod slim;
#[cfg(test)]
mod tests;
mod texts;

use serde_json::Value;

pub use self::log::superseded;
use self::{documents::Documents, index::Index, shape::Kind};
use crate::import::draft::Drafts;

/// Most elements of an array that are looked at to know what it is.
const LOOKED_AT: usize = 100;

/// True for a document of Foundry VTT, and for an array with one.
pub fn is_foundry(document: &Value) -> bool {
    let is_one = |value: &Value| value.as_object().is_some_and(|it| shape::kind(it).is_some());
    match document {
        Value::Array(values) => values.iter().take(LOOKED_AT).any(is_one),
        value => is_one(value),
    }
}

/// Reads one file alone.
#[cfg(test)]
fn read(file: &str, document: Value, drafts: &mut Drafts) {
    let mut reading = Reading::default();
    reading.add(file, document);
    reading.finish(drafts);
}

/// Files whose documents link to each other, and lie in each other's folders.
#[derive(Debug, Default)]
pub struct Reading(Documents);

impl Reading {
    pub fn add(&mut self, file: &str, document: Value) {
        self.0.add(file, document);
    }

    pub fn finish(self, drafts: &mut Drafts) {
        let index = Index::new(&self.0.found);
        let Documents { found, mut left, mistakes, .. } = self.0;
        for document in found {
            match document.kind {
                Kind::Actor => actor::actor(&document, &index, &mut left, drafts),
                Kind::Page => journal::page(&document, &index, &mut left, drafts),
                Kind::Folder | Kind::Journal | Kind::Adventure | Kind::Other(_) => {}
            }
        }
        drafts.mistakes.extend(mistakes);
        drafts.left_out.extend(left.told());
    }
}
