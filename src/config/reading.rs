//! One reading of all files: where they come from and what was found.

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
    /// Source of the files.
    pub source: Source,
    /// Looks up a variable.
    environment: &'a dyn Fn(&str) -> Option<String>,
    /// Identities of the tools there are.
    pub tools: &'a [&'a str],
    /// NPCs that were there before: a campaign may name those who have left since.
    pub left: &'a [Npc],
    /// Errors found so far.
    pub problems: Vec<Problem>,
    /// Warnings found so far.
    pub warnings: Vec<Problem>,
    /// Files read so far.
    pub files: Vec<PathBuf>,
    /// Folders looked into so far, there or not.
    pub folders: Vec<PathBuf>,
    /// Values that messages must not repeat.
    pub secrets: RefCell<Secrets>,
    /// Variables in files beside the configuration, by file.
    pub filled: BTreeMap<PathBuf, BTreeSet<String>>,
    /// Files whose text is taken as it is.
    pub texts: Vec<PathBuf>,
    /// Folders of music that are named, or there.
    pub music: Vec<PathBuf>,
    /// Demands of files beside the configuration.
    pub demands: Vec<Demand>,
}

/// A folder of files to read.
#[derive(Clone, Copy)]
pub struct Folder<'a> {
    /// Its path.
    pub path: &'a Path,
    /// The place of its name in a file; `None`: it is read because it exists.
    pub named_at: Option<Position>,
}

/// Problems and warnings of one file.
pub struct Notes {
    /// Errors found so far.
    pub problems: Problems,
    /// Warnings found so far.
    pub warnings: Problems,
}

impl Notes {
    /// Nothing noted yet of the file at `path`.
    pub fn new(path: &Path) -> Self {
        let name = revealed_name(&path.display().to_string());
        Self { problems: Problems::new(name.as_str()), warnings: Problems::new(name) }
    }
}

impl<'a> Reading<'a> {
    /// Nothing read yet.
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

    /// Reads and checks the file at `path`. `None` with notes: it is no YAML.
    ///
    /// # Errors
    /// The file could not be opened; nothing is noted.
    pub fn file(&mut self, path: &Path, kind: &Kind) -> Result<(Option<Node>, Notes), ReadError> {
        let mut notes = Notes::new(path);
        // A file that cannot be read now may be there soon.
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
            let secrets = expand::expand(&mut node, self.environment, &mut notes.problems);
            self.secrets.borrow_mut().append(secrets);
            let names = variables(&node);
            if self.files.len() > 1 && !names.is_empty() {
                self.filled.insert(path.to_owned(), names);
            }
            yaml::check(&mut node, "", kind, &mut notes.problems);
            node
        });
        Ok((node, notes))
    }

    /// The text of the file at `path`, which is no YAML.
    ///
    /// # Errors
    /// The file could not be read; nothing is noted.
    pub fn text(&mut self, path: &Path) -> Result<String, ReadError> {
        self.files.push(path.to_owned());
        self.texts.push(path.to_owned());
        self.source.read(path)
    }

    /// The files of a folder with one of these extensions by name; hidden ones are left out.
    ///
    /// # Errors
    /// The folder cannot be read; nothing is noted.
    pub fn list(&mut self, dir: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, ReadError> {
        self.folders.push(dir.to_owned());
        self.source.list(dir, extensions)
    }

    /// True if `dir` is a folder; it counts as looked into, so that its creation is noticed.
    pub fn has_dir(&mut self, dir: &Path) -> bool {
        self.folders.push(dir.to_owned());
        self.source.has_dir(dir)
    }

    /// A variable of the environment, which stands for the value of `key`.
    pub fn variable(&self, name: &str, key: &str) -> Option<String> {
        let value = (self.environment)(name)?;
        self.secrets.borrow_mut().filled(name, &value, key);
        Some(value)
    }

    /// Like [`Reading::file`]; a file that cannot be opened is its own problem.
    pub fn file_or_problem(&mut self, path: &Path, kind: &Kind) -> Option<(Node, Notes)> {
        match self.file(path, kind) {
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

    /// Keeps what was noted of a file.
    pub fn take(&mut self, notes: Notes) {
        self.problems.extend(notes.problems.into_vec());
        self.warnings.extend(notes.warnings.into_vec());
    }
}
