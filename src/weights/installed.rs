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

/// The available sets and their possible folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    sets: Vec<WeightSet>,
    own: PathBuf,
    shared: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Absent,
    /// The folder of a usable set.
    Here(PathBuf),
    /// Incomplete or changed.
    Damaged {
        folder: PathBuf,
        why: String,
    },
}

impl Weights {
    /// The built-in sets and `more`, in `own`, or in the read-only `shared`.
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

    pub fn sets(&self) -> &[WeightSet] {
        &self.sets
    }

    pub fn set(&self, name: &str) -> Option<&WeightSet> {
        self.sets.iter().find(|set| set.name == name)
    }

    /// Folder where sets are installed.
    pub fn folder(&self) -> &Path {
        &self.own
    }

    /// Folders where sets may be, installation folder first.
    pub fn folders(&self) -> Vec<PathBuf> {
        std::iter::once(&self.own).chain(&self.shared).cloned().collect()
    }

    /// Path of a set's file, installed or not.
    pub fn file(&self, set: &str, name: &str) -> PathBuf {
        let places: Vec<PathBuf> =
            self.folders().iter().map(|folder| folder.join(set).join(name)).collect();
        let here = places.iter().find(|path| path.is_file());
        here.cloned().unwrap_or_else(|| self.own.join(set).join(name))
    }

    /// The folder of the set `name`, if all files have the expected lengths; the error explains the
    /// fix.
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

    /// State of `set` by the lengths of its files.
    pub fn state(&self, set: &WeightSet) -> State {
        self.looked_at(set, &length)
    }

    /// State of `set` by the hashes of its files. Reads them all: not for the runtime's threads.
    pub fn verified(&self, set: &WeightSet) -> State {
        self.looked_at(set, &|path, file| {
            length(path, file)?;
            let is = Digest::of_file(path).map_err(|error| unreadable(file, &error))?;
            if is == file.sha256 { Ok(()) } else { Err(format!("{} has changed", file.name)) }
        })
    }

    /// Names of folders of former sets: from an earlier version or configuration.
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

    /// Prefers a usable set to a damaged one, then our own folder to the shared one.
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

/// Checks one file.
type Look = dyn Fn(&Path, &WeightFile) -> Result<(), Why>;
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
