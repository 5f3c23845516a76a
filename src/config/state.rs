//! Records about configurations in the user's state folder, outside every campaign folder: sets of
//! texts by the configuration's path.
//!
//! Entry functions: [`path`], [`key`], [`read`], [`put`].

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use crate::{files, launch};

pub type Recorded = BTreeMap<String, BTreeSet<String>>;

/// The file called `name`; `None`: the user has no home.
pub fn path(name: &str) -> Option<PathBuf> {
    let absolute = |name| launch::variable(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    Some(state?.join("glyphoxa").join(name))
}

/// Path of the configuration's `file`, with the links of its folder resolved.
pub fn key(file: &Path) -> Option<String> {
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(folder.canonicalize().ok()?.join(file.file_name()?).to_str()?.to_owned())
}

/// Reads the records at `path`; empty if it does not exist.
pub fn read(path: &Path) -> io::Result<Recorded> {
    match files::read_own(path) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Recorded::new()),
        Err(error) => Err(error),
    }
}

/// Replaces the texts of `key` in the file called `name`.
pub fn put(name: &str, key: String, texts: BTreeSet<String>) -> io::Result<()> {
    change(name, |recorded| recorded.insert(key, texts)).map(drop)
}

/// Removes what is recorded under `key` in the file called `name`; true if anything was.
///
/// # Errors
/// There is no place for the file, or it cannot be read or written.
pub fn remove(name: &str, key: &str) -> io::Result<bool> {
    change(name, |recorded| recorded.remove(key)).map(|removed| removed.is_some())
}

/// Changes the file called `name`, and returns what `change` does.
fn change<T>(name: &str, change: impl FnOnce(&mut Recorded) -> T) -> io::Result<T> {
    let no_home = || io::Error::new(ErrorKind::NotFound, "no state folder (set HOME)");
    let path = path(name).ok_or_else(no_home)?;
    let put = || -> io::Result<T> {
        let mut recorded = read(&path)?;
        let changed = change(&mut recorded);
        files::replace_private(&path, &serde_json::to_vec_pretty(&recorded)?)?;
        Ok(changed)
    };
    put().map_err(|error| {
        let file = path.display();
        let way_out = "make it writable, or set XDG_STATE_HOME to another folder";
        io::Error::new(error.kind(), format!("cannot record it in '{file}': {error} ({way_out})"))
    })
}
