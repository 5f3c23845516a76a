//! A file as the documents in it: arrays, adventures and journals taken apart, each document with its
//! place and a source that is the same in every import.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use super::{
    left_out::LeftOuts,
    search::notes,
    shape::{COLLECTIONS, Fields, Kind, either, kind, level, system, text},
    slim::slim,
};
use crate::{domain::fnv1a, import::draft::Mistake, markup::plain_text};

/// Most documents of an import.
const DOCUMENTS_MAX: usize = 20_000;
/// Most values of all documents in memory, each of about 100 bytes.
const HELD_MAX: usize = 2_000_000;
/// Longest name, in characters.
const NAME_MAX: usize = 80;
/// Longest id taken from a file, in bytes; Foundry's have 16.
const ID_MAX: usize = 32;

#[derive(Debug)]
pub struct Document {
    pub file: String,
    /// Place inside the file: "actors/3"; empty for the whole file.
    pub place: String,
    pub kind: Kind,
    pub fields: Fields,
    /// Id in Foundry, else a hash of kind, name and file.
    pub id: String,
    pub source: String,
    /// Name on one line; empty only for folders.
    pub name: String,
    pub journal: Option<Journal>,
}

/// A page's journal.
#[derive(Clone, Debug)]
pub struct Journal {
    pub id: String,
    pub name: String,
    /// Access level of all players.
    pub level: i64,
    pub folder: Option<String>,
}

/// Documents found so far.
#[derive(Debug, Default)]
pub struct Documents {
    pub found: Vec<Document>,
    pub left: LeftOuts,
    pub mistakes: Vec<Mistake>,
    sources: BTreeMap<String, usize>,
    /// Values read, documents or not.
    values: usize,
    /// Values in the documents found.
    held: usize,
}

struct Waiting {
    place: String,
    /// `None`: known by its fields.
    kind: Option<Kind>,
    value: Value,
    journal: Option<Journal>,
}

impl Documents {
    pub fn add(&mut self, file: &str, value: Value) {
        let mut waiting = VecDeque::new();
        match value {
            Value::Array(values) => push_all(&mut waiting, "", None, values),
            value => {
                let place = String::new();
                waiting.push_back(Waiting { place, kind: None, value, journal: None });
            }
        }
        while let Some(next) = waiting.pop_front() {
            self.values += 1;
            if self.values > DOCUMENTS_MAX {
                if self.values == DOCUMENTS_MAX + 1 {
                    let message = format!("more than {DOCUMENTS_MAX} documents");
                    self.mistake(file, "", &message, "import fewer files at a time");
                }
                return;
            }
            self.read(file, next, &mut waiting);
        }
    }

    pub fn mistake(&mut self, file: &str, place: &str, message: &str, way_out: &str) {
        self.mistakes.push(Mistake {
            file: file.to_owned(),
            place: place.to_owned(),
            message: message.to_owned(),
            way_out: way_out.to_owned(),
        });
    }

    fn read(&mut self, file: &str, next: Waiting, waiting: &mut VecDeque<Waiting>) {
        let Waiting { place, kind: given, value, journal } = next;
        let Value::Object(mut fields) = value else {
            let way_out = "remove it, or export the documents again";
            self.mistake(file, &place, "this is not a document", way_out);
            return;
        };
        let kind = match given.or_else(|| kind(&fields)) {
            None => return self.left.count(file, "documents of an unknown kind"),
            Some(Kind::Other(plural)) => return self.left.count(file, plural),
            Some(Kind::Adventure) => return self.take_apart(file, &place, fields, waiting),
            Some(kind) => kind,
        };
        if kind == Kind::Actor {
            slim(file, &mut fields, &mut self.left);
        }
        if self.is_full(file, &fields) {
            return;
        }
        let Some(document) = self.document(file, kind, fields, journal) else {
            self.left.count(file, "second copies of documents");
            return;
        };
        let document = Document { place, ..document };
        if document.name.is_empty() && kind != Kind::Folder {
            let place = within(&document.place, "name");
            self.mistake(file, &place, "the document has no name", "give it a name");
        } else if kind == Kind::Actor && has_wrong_system(&document.fields) {
            let place = within(&document.place, "system");
            self.mistake(file, &place, "this is not an object", "export the actor again");
        } else if kind == Kind::Journal {
            self.open_journal(document, waiting);
        } else {
            self.found.push(document);
        }
    }

    /// True if a document with these `fields` is too much beside those found.
    fn is_full(&mut self, file: &str, fields: &Fields) -> bool {
        if self.held > HELD_MAX {
            return true;
        }
        // Pages are documents of their own.
        let own = fields.iter().filter(|(name, _)| *name != "pages");
        self.held = own.fold(self.held, |held, (_, value)| held.saturating_add(number(value)));
        let is_full = self.held > HELD_MAX;
        if is_full {
            let message = "the documents have more than 2,000,000 values together";
            self.mistake(file, "", message, "import fewer files at a time");
        }
        is_full
    }

    /// `None` for a second copy of a document with an id.
    fn document(
        &mut self,
        file: &str,
        kind: Kind,
        fields: Fields,
        journal: Option<Journal>,
    ) -> Option<Document> {
        let label = match kind {
            Kind::Actor => "actor",
            Kind::Journal => "journal",
            Kind::Page => "page",
            Kind::Folder | Kind::Adventure | Kind::Other(_) => "folder",
        };
        let name = name(&fields, journal.as_ref());
        let own = own_id(&fields).map(str::to_owned);
        let has_id = own.is_some();
        let hashed = || format!("{:016x}", fnv1a(format!("{label}\n{name}\n{file}").bytes()));
        let mut id = own.unwrap_or_else(hashed);
        let around = journal.as_ref().map_or(String::new(), |it| format!("{}.", it.id));
        let mut source = format!("foundry:{label}:{around}{id}");
        let times = self.sources.entry(source.clone()).or_default();
        *times += 1;
        if *times > 1 {
            if has_id {
                return None;
            }
            id = format!("{id}-{times}");
            source = format!("{source}-{times}");
        }
        let (file, place) = (file.to_owned(), String::new());
        Some(Document { file, place, kind, fields, id, source, name, journal })
    }

