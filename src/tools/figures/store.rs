//! The file of figures.
//!
//! Entry functions: [`read()`], [`write()`]. **Never**: half-writes the file, or overwrites one it
//! could not read.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::endpoint::hex;
use crate::{
    domain::{Owner, Tier},
    files,
    tools::{Probed, Tool},
};

/// The format written.
const VERSION: u32 = 1;

/// Figures that could not be kept.
#[derive(Debug, thiserror::Error)]
#[error("cannot save the tools' figures in '{path}': {source} (set \
         data_dir)", path = path.display())]
pub struct NotKept {
    path: PathBuf,
    source: io::Error,
}

/// The whole file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct File {
    version: u32,
    /// Times it was written.
    written: u64,
    /// Of the installation's tools.
    environments: Environments,
    /// Of tools that owners have added for themselves, by the words that they are kept under.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    added: BTreeMap<String, Environments>,
}

/// Endpoint -> tools, by environment.
type Environments = BTreeMap<String, BTreeMap<String, Tools>>;
/// Identity -> figures, at one endpoint.
type Tools = BTreeMap<String, StoredFigures>;

/// Key of figures: owner, endpoint and tool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FigureKey {
    /// The owner who added the tool; `None`: it is the installation's.
    pub owner: Option<Owner>,
    /// Hash of what answers its calls.
    pub endpoint: String,
    /// Identity of the tool.
    pub tool: String,
}

/// Stored figures of one tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredFigures {
    /// Hash of its definition.
    pub hash: String,
    /// Its main category.
    pub category: String,
    /// Its further categories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Kind of its source.
    pub source: String,
    /// Hash of the host that runs it.
    pub host: Option<String>,
    /// Lowest tier it was offered in; `None`: withheld.
    pub tier: Option<Tier>,
    /// Calls its percentiles are of.
    pub calls: usize,
    p50_us: u64,
    p95_us: u64,
    p99_us: u64,
    /// The writing of the file it came in with.
    #[serde(default)]
    written: u64,
}

/// Compares everything but `written`.
impl PartialEq for StoredFigures {
    fn eq(&self, other: &Self) -> bool {
        let rest = |it: &Self| (it.tier, it.calls, it.p50_us, it.p95_us, it.p99_us);
        rest(self) == rest(other)
            && self.hash == other.hash
            && self.category == other.category
            && self.tags == other.tags
            && self.source == other.source
            && self.host == other.host
    }
}

impl StoredFigures {
    /// The figures of `tool` to be stored.
    pub fn new(tool: &Tool, tier: Option<Tier>, figures: Probed) -> Self {
        let mut categories = tool.categories().map(str::to_owned);
        Self {
            hash: hex(tool.hash),
            category: categories.next().unwrap_or_default(),
            tags: categories.collect(),
            source: tool.source.name().to_owned(),
            host: tool.endpoint.host.clone(),
            tier,
            calls: figures.calls,
            p50_us: micros(figures.p50),
            p95_us: micros(figures.p95),
            p99_us: micros(figures.p99),
            written: 0,
        }
    }

    /// The percentiles as they were measured.
    pub fn figures(&self) -> Probed {
        Probed {
            calls: self.calls,
            p50: Duration::from_micros(self.p50_us),
            p95: Duration::from_micros(self.p95_us),
            p99: Duration::from_micros(self.p99_us),
        }
    }
}

/// To the nearest microsecond, as it is shown.
fn micros(duration: Duration) -> u64 {
    let nearest = duration.saturating_add(Duration::from_nanos(500)).as_micros();
    u64::try_from(nearest).unwrap_or(u64::MAX)
}

impl File {
    /// Figures stored for `environment`.
    pub fn of(self, environment: &str) -> BTreeMap<FigureKey, StoredFigures> {
        let added = self.added.into_iter();
        let added = added.filter_map(|(word, all)| Some((Some(Owner::of_word(&word)?), all)));
        let all = std::iter::once((None, self.environments)).chain(added);
        let mut found = BTreeMap::new();
        for (owner, mut environments) in all {
            for (endpoint, tools) in environments.remove(environment).unwrap_or_default() {
                let key = |tool| FigureKey { owner, endpoint: endpoint.clone(), tool };
                found.extend(tools.into_iter().map(|(tool, kept)| (key(tool), kept)));
            }
        }
        found
    }

    /// The newest figures of each tool in `environment` that `is_meant`, by who has added it and its
    /// identity, whatever its endpoint.
    pub fn newest(
        self,
        environment: &str,
        is_meant: impl Fn(Option<Owner>, &str) -> bool,
    ) -> Tools {
        let mut newest = Tools::new();
        for (FigureKey { owner, tool, .. }, kept) in self.of(environment) {
            let is_newer = |other: &StoredFigures| other.written < kept.written;
            if is_meant(owner, &tool) && newest.get(&tool).is_none_or(is_newer) {
                newest.insert(tool, kept);
            }
        }
        newest
    }

    /// Takes over `fresh` figures.
    pub fn take(&mut self, environment: &str, fresh: &[(FigureKey, StoredFigures)]) {
        self.version = VERSION;
        self.written = self.written.saturating_add(1);
        for (key, kept) in fresh {
            let kept = StoredFigures { written: self.written, ..kept.clone() };
            let environments = match key.owner {
                None => &mut self.environments,
                Some(owner) => self.added.entry(owner.word()).or_default(),
            };
            let endpoints = environments.entry(environment.to_owned()).or_default();
            let tools = endpoints.entry(key.endpoint.clone()).or_default();
            tools.insert(key.tool.clone(), kept);
        }
    }
}

/// The file at `path`; an empty one when there is none, or none that can be read.
pub fn read(path: &Path) -> File {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return File::default(),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            set_aside(path, &error.to_string());
            return File::default();
        }
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "cannot read the saved figures of tools");
            return File::default();
        }
    };
    match serde_json::from_str::<File>(&text) {
        Ok(file) if file.version <= VERSION => return file,
        Ok(_) => set_aside(path, "it was written by a newer version"),
        Err(error) => set_aside(path, &error.to_string()),
    }
    File::default()
}

/// Moves a file out of the way that cannot be read.
fn set_aside(path: &Path, reason: &str) {
    let aside = path.with_extension("json.broken");
    let moved = fs::rename(path, &aside).is_ok();
    let (path, aside) = (path.display(), aside.display());
    tracing::warn!(%path, %aside, moved, reason, "figures of tools will be measured again");
}

/// Puts `file` in place of what is at `path`, whole or not at all.
///
/// # Errors
/// The folder or the file cannot be written.
pub fn write(path: &Path, file: &File) -> Result<(), NotKept> {
    let written = serde_json::to_vec_pretty(file)
        .map_err(io::Error::from)
        .and_then(|content| files::replace_private(path, &content));
    written.map_err(|source| NotKept { path: path.to_owned(), source })
}
