//! Data folders and databases that a configuration has created on this machine. A downloaded folder
//! may bring others, with sessions, servers and permissions that the user has not agreed to.
//!
//! Entry functions: [`record`], [`known`].

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use super::{checked::Config, memory::MemoryPlace, state};
use crate::launch::real;

const FILE: &str = "data.json";

/// Records data of `config` that does not exist yet as created by this run.
pub fn record(config: &Config) -> io::Result<()> {
    let mut places = vec![&config.data_dir];
    if let MemoryPlace::File(path) = &config.memory.place {
        places.push(path);
    }
    let places = places.into_iter().filter(|it| is_empty(it)).map(|it| real(it));
    let new: BTreeSet<String> = places.filter_map(|it| Some(it.to_str()?.to_owned())).collect();
    let Some(key) = config.files.first().and_then(|file| state::key(file)) else { return Ok(()) };
    let mut all = recorded(&key);
    if new.is_subset(&all) {
        return Ok(());
    }
    all.extend(new);
    state::put(FILE, key, all)
}

/// Data that the configuration at `file` has created; `None`: no place for records.
pub fn known(file: &Path) -> Option<BTreeSet<PathBuf>> {
    state::path(FILE)?;
    let all = state::key(file).map(|key| recorded(&key)).unwrap_or_default();
    Some(all.into_iter().map(PathBuf::from).collect())
}

fn recorded(key: &str) -> BTreeSet<String> {
    let all = state::path(FILE).and_then(|path| state::read(&path).ok());
    all.and_then(|mut all| all.remove(key)).unwrap_or_default()
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