    /// Queues the documents of an adventure or of a whole world.
    fn take_apart(
        &mut self,
        file: &str,
        place: &str,
        mut fields: Fields,
        waiting: &mut VecDeque<Waiting>,
    ) {
        for (name, kind) in COLLECTIONS {
            let Some(Value::Array(values)) = fields.remove(*name) else { continue };
            match kind {
                Kind::Other(plural) => self.left.add(file, plural, values.len()),
                kind => push_all(waiting, &within(place, name), Some(*kind), values),
            }
        }
        fields.retain(|name, _| ["_id", "caption", "description", "name"].contains(&name.as_str()));
        if ["caption", "description"].iter().any(|name| is_filled(&fields, name)) {
            self.describe(file, place, fields);
        }
    }

    /// Adds the description of an adventure as a page without a journal. Without an access level only the game
    /// master reads it.
    fn describe(&mut self, file: &str, place: &str, fields: Fields) {
        if self.is_full(file, &fields) {
            return;
        }
        let Some(document) = self.document(file, Kind::Page, fields, None) else {
            return self.left.count(file, "second copies of documents");
        };
        let unnamed = || "Adventure".to_owned();
        let name = Some(document.name).filter(|name| !name.is_empty()).unwrap_or_else(unnamed);
        self.found.push(Document { name, place: place.to_owned(), ..document });
    }

    /// Queues the pages of `document`. Before version 10 it is a page itself.
    fn open_journal(&mut self, mut document: Document, waiting: &mut VecDeque<Waiting>) {
        let pages = match document.fields.remove("pages") {
            Some(Value::Array(pages)) => pages,
            _ => Vec::new(),
        };
        let journal = Journal {
            id: document.id.clone(),
            name: document.name.clone(),
            level: level(&document.fields).unwrap_or(0),
            folder: text(&document.fields, "folder").map(str::to_owned),
        };
        let has_content = is_filled(&document.fields, "content");
        let has_notes = !has_content && !notes(&document.fields).is_empty();
        if pages.is_empty() && !has_content && !has_notes {
            self.left.count(&document.file, "journals without a page");
        }
        if has_notes {
            waiting.push_front(noted(&document, journal.clone()));
        }
        let place = within(&document.place, "pages");
        // In front, so that an import keeps the order of its files.
        for (at, value) in pages.into_iter().enumerate().rev() {
            // Packs that are not unpacked name pages by their ids, and store them apart.
            if !value.is_string() {
                let (place, journal) = (within(&place, &at.to_string()), Some(journal.clone()));
                waiting.push_front(Waiting { place, kind: Some(Kind::Page), value, journal });
            }
        }
        if has_content {
            let journal = Some(journal);
            self.found.push(Document { kind: Kind::Page, journal, ..document });
        }
    }
}

/// A page of its own for the game master's notes about a journal.
fn noted(document: &Document, journal: Journal) -> Waiting {
    let flags = document.fields.get("flags").cloned().unwrap_or_default();
    let value = json!({
        "_id": "gm-notes", "name": "GM Notes", "flags": flags, "ownership": {"default": 0},
    });
    let place = document.place.clone();
    Waiting { place, kind: Some(Kind::Page), value, journal: Some(journal) }
}

/// Number of values in `value`, which JSON nests no deeper than a stack bears.
fn number(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(number).sum::<usize>(),
        Value::Object(members) => members.values().map(number).sum(),
        _ => 0,
    }
}

fn push_all(waiting: &mut VecDeque<Waiting>, place: &str, kind: Option<Kind>, values: Vec<Value>) {
    waiting.extend(values.into_iter().enumerate().map(|(at, value)| {
        let place = within(place, &at.to_string());
        Waiting { place, kind, value, journal: None }
    }));
}

/// Name of a document, else of its token, else of its journal.
fn name(fields: &Fields, journal: Option<&Journal>) -> String {
    let token = || either(fields, "prototypeToken", "token")?.get("name")?.as_str();
    let name = text(fields, "name").map(clean_name).filter(|name| !name.is_empty());
    let name = name.or_else(|| token().map(clean_name).filter(|name| !name.is_empty()));
    name.or_else(|| journal.map(|it| it.name.clone())).unwrap_or_default()
}

/// A name on one line, without mark-up and what cannot be seen.
pub fn clean_name(name: &str) -> String {
    plain_text(name, NAME_MAX).trim().to_owned()
}

pub fn own_id(fields: &Fields) -> Option<&str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let is_id = |id: &&str| (1..=ID_MAX).contains(&id.len()) && id.chars().all(is_plain);
    text(fields, "_id").filter(is_id)
}

/// True if the data of the actor's rules are something else.
fn has_wrong_system(fields: &Fields) -> bool {
    let given = fields.get("system").or_else(|| fields.get("data"));
    given.is_some_and(|value| !value.is_null()) && system(fields).is_none()
}

fn is_filled(fields: &Fields, name: &str) -> bool {
    text(fields, name).is_some_and(|text| !text.trim().is_empty())
}

pub fn within(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}/{name}") }
}
