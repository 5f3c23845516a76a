//! Names and folders of an import's documents, by their ids.

use std::collections::BTreeMap;

use super::{
    documents::{Document, clean_name},
    shape::{Kind, text},
};

/// Most folders around a document; Foundry allows four.
const FOLDERS_MAX: usize = 8;

/// A document that others may link to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    pub name: String,
    pub source: String,
}

#[derive(Debug)]
struct Folder {
    name: String,
    around: Option<String>,
}

/// Documents by their ids.
#[derive(Debug, Default)]
pub struct Index {
    documents: BTreeMap<String, Linked>,
    folders: BTreeMap<String, Folder>,
}

impl Index {
    pub fn new(documents: &[Document]) -> Self {
        let mut index = Self::default();
        for document in documents {
            let Document { kind, id, name, source, .. } = document;
            let known = |name: &str| Linked { name: name.to_owned(), source: source.clone() };
            if *kind == Kind::Folder {
                let around = text(&document.fields, "folder").map(str::to_owned);
                index.folders.insert(id.clone(), Folder { name: name.clone(), around });
                continue;
            }
            if let Some(journal) = &document.journal {
                // A link to a journal opens its first page.
                index.documents.entry(journal.id.clone()).or_insert(known(&journal.name));
            }
            index.documents.insert(id.clone(), known(name));
        }
        index
    }

    pub fn document(&self, id: &str) -> Option<&Linked> {
        self.documents.get(id)
    }

    /// Names of the folders around a document, the innermost first.
    pub fn folders(&self, innermost: Option<&str>) -> Vec<String> {
        let mut names = Vec::new();
        let mut next = innermost.and_then(|id| self.folders.get(id));
        while let Some(folder) = next.filter(|_| names.len() < FOLDERS_MAX) {
            names.push(clean_name(&folder.name));
            next = folder.around.as_deref().and_then(|id| self.folders.get(id));
        }
        names.retain(|name| !name.is_empty());
        names
    }
}
