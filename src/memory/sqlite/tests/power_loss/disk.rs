//! A disk that loses power: written and flushed data, and its remains.
//!
//! Entry types: [`Event`], in order; [`Disk`], built from them. Flushed bytes survive. Of other
//! data a random part does: some sectors of a write, perhaps only the beginning of one; a created
//! or removed name, if its folder was not flushed afterwards.

use std::collections::BTreeMap;

use rand::{RngExt, rngs::StdRng};

/// Most bytes that a disk writes at once.
const SECTOR: usize = 512;

/// Contents of a folder by file name.
pub type Files = BTreeMap<String, Vec<u8>>;

/// A change to the files of a folder. Files are numbered, under any name.
#[derive(Debug)]
pub enum Event {
    Made {
        name: String,
        file: usize,
    },
    Removed {
        name: String,
    },
    Wrote {
        file: usize,
        at: usize,
        bytes: Vec<u8>,
    },
    /// Truncated to this length.
    Cut {
        file: usize,
        length: usize,
    },
    /// All its written bytes are on the disk.
    Flushed {
        file: usize,
    },
    /// Names are on the disk.
    NamesFlushed,
    Told(Promise),
}

/// A fact that the store has acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promise {
    /// The line of this identity is written.
    Written(String),
    /// It is withdrawn.
    Withdrawn(String),
}

/// The files on the disk after some events.
#[derive(Default)]
pub struct Disk<'e> {
    contents: Vec<Content<'e>>,
    names: BTreeMap<String, usize>,
    /// Names created and removed since the last flush.
    renamed: Vec<(&'e str, Option<usize>)>,
}

#[derive(Default)]
struct Content<'e> {
    flushed: Vec<u8>,
    since: Vec<&'e Event>,
}

impl<'e> Disk<'e> {
    /// A disk with these files, numbered in order.
    pub fn with(files: &Files) -> Self {
        let content = |bytes: &Vec<u8>| Content { flushed: bytes.clone(), since: Vec::new() };
        let names = files.keys().cloned().zip(0..);
        Self {
            contents: files.values().map(content).collect(),
            names: names.collect(),
            renamed: Vec::new(),
        }
    }

    /// Applies an event.
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

    /// Files left if the power fails now.
    pub fn left(&self, dice: &mut StdRng) -> Files {
        // None, some, most or all of the unflushed data.
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

/// Applies `share` of an unflushed event.
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
    // The file may have grown without its new content.
    if share < 1.0 && share > 0.0 && dice.random_bool(0.2) && bytes.len() < at + new.len() {
        bytes.resize(at + new.len(), 0);
    }
}
