//! Deletions on disk while the store is unavailable, and the filter of lines that arrive late.
//!
//! Entry types: [`DeletionFiles`], [`DeletedLines`]. **Never**: replaces a later deletion by an
//! earlier one, or drops a line said after the deletion was requested.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::spill::Entry;
use crate::{
    campaign::file_error::{FileError, names_in, read_if_there},
    domain::fnv1a,
    files,
    memory::Deletion,
};

/// One file per deletion, named after its key, so programs in one folder don't overwrite each
/// other's. Everything blocks.
#[derive(Clone, Debug)]
pub struct DeletionFiles {
    /// Base name; the hash of a key follows.
    base: PathBuf,
}

impl DeletionFiles {
    /// Files beside the spill files of this base name. Reads nothing yet.
    pub fn new(spill: &Path) -> Self {
        Self { base: spill.with_extension("deletion") }
    }

    /// Records a deletion durably, unless a later one with its key exists.
    pub fn put(&self, deletion: &Deletion) -> Result<(), FileError> {
        let path = self.path(deletion);
        if read(&path)?.is_some_and(|there| there.before > deletion.before) {
            return Ok(());
        }
        let text = serde_json::to_vec(deletion).map_err(io::Error::from);
        let replaced = text.and_then(|text| files::replace_private(&path, &text));
        replaced.map_err(FileError::on("write", &path))
    }

    /// Waiting deletions. Unreadable files are logged and skipped.
    pub fn all(&self) -> Result<Vec<Deletion>, FileError> {
        let folder = self.base.parent().unwrap_or(Path::new(""));
        let begins = self.base.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let mut all = Vec::new();
        for name in names_in(folder)? {
            let hash = name.strip_prefix(begins).and_then(|rest| rest.strip_prefix('.'));
            if !hash.is_some_and(|hash| hash.ends_with(".json")) {
                continue;
            }
            match read(&folder.join(&name)) {
                Ok(deletion) => all.extend(deletion),
                Err(error) => tracing::error!(%error, "a deletion that waits is not done"),
            }
        }
        Ok(all)
    }

    /// Removes the record of a finished deletion, unless a later one has replaced it.
    pub fn remove(&self, deletion: &Deletion) -> Result<(), FileError> {
        let path = self.path(deletion);
        match read(&path)? {
            Some(there) if there.before <= deletion.before => {
                fs::remove_file(&path).map_err(FileError::on("delete", &path))
            }
            _ => Ok(()),
        }
    }

    fn path(&self, deletion: &Deletion) -> PathBuf {
        let session = deletion.from.session.as_ref().map_or("", |session| &session.0);
        let key = format!("{}\n{}\n{session}", deletion.from.owner.word(), deletion.player);
        self.base.with_extension(format!("deletion.{:016x}.json", fnv1a(key.bytes())))
    }
}

fn read(path: &Path) -> Result<Option<Deletion>, FileError> {
    let Some(text) = read_if_there(path)? else { return Ok(None) };
    let read = serde_json::from_slice(&text).map_err(io::Error::from);
    read.map(Some).map_err(FileError::on("read", path))
}

/// Deletions of this run of the program. Cloning shares them.
#[derive(Clone, Debug, Default)]
pub struct DeletedLines(Arc<Mutex<Vec<Deletion>>>);

impl DeletedLines {
    /// Drops lines of `deletion` from now on.
    pub fn add(&self, deletion: &Deletion) {
        let mut all = self.all();
        match all.iter_mut().find(|it| it.is_like(deletion)) {
            Some(it) => it.before = it.before.max(deletion.before),
            None => all.push(deletion.clone()),
        }
    }

    /// Removes deleted lines from `entry` and returns their number.
    pub fn take_out(&self, entry: &mut Entry) -> u64 {
        let there = entry.lines();
        if let Entry::Lines(scope, lines) = entry {
            let all = self.all();
            lines.retain(|line| !all.iter().any(|it| it.covers(scope, line)));
        }
        there - entry.lines()
    }

    fn all(&self) -> MutexGuard<'_, Vec<Deletion>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::{domain::Owner, memory::ForgetFrom};

    fn asked(player: &str, before: i64) -> Deletion {
        let from = ForgetFrom { owner: Owner::Guild(7), session: None };
        Deletion::of(player.to_owned(), from, before)
    }

    #[test]
    fn later_deletion_outlasts_earlier_one() {
        let folder = tempfile::tempdir().unwrap();
        let files = DeletionFiles::new(&folder.path().join("data/waiting"));
        assert_eq!(files.all().unwrap(), []);
        for before in [2, 3, 1] {
            files.put(&asked("1", before)).unwrap();
        }
        assert_eq!(files.all().unwrap(), [asked("1", 3)]);
        fs::write(folder.path().join("data/waiting.0.jsonl"), "not one").unwrap();
        for file in fs::read_dir(folder.path().join("data")).unwrap() {
            let file = file.unwrap();
            let mode = file.metadata().unwrap().permissions().mode() & 0o777;
            assert!(mode == 0o600 || file.file_name() == "waiting.0.jsonl", "{mode:o}");
        }
        files.put(&asked("2", 1)).unwrap();
        files.remove(&asked("1", 2)).unwrap();
        assert_eq!(files.all().unwrap().len(), 2);
        files.remove(&asked("1", 3)).unwrap();
        assert_eq!(files.all().unwrap(), [asked("2", 1)]);
    }
}
