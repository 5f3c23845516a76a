//! One reading of all files: sources and results.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{
    demands::Demand,
    destinations::variables,
    expand,
    files::{ReadError, Source},
    secrets::Secrets,
};
use crate::{
    domain::{Npc, revealed_name},
    yaml::{self, Kind, Node, Position, Problem, Problems},
};

/// State of one [`super::load`].
pub struct Reading<'a> {
    pub source: Source,
    environment: &'a dyn Fn(&str) -> Option<String>,
    /// Identities of all tools.
    pub tools: &'a [&'a str],
    /// NPCs of the previous reading: a campaign may name those that have left.
    pub left: &'a [Npc],
    pub problems: Vec<Problem>,
    pub warnings: Vec<Problem>,
    pub files: Vec<PathBuf>,
    /// Folders searched so far; they need not exist.
    pub folders: Vec<PathBuf>,
    /// Values that messages must not repeat.
    pub secrets: RefCell<Secrets>,
    /// Variables in files beside the configuration, by file.
    pub filled: BTreeMap<PathBuf, BTreeSet<String>>,
    /// Files read as plain text.
    pub texts: Vec<PathBuf>,
    /// Folders of music that are named or exist.
    pub music: Vec<PathBuf>,
    /// Demands of files beside the configuration.
    pub demands: Vec<Demand>,
}

#[derive(Clone, Copy)]
pub struct Folder<'a> {
    pub path: &'a Path,
    /// The place of its name in a file; `None`: it is read because it exists.
    pub named_at: Option<Position>,
}

pub struct Notes {
    pub problems: Problems,
    pub warnings: Problems,
}

impl Notes {
    /// No notes about the file at `path` yet.
    pub fn new(path: &Path) -> Self {
        let name = revealed_name(&path.display().to_string());
        Self { problems: Problems::new(name.as_str()), warnings: Problems::new(name) }
    }
}

impl<'a> Reading<'a> {
    pub fn new(
        source: Source,
        environment: &'a dyn Fn(&str) -> Option<String>,
        tools: &'a [&'a str],
    ) -> Self {
        Self {
            source,
            environment,
            tools,
            left: &[],
            problems: Vec::new(),
            warnings: Vec::new(),
            files: Vec::new(),
            folders: Vec::new(),
            secrets: RefCell::default(),
            filled: BTreeMap::new(),
            texts: Vec::new(),
            music: Vec::new(),
            demands: Vec::new(),
        }
    }

    /// Reads and checks a file. `None` with notes: invalid YAML. Fails if it cannot be opened.
    pub fn file(&mut self, path: &Path, kind: &Kind) -> Result<(Option<Node>, Notes), ReadError> {
        self.checked(path, kind, true)
    }

    /// Like [`Reading::file`]; without `expands` each `${…}` stays as it is written.
    fn checked(
        &mut self,
        path: &Path,
        kind: &Kind,
        expands: bool,
    ) -> Result<(Option<Node>, Notes), ReadError> {
        let mut notes = Notes::new(path);
        // A file that is unreadable now may change soon.
        self.files.push(path.to_owned());
        let text = match self.source.read(path) {
            Ok(text) => text,
            Err(ReadError { at: Some(at), message, way_out }) => {
                notes.problems.add(at, message, way_out);
                return Ok((None, notes));
            }
            Err(error) => return Err(error),
        };
        let node = yaml::parse(&text, &mut notes.problems).map(|mut node| {
            if expands {
                let secrets = expand::expand(&mut node, self.environment, &mut notes.problems);
                self.secrets.borrow_mut().append(secrets);
            }
            let names = variables(&node);
            if self.files.len() > 1 && !names.is_empty() {
                self.filled.insert(path.to_owned(), names);
            }
            yaml::check(&mut node, "", kind, &mut notes.problems);
            node
        });
        Ok((node, notes))
    }

    /// Reads a plain text file.
    pub fn text(&mut self, path: &Path) -> Result<String, ReadError> {
        self.files.push(path.to_owned());
        self.texts.push(path.to_owned());
        self.source.read(path)
    }

    /// Files of a folder with one of these extensions, sorted, without hidden ones.
    pub fn list(&mut self, dir: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, ReadError> {
        self.folders.push(dir.to_owned());
        self.source.list(dir, extensions)
    }

    /// True if `dir` is a folder; records it as searched, so that its creation is noticed.
    pub fn has_dir(&mut self, dir: &Path) -> bool {
        self.folders.push(dir.to_owned());
        self.source.has_dir(dir)
    }

    /// An environment variable that replaces the value of `key`.
    pub fn variable(&self, name: &str, key: &str) -> Option<String> {
        let value = (self.environment)(name)?;
        self.secrets.borrow_mut().filled(name, &value, key);
        Some(value)
    }

    /// Like [`Reading::file`]; reports a file that cannot be opened.
    pub fn file_or_problem(&mut self, path: &Path, kind: &Kind) -> Option<(Node, Notes)> {
        let read = self.file(path, kind);
        self.or_problem(path, read)
    }

    /// Like [`Reading::file_or_problem`], for files with references of their own (`${…}`).
    pub fn unexpanded(&mut self, path: &Path, kind: &Kind) -> Option<(Node, Notes)> {
        let read = self.checked(path, kind, false);
        self.or_problem(path, read)
    }

    fn or_problem(
        &mut self,
        path: &Path,
        read: Result<(Option<Node>, Notes), ReadError>,
    ) -> Option<(Node, Notes)> {
        match read {
            Ok((Some(node), notes)) => return Some((node, notes)),
            Ok((None, notes)) => self.take(notes),
            Err(error) => {
                let mut notes = Notes::new(path);
                notes.problems.add(Position::START, error.message, error.way_out);
                self.take(notes);
            }
        }
        None
    }

    /// Adds the notes of a file.
    pub fn take(&mut self, notes: Notes) {
        self.problems.extend(notes.problems.into_vec());
        self.warnings.extend(notes.warnings.into_vec());
    }
}
