//! Which demands the user has agreed to: those of this run, and those in `trusted.json` of the user's own
//! state folder, by the configuration's path.
//!
//! Entry types: [`Agreements`], of a run; [`record`] adds to the file. **Never**: asks or prints.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use super::{
    checked::{Config, FILE_NAME},
    demands::{Demand, Use},
};
use crate::{domain::revealed_name, files, launch};

/// Digests of demands by configuration.
type Recorded = BTreeMap<String, BTreeSet<String>>;

/// What may be done in this run.
#[derive(Clone, Debug, Default)]
pub struct Agreements {
    /// Everything, because the command line says so.
    is_given: bool,
    /// Digests of demands that were agreed to in this run.
    digests: BTreeSet<String>,
}

impl Agreements {
    /// Nothing but what is recorded; everything if it `is_given` on the command line.
    pub fn new(is_given: bool) -> Self {
        Self { is_given, digests: BTreeSet::new() }
    }

    /// With all of `config`, which the run begins with.
    pub fn with(mut self, config: &Config) -> Self {
        if !self.is_given {
            self.digests.extend(config.demands.iter().map(Demand::digest));
        }
        self
    }

    /// Demands of `config` for `of` without a yes.
    pub fn lacking<'c>(&self, config: &'c Config, of: Use) -> Vec<&'c Demand> {
        let wanted = config.demands.iter().filter(|it| it.concerns(of));
        if self.is_given || wanted.clone().next().is_none() {
            return Vec::new();
        }
        let recorded = file().and_then(|file| read(&file).ok()).unwrap_or_default();
        let recorded = name(config).and_then(|name| recorded.get(&name));
        let is_agreed = |demand: &Demand| {
            let digest = demand.digest();
            self.digests.contains(&digest) || recorded.is_some_and(|it| it.contains(&digest))
        };
        wanted.filter(|demand| !is_agreed(demand)).collect()
    }
}

/// Records a yes to all demands of `config`, in place of what was recorded for it.
///
/// # Errors
/// There is no place for the file, or it cannot be written.
pub fn record(config: &Config) -> io::Result<()> {
    let no_home = || io::Error::new(ErrorKind::NotFound, "no state folder (set HOME)");
    let no_name = || io::Error::new(ErrorKind::InvalidInput, "the folder's path is not UTF-8");
    let name = name(config).ok_or_else(no_name)?;
    write(&file().ok_or_else(no_home)?, name, config)
}

/// The command that records a yes for `config`.
pub fn way_out(config: &Config) -> String {
    let path = name(config).unwrap_or_else(|| FILE_NAME.to_owned());
    let path = Path::new(&path);
    let is_usual = path.file_name().is_some_and(|it| it == FILE_NAME);
    let named = if is_usual { path.parent().unwrap_or(path) } else { path };
    let named = named.display().to_string();
    let named = shlex::try_quote(&named).unwrap_or_default();
    format!("glyphoxa trust {}", revealed_name(&named))
}

/// The file with what is recorded; `None`: the user has no home.
pub fn file() -> Option<PathBuf> {
    let absolute = |name| launch::variable(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    Some(state?.join("glyphoxa/trusted.json"))
}

/// The configuration's file in its folder, without links before its name.
fn name(config: &Config) -> Option<String> {
    let file = config.files.first()?;
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(folder.canonicalize().ok()?.join(file.file_name()?).to_str()?.to_owned())
}

/// What is recorded at `path`; nothing where it does not exist.
fn read(path: &Path) -> io::Result<Recorded> {
    match files::read_own(path) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Recorded::new()),
        Err(error) => Err(error),
    }
}

/// Records the demands of `config` at `path`, under `name`.
fn write(path: &Path, name: String, config: &Config) -> io::Result<()> {
    let mut recorded = read(path)?;
    recorded.insert(name, config.demands.iter().map(Demand::digest).collect());
    files::replace_private(path, &serde_json::to_vec_pretty(&recorded)?)
}
