//! Links between notes, as relations.
//!
//! Entry type: [`Index`].

use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;

use super::{inline::stem, note::Note};
use crate::{
    domain::{bare_name, one_line},
    import::draft::{RelationDraft, RelationTarget},
};

/// Most relations of a note.
const RELATIONS_MAX: usize = 200;
/// Longest kind of a relation, in characters.
const KIND_MAX: usize = 40;
/// Longest name of a note that is not there, in characters.
const NAME_MAX: usize = 80;

/// Notes by what links may call them; `None`: several are called so.
#[derive(Debug, Default)]
pub struct Index {
    sources: HashMap<String, Option<String>>,
}

impl Index {
    /// Of these notes: by path, else by file name, else by name and alias.
    pub fn new(notes: &[Note]) -> Self {
        let mut index = Self::default();
        index.add(notes, |note| vec![key(&note.path)]);
        index.add(notes, |note| vec![key(stem(&note.path))]);
        index.add(notes, |note| vec![key(&note.name)]);
        index.add(notes, |note| note.aliases.iter().map(|it| key(it)).collect());
        index
    }

    /// Adds keys that no step before had.
    fn add(&mut self, notes: &[Note], keys: impl Fn(&Note) -> Vec<String>) {
        let mut added: HashMap<String, Option<String>> = HashMap::new();
        for note in notes {
            for key in keys(note).into_iter().filter(|it| !self.sources.contains_key(it)) {
                let source = added.entry(key).or_insert_with(|| Some(note.source.clone()));
                if source.as_ref() != Some(&note.source) {
                    *source = None;
                }
            }
        }
        self.sources.extend(added);
    }

    /// Relations by the links of `note`, each once.
    pub fn relations(&self, note: &Note) -> Vec<RelationDraft> {
        let (mut seen, mut relations) = (HashSet::new(), Vec::new());
        for link in &note.parts.links {
            let kind = link.kind.as_deref().map(|it| one_line(it, KIND_MAX).trim().to_lowercase());
            let kind = kind.filter(|it| !it.is_empty()).unwrap_or_else(|| "mentions".to_owned());
            let Some(to) = self.target(&link.to, &note.path) else { continue };
            let is_own = matches!(&to, RelationTarget::Source(it) if *it == note.source);
            let of = match &to {
                RelationTarget::Source(of) | RelationTarget::Name(of) => of.clone(),
            };
            let is_full = relations.len() >= RELATIONS_MAX;
            if !is_own && !is_full && seen.insert((of, kind.clone())) {
                relations.push(RelationDraft { from: note.source.clone(), to, kind });
            }
        }
        relations
    }

    fn target(&self, link: &str, path: &str) -> Option<RelationTarget> {
        let ways = [key(link), key(&joined(path, link)), key(stem(link))];
        for way in ways {
            match self.sources.get(&way) {
                Some(Some(source)) => return Some(RelationTarget::Source(source.clone())),
                Some(None) => break,
                None => {}
            }
        }
        let name = one_line(stem(link), NAME_MAX).trim().to_owned();
        (!name.is_empty()).then_some(RelationTarget::Name(name))
    }
}

/// A path or name as links are compared.
fn key(name: &str) -> String {
    let name = name.replace('\\', "/");
    let name = name.trim_start_matches("./").trim_start_matches('/');
    let folder = name.len() - name.rsplit('/').next().unwrap_or(name).len();
    let whole = format!("{}{}", name.get(..folder).unwrap_or_default(), stem(name));
    bare_name(&whole.nfc().collect::<String>())
}

/// `link` as seen from the folder of the note at `path`.
fn joined(path: &str, link: &str) -> String {
    let path = path.replace('\\', "/");
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in link.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
