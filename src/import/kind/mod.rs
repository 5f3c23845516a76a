//! Files of other programs to drafts: their kind by content, and the reader for it.
//!
//! Entry functions: [`read`], [`read_one`], [`is_ours`]. An unreadable file is a mistake if the user named it;
//! inside a folder or a ZIP it is left out and counted. **Never**: opens a file.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::{
    campaign, cards,
    content::{self, BadJson, Content, content},
    creatures,
    draft::{Drafts, EntityDraft, LeftOut, Mistake},
    foundry, go, notes, pronounced,
    refused::{self, Refused},
    roll20,
};
use crate::{
    archives::{Limits, zip_members},
    domain::fnv1a,
    yaml::{self, Problems},
};

/// Most mistakes reported for the lines of a file; any of them refuses it.
const FAULTS_MAX: usize = 50;
/// Largest file, in bytes.
pub const FILE_MAX: u64 = 50_000_000;
/// Keys of a campaign file of ours.
const OURS: [&str; 4] = ["campaign", "entities", "players", "scenes"];
/// Those that no file of another program has as well.
const OURS_ALONE: [&str; 2] = ["campaign", "entities"];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The file or folder as the user named it.
    pub file: String,
    /// Path inside that folder, by `/`; empty: the file itself.
    pub inside: String,
    pub bytes: Vec<u8>,
}

impl Given {
    /// The file with the path inside: "vault!notes/inn.md".
    fn place(&self) -> String {
        match self.inside.is_empty() {
            true => self.file.clone(),
            false => format!("{}!{}", self.file, self.inside),
        }
    }
}

/// True if `given` is a campaign file of ours, or text that its reader should complain about.
pub fn is_ours(given: &Given) -> bool {
    if !given.inside.is_empty() || given.bytes.len() > campaign::BYTES_MAX {
        return false;
    }
    match content(&given.bytes) {
        Content::Json(value) => has_our_shape(&value),
        Content::Text(text) => {
            let is_note = || notes::is_notes(&given.file, text);
            if begins_as_note(&given.file, text) && is_note() {
                return false;
            }
            let node = yaml::parse(text, &mut Problems::new(given.file.as_str()));
            let Some(node) = node else { return !is_note() };
            if go::is_go(&node) {
                return false;
            }
            let value = node.to_json();
            is_of_us(&value) || (value.is_object() && !is_of_others(&value) && !is_note())
        }
        _ => false,
    }
}

/// True for a name or a front matter that no YAML of ours has.
fn begins_as_note(path: &str, text: &str) -> bool {
    notes::has_ending(path) || text.starts_with("---")
}

/// True for text that begins with a link or a callout, not with a list of JSON.
fn begins_in_words(text: &str) -> bool {
    let begin = text.trim_start();
    let inside = begin.trim_start_matches('[');
    inside.len() < begin.len() && inside.starts_with(|c: char| c.is_alphabetic() || c == '!')
}

/// True for a campaign file or an NPC file of ours.
fn is_of_us(value: &Value) -> bool {
    has_our_shape(value) || campaign::is_npc(|key| value.get(key).is_some())
}

/// True for a document that one of the readers takes.
fn is_of_others(value: &Value) -> bool {
    foundry::is_foundry(value) || roll20::is_roll20(value) || creatures::is_creatures(value)
}

/// True if a document has the keys of a campaign file, and no others where it may be another program's.
fn has_our_shape(value: &Value) -> bool {
    let Some(object) = value.as_object() else { return false };
    object.keys().any(|key| OURS_ALONE.contains(&key.as_str()))
        && object.keys().all(|key| OURS.contains(&key.as_str()))
}

/// Content of `files`, with every mistake in them. A file of which nothing could be used is a mistake.
pub fn read(files: Vec<Given>) -> Drafts {
    let named: BTreeSet<String> = files.iter().map(|given| given.file.clone()).collect();
    let mut reading = Reading::default();
    for given in files {
        reading.take(&given);
    }
    reading.finish(named)
}

/// Like [`read`], for one file that its caller keeps.
pub fn read_one(given: &Given) -> Drafts {
    let mut reading = Reading::default();
    reading.take(given);
    reading.finish([given.file.clone()].into())
}

