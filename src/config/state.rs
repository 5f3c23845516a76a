//! Records about configurations in the user's state folder, outside every campaign folder: sets of
//! texts by the configuration's path. One of them lists the data that a configuration has created.
//!
//! A downloaded folder may bring other data, with sessions, servers and permissions that the user
//! has not agreed to. Entry functions: [`recorded`], [`put`], [`remove`], [`record`], [`known`].

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use super::{checked::Config, memory::MemoryPlace};
use crate::{
    files,
    launch::{self, real},
};

type Recorded = BTreeMap<String, BTreeSet<String>>;

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
fn read(path: &Path) -> io::Result<Recorded> {
    match files::read_own(path) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Recorded::new()),
        Err(error) => Err(error),
    }
}

/// Texts recorded under `key` in the file called `name`; none if it cannot be read.
pub fn recorded(name: &str, key: &str) -> BTreeSet<String> {
    let all = path(name).and_then(|path| read(&path).ok());
    all.and_then(|mut all| all.remove(key)).unwrap_or_default()
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

const FILE: &str = "data.json";

/// Records data of `config` that does not exist yet as created by this run.
pub fn record(config: &Config) -> io::Result<()> {
    let mut places = vec![&config.data_dir];
    if let MemoryPlace::File(path) = &config.memory.place {
        places.push(path);
    }
    let places = places.into_iter().filter(|it| is_empty(it)).map(|it| real(it));
    let new: BTreeSet<String> = places.filter_map(|it| Some(it.to_str()?.to_owned())).collect();
    let Some(key) = config.files.first().and_then(|file| key(file)) else { return Ok(()) };
    let mut all = recorded(FILE, &key);
    if new.is_subset(&all) {
        return Ok(());
    }
    all.extend(new);
    put(FILE, key, all)
}

/// Data that the configuration at `file` has created; `None`: no place for records.
pub fn known(file: &Path) -> Option<BTreeSet<PathBuf>> {
    path(FILE)?;
    let all = key(file).map(|key| recorded(FILE, &key)).unwrap_or_default();
    Some(all.into_iter().map(PathBuf::from).collect())
}

pub fn is_empty(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => {
            fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
        }
        Ok(about) => about.len() == 0,
        Err(_) => path.symlink_metadata().is_err(),
    }
}
