//! A disk that loses its power: what was written and flushed, and what of it is left.
//!
//! Entry types: [`Event`], in their order; [`Disk`], which is made of them. Flushed bytes are
//! there. Of anything else a random part is: of a write some of its sectors, of one of these
//! perhaps only the beginning; a name that was made or removed, if its folder was not flushed after
//! it.

use std::collections::BTreeMap;

use rand::{RngExt, rngs::StdRng};

/// Most bytes that a disk writes at once.
const SECTOR: usize = 512;

/// Contents of a folder: files by their names.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Something that happened to the files of a folder; a file is its number, whatever it is called.
#[derive(Debug)]
pub enum Event {
    /// A name for a new file.
    Made { name: String, file: usize },
    /// A name is gone.
    Removed { name: String },
    /// Bytes at a place.
    Wrote { file: usize, at: usize, bytes: Vec<u8> },
    /// It ends here.
    Cut { file: usize, length: usize },
    /// All bytes written to it are on the disk.
    Flushed { file: usize },
    /// Names are on the disk.
    NamesFlushed,
    /// The store has acknowledged that this is on the disk.
    Told(Promise),
}

/// A fact that the store has acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promise {
    /// The line of this identity is written.
    Written(String),
    /// It is taken back.
    Withdrawn(String),
}

/// The files as the disk has them after some events.
#[derive(Default)]
pub struct Disk<'e> {
    contents: Vec<Content<'e>>,
    names: BTreeMap<String, usize>,
    /// Names made and removed since they were flushed.
    renamed: Vec<(&'e str, Option<usize>)>,
}

#[derive(Default)]
struct Content<'e> {
    flushed: Vec<u8>,
    since: Vec<&'e Event>,
}

impl<'e> Disk<'e> {
    /// A disk that has these files; their numbers are their places.
    pub fn with(files: &Files) -> Self {
        let content = |bytes: &Vec<u8>| Content { flushed: bytes.clone(), since: Vec::new() };
        let names = files.keys().cloned().zip(0..);
        Self {
            contents: files.values().map(content).collect(),
            names: names.collect(),
            renamed: Vec::new(),
        }
    }

    /// One thing more has happened.
    pub fn happens(&mut self, event: &'e Event) {
        match event {
            Event::Made { name, file } => {
                assert_eq!(*file, self.contents.len(), "files are numbered as they are made");
                self.contents.push(Content::default());
                self.renamed.push((name, Some(*file)));
            }
            Event::Removed { name } => self.renamed.push((name, None)),
            Event::Wrote { file, .. } | Event::Cut { file, .. } => {
                self.contents[*file].since.push(event);
            }
            Event::Flushed { file } => {
                let content = &mut self.contents[*file];
                for event in content.since.drain(..) {
                    apply(&mut content.flushed, event);
                }
            }
            Event::NamesFlushed => {
                for (name, file) in self.renamed.drain(..) {
                    rename(&mut self.names, name, file);
                }
            }
            Event::Told(_) => {}
        }
    }

    /// Files left if the power goes now.
    pub fn left(&self, dice: &mut StdRng) -> Files {
        // Nothing of what was not flushed, some of it, most of it, or all.
        let share = [0.0, 0.5, 0.9, 1.0][dice.random_range(0..4)];
        let mut names = self.names.clone();
        for (name, file) in &self.renamed {
            if dice.random_bool(share) {
                rename(&mut names, name, *file);
            }
        }
        let left = |file: usize, dice: &mut StdRng| {
            let mut bytes = self.contents[file].flushed.clone();
            for event in &self.contents[file].since {
                apply_some(&mut bytes, event, share, dice);
            }
            bytes
        };
        names.into_iter().map(|(name, file)| (name, left(file, dice))).collect()
    }
}

fn rename(names: &mut BTreeMap<String, usize>, name: &str, file: Option<usize>) {
    match file {
        Some(file) => names.insert(name.to_owned(), file),
        None => names.remove(name),
    };
}

fn apply(bytes: &mut Vec<u8>, event: &Event) {
    match event {
        Event::Wrote { at, bytes: new, .. } => write(bytes, *at, new),
        Event::Cut { length, .. } => bytes.truncate(*length),
        _ => {}
    }
}

fn write(bytes: &mut Vec<u8>, at: usize, new: &[u8]) {
    let end = at + new.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[at..end].copy_from_slice(new);
}

/// Applies `share` of an event that was not flushed.
fn apply_some(bytes: &mut Vec<u8>, event: &Event, share: f64, dice: &mut StdRng) {
    let Event::Wrote { at, bytes: new, .. } = event else {
        if dice.random_bool(share) {
            apply(bytes, event);
        }
        return;
    };
    let mut done = 0;
    while done < new.len() {
        let next = (SECTOR - (at + done) % SECTOR).min(new.len() - done);
        let sector = &new[done..done + next];
        if dice.random_bool(share) {
            let torn = share < 1.0 && dice.random_bool(0.1);
            let whole = if torn { dice.random_range(0..sector.len()) } else { sector.len() };
            write(bytes, at + done, &sector[..whole]);
        }
        done += next;
    }
    // The file may have become longer without what was to be there.
    if share < 1.0 && share > 0.0 && dice.random_bool(0.2) && bytes.len() < at + new.len() {
        bytes.resize(at + new.len(), 0);
    }
}
