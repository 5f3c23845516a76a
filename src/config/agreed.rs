//! Demands the user has agreed to: in this run, and in `trusted.json` of the user's state folder,
//! by the configuration's path.
//!
//! Entry types: [`Agreements`] and [`StartCheck`]; [`record`] and [`forget`] change the file. **Never**: asks or
//! prints.

use std::{
    collections::BTreeSet,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use super::{
    checked::{Config, FILE_NAME},
    code::Code,
    demands::{Demand, Use},
    state,
};
use crate::{campaign::now, domain::revealed_name};

const FILE: &str = "trusted.json";
/// Prefix of the time of agreement (Unix time in ms), stored among the digests.
const AT: &str = "at ";
/// Most changed files named in a message.
const NAMED: usize = 3;

#[derive(Clone, Debug, Default)]
pub struct Agreements {
    /// Everything is agreed to by the command line.
    is_given: bool,
    /// Digests of demands agreed to in this run.
    digests: BTreeSet<String>,
}

impl Agreements {
    /// Only recorded agreements; everything if it `is_given` on the command line.
    pub fn new(is_given: bool) -> Self {
        Self { is_given, digests: BTreeSet::new() }
    }

    /// Adds agreement to all of `config`, which the run begins with.
    pub fn with(mut self, config: &Config) -> Self {
        if !self.is_given {
            self.digests.extend(config.demands.iter().map(Demand::digest));
        }
        self
    }

    /// Disables the checks before programs start if the command line agrees to everything.
    pub fn settle(&self, config: &mut Config) {
        if self.is_given {
            config.code = None;
        }
    }

    /// Demands of `config` for `of` without agreement.
    pub fn lacking<'c>(&self, config: &'c Config, of: Use) -> Vec<&'c Demand> {
        let wanted = config.demands.iter().filter(|it| it.concerns(of));
        if self.is_given || wanted.clone().next().is_none() {
            return Vec::new();
        }
        let recorded = recorded(name(config).as_deref());
        let is_agreed = |demand: &Demand| {
            let digest = demand.digest();
            self.digests.contains(&digest) || recorded.contains(&digest)
        };
        wanted.filter(|demand| !is_agreed(demand)).collect()
    }
}

/// Records agreement to all demands of `config`, replacing earlier records for it.
pub fn record(config: &Config) -> io::Result<()> {
    let no_name = || io::Error::new(ErrorKind::InvalidInput, "the folder's path is not UTF-8");
    let name = name(config).ok_or_else(no_name)?;
    let digests = config.demands.iter().flat_map(|it| [it.digest(), it.line_digest()]);
    state::put(FILE, name, digests.chain([format!("{AT}{}", now())]).collect())
}

/// Removes what is recorded for the configuration `path`; true if anything was.
///
/// # Errors
/// The folder is gone, or the file with what is recorded cannot be read or written.
pub fn forget(path: &Path) -> io::Result<bool> {
    let no_folder = || {
        let message = format!("cannot find '{}' (name its folder)", path.display());
        io::Error::new(ErrorKind::NotFound, message)
    };
    state::remove(FILE, &state::key(path).ok_or_else(no_folder)?)
}

/// The first files changed since the user's yes, if programs of `config` need a new yes because of them;
/// `None`: another reason.
pub fn changed_files(config: &Config) -> Option<Vec<String>> {
    let lacking = Agreements::default().lacking(config, Use::Play);
    let recorded = recorded(name(config).as_deref());
    let was_agreed = |it: &&Demand| it.is_about_code() && recorded.contains(&it.line_digest());
    lacking.into_iter().find(was_agreed)?;
    let at = recorded.iter().find_map(|it| it.strip_prefix(AT)?.parse().ok())?;
    Some(config.code.as_ref()?.changed_since(at, NAMED))
}

/// The command that records agreement for `config`.
pub fn way_out(config: &Config) -> String {
    let path = name(config).unwrap_or_else(|| FILE_NAME.to_owned());
    let path = Path::new(&path);
    let is_usual = path.file_name().is_some_and(|it| it == FILE_NAME);
    let named = if is_usual { path.parent().unwrap_or(path) } else { path };
    let named = named.display().to_string();
    let named = shlex::try_quote(&named).unwrap_or_default();
    format!("glyphoxa trust {}", revealed_name(&named))
}

/// The file with the records; `None`: the user has no home.
pub fn file() -> Option<PathBuf> {
    state::path(FILE)
}

fn recorded(key: Option<&str>) -> BTreeSet<String> {
    key.map(|key| state::recorded(FILE, key)).unwrap_or_default()
}

/// Key of the configuration in the state folder.
fn name(config: &Config) -> Option<String> {
    state::key(config.files.first()?)
}

/// Checks before a program starts that the files it may run are unchanged since the agreement.
pub struct StartCheck {
    code: Code,
    name: Option<String>,
    demands: Vec<Demand>,
    way_out: String,
}

impl StartCheck {
    /// `None`: `config` has no programs, or the command line trusts them unconditionally.
    pub fn of(config: &Config) -> Option<Self> {
        let code = config.code.clone()?;
        let demands = config.demands.iter().filter(|it| it.is_about_code()).cloned().collect();
        Some(Self { code, name: name(config), demands, way_out: way_out(config) })
    }

    /// Why they may not start now; `None`: they may. Reads the files.
    pub fn refusal(&self) -> Option<String> {
        let now = self.code.digest();
        let now: Vec<Demand> = self.demands.iter().map(|it| it.clone().about(&now)).collect();
        if now == self.demands {
            return None;
        }
        let recorded = recorded(self.name.as_deref());
        let is_agreed = |demand: &Demand| recorded.contains(&demand.digest());
        let why = "files that it may run have changed since you trusted them";
        (!now.iter().all(is_agreed)).then(|| format!("{why} (if you agree: {})", self.way_out))
    }
}