#[derive(Default)]
struct Reading {
    drafts: Drafts,
    /// Documents of all files, which may link to each other.
    foundry: foundry::Reading,
    /// Notes by the folder or ZIP they lie in, which may link to each other; empty: named one by one.
    notes: BTreeMap<String, Vec<(String, String)>>,
    /// Files left out of each folder or ZIP.
    left_out: BTreeMap<(String, &'static str), Left>,
    packs: BTreeSet<(String, String)>,
}

struct Left {
    kind: &'static Refused,
    count: usize,
}

impl Reading {
    fn take(&mut self, given: &Given) {
        if u64::try_from(given.bytes.len()).is_ok_and(|length| length > FILE_MAX) {
            return self.refuse(given, &refused::LARGE);
        }
        if is_hidden(&given.inside) {
            return self.unused(given, &refused::HIDDEN);
        }
        if refused::is_leveldb(&given.bytes) {
            let folder = given.inside.rsplit_once('/').map_or("", |(folder, _)| folder);
            if self.packs.insert((given.file.clone(), folder.to_owned())) {
                self.refuse(given, &refused::LEVELDB);
            }
            return;
        }
        match content(&given.bytes) {
            Content::Empty => self.unused(given, &refused::EMPTY),
            Content::Card => cards::read(&given.place(), &given.bytes, &mut self.drafts),
            Content::Zip if given.inside.is_empty() => self.members(given),
            Content::Zip => self.unused(given, &refused::NESTED),
            Content::Refused(kind) => self.unused(given, kind),
            Content::Json(value) => self.document(given, value),
            Content::Lines(text) => self.lines(given, text),
            Content::BadJson(text, error) => self.bad_json(given, text, error),
            Content::Text(text) => self.text(given, text),
            Content::Encoding(line) => self.mistake(
                given,
                format!("line {line}"),
                "not UTF-8 text from here on",
                "save it as UTF-8",
            ),
        }
    }

    fn members(&mut self, archive: &Given) {
        let mut each = |path: &str, bytes: Vec<u8>| {
            let (file, inside) = (archive.file.clone(), path.to_owned());
            self.take(&Given { file, inside, bytes });
        };
        if let Err(error) = zip_members(&archive.bytes, &Limits::IMPORT, &mut each) {
            let place = error.member().unwrap_or_default().to_owned();
            self.mistake(archive, place, &error.to_string(), error.way_out());
        }
    }

    /// A document in JSON, or in YAML already turned into it.
    fn document(&mut self, given: &Given, value: Value) {
        if foundry::is_foundry(&value) {
            self.foundry.add(&given.place(), value);
        } else if roll20::is_roll20(&value) {
            roll20::read(&given.place(), value, &mut self.drafts);
        } else if creatures::is_creatures(&value) {
            creatures::read(&given.place(), &value, &mut self.drafts);
        } else if let Some(kind) = refused::by_value(&value) {
            self.refuse(given, kind);
        } else if has_our_shape(&value) {
            self.unused(given, &refused::OURS);
        } else {
            self.unused(given, &refused::UNKNOWN_JSON);
        }
    }

    fn lines(&mut self, given: &Given, text: &str) {
        let former = foundry::superseded(text);
        let lines = text.lines().enumerate();
        let lines =
            lines.filter(|(index, line)| !line.trim().is_empty() && !former.contains(index));
        let (mut unknown, mut faults) = (0_usize, 0_usize);
        for (index, line) in lines {
            let place = format!("line {}", index + 1);
            match content::document(line) {
                Ok(value) if foundry::is_foundry(&value) => {
                    self.foundry.add(&format!("{}!{place}", given.place()), value);
                }
                Ok(_) => unknown += 1,
                Err(error) => {
                    self.mistake(given, place, &error.message, "export it again");
                    faults += 1;
                    if faults == FAULTS_MAX {
                        break;
                    }
                }
            }
        }
        if unknown > 0 {
            self.drafts.left_out.push(LeftOut {
                file: given.place(),
                what: format!("{unknown} lines"),
                why: refused::UNKNOWN_JSON.what.to_owned(),
            });
        }
    }

    /// Text that begins like JSON: a note that begins with a link, or damaged.
    fn bad_json(&mut self, given: &Given, text: &str, error: BadJson) {
        let path = path_of(given);
        if notes::has_ending(path) || (begins_in_words(text) && notes::is_notes(path, text)) {
            return self.note(given, text);
        }
        self.mistake(given, error.place, &error.message, "export it again");
    }

    fn text(&mut self, given: &Given, text: &str) {
        let path = path_of(given);
        let is_note = notes::is_notes(path, text);
        if is_note && begins_as_note(path, text) {
            return self.note(given, text);
        }
        let mut problems = Problems::new(given.place());
        let node = yaml::parse(text, &mut problems);
        if let Some(node) = node.as_ref().filter(|node| go::is_go(node)) {
            return go::read(&given.place(), node, &mut self.drafts);
        }
        let value = node.map(|node| node.to_json());
        let is_known = value.as_ref().is_some_and(|it| is_of_us(it) || is_of_others(it));
        if is_note && !is_known {
            return self.note(given, text);
        }
        let is_meant = text.lines().any(|line| line.starts_with("_id:"));
        match value {
            Some(value) if value.is_object() || value.is_array() => self.document(given, value),
            None if is_meant => {}
            _ => return self.unused(given, &refused::UNKNOWN_TEXT),
        }
        if is_meant {
            for problem in problems.into_vec() {
                let place = format!("line {}, column {}", problem.at.line, problem.at.column);
                self.mistake(given, place, &problem.message, &problem.way_out);
            }
        }
    }

    fn note(&mut self, given: &Given, text: &str) {
        let root = if given.inside.is_empty() { "" } else { given.file.as_str() };
        let path = path_of(given).to_owned();
        self.notes.entry(root.to_owned()).or_default().push((path, text.to_owned()));
    }

