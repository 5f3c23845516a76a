//! Texts of a document as passages, and links in them as relations.

use super::{
    documents::{Document, within},
    enrich::{Context, words},
    index::Index,
};
use crate::{
    import::draft::{Passage, RelationDraft, RelationTarget},
    markup::{Prose, prose},
};

/// Longest text that is read, in bytes.
pub const TEXT_MAX: usize = 64 << 10;
/// Most relations of a document.
const RELATIONS_MAX: usize = 100;

/// A text: what readers of the document see, and what only the game master sees.
#[derive(Debug, Default)]
pub struct Told {
    /// `None`: no such text.
    pub open: Option<Passage>,
    pub links: Vec<RelationTarget>,
    /// Secret blocks and comments; `None`: none.
    pub secret: Option<Passage>,
}

/// Texts of one document.
#[derive(Debug)]
pub struct Texts<'a> {
    document: &'a Document,
    index: &'a Index,
    pub cut: usize,
}

impl<'a> Texts<'a> {
    pub fn new(document: &'a Document, index: &'a Index) -> Self {
        Self { document, index, cut: 0 }
    }

    pub fn read(&mut self, path: &str, html: &str) -> Told {
        self.cut += usize::from(html.len() > TEXT_MAX);
        let html = html.get(..html.floor_char_boundary(TEXT_MAX)).unwrap_or_default();
        let Prose { open, mut secret, comments } = prose(html);
        if !comments.is_empty() {
            secret.push_str(if secret.is_empty() { "" } else { "\n\n" });
            secret.push_str(&comments);
        }
        let context =
            Context { index: self.index, name: &self.document.name, fields: &self.document.fields };
        let passage = |text: String, links: &mut Vec<RelationTarget>| {
            let text = words(&text, context, links);
            let from = within(&self.document.place, path);
            (!text.trim().is_empty()).then_some(Passage { from, text })
        };
        let mut links = Vec::new();
        let open = passage(open, &mut links);
        // A link in a secret would tell of it.
        let secret = passage(secret, &mut Vec::new());
        Told { open, links, secret }
    }
}

/// Relations of `document` to those that it links to, each once.
pub fn relations(document: &Document, links: Vec<RelationTarget>) -> Vec<RelationDraft> {
    let mut relations: Vec<RelationDraft> = Vec::new();
    let own = &document.source;
    for to in links {
        let is_own = matches!(&to, RelationTarget::Source(source) if source == own);
        let is_known = relations.iter().any(|relation| relation.to == to);
        if !is_own && !is_known && relations.len() < RELATIONS_MAX {
            relations.push(RelationDraft { from: own.clone(), to, kind: "mentions".to_owned() });
        }
    }
    relations
}
