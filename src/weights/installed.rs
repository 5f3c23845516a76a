//! Installed weights, and their folders.
//!
//! Entry type: [`Weights`].

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    built_in::built_in,
    digest::Digest,
    error::NotHere,
    manifest::Manifest,
    set::{WeightFile, WeightSet},
};

/// The sets that can be got, and the folders they may lie in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    sets: Vec<WeightSet>,
    own: PathBuf,
    shared: Option<PathBuf>,
}

/// State of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It is not installed.
    Absent,
    /// It can be used.
    Here(PathBuf),
    /// It cannot be used as it is.
    Damaged {
        /// Folder of the set.
        folder: PathBuf,
        /// Description of the damage.
        why: String,
    },
}

impl Weights {
    /// The built-in sets and `more`, which lie in `own`, or in `shared`, where nothing is written.
    pub fn new(own: PathBuf, shared: Option<PathBuf>, more: Vec<WeightSet>) -> Self {
        let mut sets = built_in();
        sets.extend(more);
        Self { sets, own, shared }
    }

    /// These sets in another folder, without a shared one.
    #[must_use]
    pub fn in_folder(self, own: PathBuf) -> Self {
        Self { own, shared: None, ..self }
    }

    /// Every set, the built-in ones first.
    pub fn sets(&self) -> &[WeightSet] {
        &self.sets
    }

    /// The set called `name`.
    pub fn set(&self, name: &str) -> Option<&WeightSet> {
        self.sets.iter().find(|set| set.name == name)
    }

    /// Folder that sets are installed in.
    pub fn folder(&self) -> &Path {
        &self.own
    }

    /// The folders that sets may lie in, the one they are put in first.
    pub fn folders(&self) -> Vec<PathBuf> {
        std::iter::once(&self.own).chain(&self.shared).cloned().collect()
    }

    /// Path of a file of a set, installed or not.
    pub fn file(&self, set: &str, name: &str) -> PathBuf {
        let places: Vec<PathBuf> =
            self.folders().iter().map(|folder| folder.join(set).join(name)).collect();
        let here = places.iter().find(|path| path.is_file());
        here.cloned().unwrap_or_else(|| self.own.join(set).join(name))
    }

    /// The folder of the set called `name`, all files of which have their lengths.
    ///
    /// # Errors
    /// It cannot be used; says what to do about it.
    pub fn installed(&self, name: &str) -> Result<PathBuf, NotHere> {
        let set = self.set(name).ok_or_else(|| NotHere::Unknown(name.to_owned()))?;
        match self.state(set) {
            State::Here(folder) => Ok(folder),
            State::Absent => Err(NotHere::Absent(name.to_owned())),
            State::Damaged { folder, why } => {
                Err(NotHere::Damaged { name: name.to_owned(), folder, why })
            }
        }
    }

    /// State of `set`, by the lengths of its files.
    pub fn state(&self, set: &WeightSet) -> State {
        self.looked_at(set, &length)
    }

    /// Like [`Self::state`], by the hashes of the files. Reads all of them: not for the runtime's own
    /// threads.
    pub fn verified(&self, set: &WeightSet) -> State {
        self.looked_at(set, &|path, file| {
            length(path, file)?;
            let is = Digest::of_file(path).map_err(|error| unreadable(file, &error))?;
            if is == file.sha256 { Ok(()) } else { Err(format!("{} has changed", file.name)) }
        })
    }

    /// Names of folders that are a set's no more: of an earlier version, or a changed configuration.
    pub fn left_over(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.own).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_ours = Manifest::read(&entry.path()).is_ok_and(|it| it.name == name);
            (is_ours && self.set(&name).is_none()).then_some(name)
        });
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// A usable set goes before a damaged one, and our own folder before the shared one.
    fn looked_at(&self, set: &WeightSet, look: &Look) -> State {
        let states: Vec<State> = self
            .folders()
            .iter()
            .map(|folder| folder.join(&set.name))
            .filter(|folder| folder.exists())
            .map(|folder| match examine(&folder, set, look) {
                Ok(()) => State::Here(folder),
                Err(why) => State::Damaged { folder, why },
            })
            .collect();
        let best = states.iter().find(|state| matches!(state, State::Here(_)));
        best.or(states.first()).cloned().unwrap_or(State::Absent)
    }
}

/// Says what is wrong with one file.
type Look = dyn Fn(&Path, &WeightFile) -> Result<(), Why>;
/// Description of damage, for a person.
type Why = String;

fn examine(folder: &Path, set: &WeightSet, look: &Look) -> Result<(), Why> {
    let manifest = Manifest::read(folder).map_err(|error| format!("no manifest: {error}"))?;
    if manifest.files != Manifest::of(set).files {
        return Err("its version differs".to_owned());
    }
    set.files.iter().try_for_each(|file| look(&folder.join(&file.name), file))
}

fn length(path: &Path, file: &WeightFile) -> Result<(), Why> {
    let about = fs::symlink_metadata(path).map_err(|error| unreadable(file, &error))?;
    if !about.is_file() {
        return Err(format!("{} is not a file", file.name));
    }
    if about.len() != file.bytes {
        return Err(format!("{} has {} bytes instead of {}", file.name, about.len(), file.bytes));
    }
    Ok(())
}

fn unreadable(file: &WeightFile, error: &std::io::Error) -> Why {
    format!("{}: {error}", file.name)
}