    /// A file that nothing reads: a mistake if the user named it.
    fn unused(&mut self, given: &Given, kind: &'static Refused) {
        if given.inside.is_empty() {
            return self.refuse(given, kind);
        }
        let key = (given.file.clone(), kind.many);
        self.left_out.entry(key).or_insert(Left { kind, count: 0 }).count += 1;
    }

    fn refuse(&mut self, given: &Given, kind: &Refused) {
        let message = format!("{}, which is not imported", kind.what);
        self.mistake(given, String::new(), &message, kind.way_out);
    }

    fn mistake(&mut self, given: &Given, place: String, message: &str, way_out: &str) {
        let (message, way_out) = (message.to_owned(), way_out.to_owned());
        self.drafts.mistakes.push(Mistake { file: given.place(), place, message, way_out });
    }

    /// The drafts, once all files are read; the user named `files`.
    fn finish(mut self, files: BTreeSet<String>) -> Drafts {
        for (root, found) in std::mem::take(&mut self.notes) {
            let mut drafts = Drafts::default();
            notes::read(&root, &found, &mut drafts);
            append(&mut self.drafts, drafts, &root);
        }
        std::mem::take(&mut self.foundry).finish(&mut self.drafts);
        pronounced::add(&mut self.drafts);
        told_apart(&mut self.drafts.entities);
        for ((file, many), Left { kind, count }) in self.left_out {
            let what = if count == 1 { kind.what.to_owned() } else { format!("{count} {many}") };
            self.drafts.left_out.push(LeftOut { file, what, why: kind.way_out.to_owned() });
        }
        let Drafts { npcs, entities, mistakes, .. } = &self.drafts;
        let used = npcs.iter().map(|it| it.file.as_str());
        let used = used.chain(entities.iter().map(|it| it.file.as_str()));
        let used: BTreeSet<&str> = used.chain(mistakes.iter().map(|it| it.file.as_str())).collect();
        let is_used = |file: &str| {
            let below = format!("{file}!");
            let next = used.range::<&str, _>(below.as_str()..).next();
            used.contains(file) || next.is_some_and(|it| it.starts_with(&below))
        };
        let useless: Vec<String> = files.into_iter().filter(|file| !is_used(file)).collect();
        self.drafts.mistakes.extend(useless.into_iter().map(|file| Mistake {
            file,
            place: String::new(),
            message: refused::USELESS.what.to_owned(),
            way_out: refused::USELESS.way_out.to_owned(),
        }));
        self.drafts
    }
}

/// Gives entities that share a source with an earlier one a source of their own, since only the first of a
/// source is imported. Copies keep it.
fn told_apart(entities: &mut [EntityDraft]) {
    let mut firsts: HashMap<String, usize> = HashMap::new();
    for at in 0..entities.len() {
        let (before, rest) = entities.split_at_mut(at);
        let Some(entity) = rest.first_mut() else { continue };
        let first = firsts.get(&entity.source).and_then(|at| before.get(*at));
        let Some(first) = first else {
            firsts.insert(entity.source.clone(), at);
            continue;
        };
        if !is_copy(entity, first) {
            let texts = entity.text.iter().chain(&entity.secrets).map(|it| it.text.as_str());
            let content = std::iter::once(entity.name.as_str()).chain(texts).collect::<Vec<_>>();
            let digits = fnv1a(content.join("\n").bytes());
            entity.source = format!("{}:{digits:016x}", entity.source);
        }
    }
}

/// True if importing `first` alone loses neither the name nor a secret of `entity`.
fn is_copy(entity: &EntityDraft, first: &EntityDraft) -> bool {
    let is_open = !entity.dm_only && entity.secrets.is_empty();
    let has_its_secrets = entity.dm_only == first.dm_only
        && entity.secrets == first.secrets
        && (!entity.dm_only || entity.text == first.text);
    entity.name == first.name && (is_open || has_its_secrets)
}

fn path_of(given: &Given) -> &str {
    if given.inside.is_empty() { &given.file } else { &given.inside }
}

/// True if a path leads to files of other programs, such as `.obsidian`.
fn is_hidden(inside: &str) -> bool {
    inside.split('/').any(|part| part.starts_with('.') || part == "__MACOSX")
}

/// Adds drafts of the folder or ZIP `root`, whose files are named by their paths inside it.
fn append(drafts: &mut Drafts, mut found: Drafts, root: &str) {
    if !root.is_empty() {
        let files = found.npcs.iter_mut().map(|it| &mut it.file);
        let files = files.chain(found.entities.iter_mut().map(|it| &mut it.file));
        let files = files.chain(found.left_out.iter_mut().map(|it| &mut it.file));
        let files = files.chain(found.mistakes.iter_mut().map(|it| &mut it.file));
        files.for_each(|file| *file = format!("{root}!{file}"));
    }
    drafts.npcs.append(&mut found.npcs);
    drafts.entities.append(&mut found.entities);
    drafts.relations.append(&mut found.relations);
    drafts.left_out.append(&mut found.left_out);
    drafts.mistakes.append(&mut found.mistakes);
}
