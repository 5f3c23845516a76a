//! The file of figures. **Never**: leaves it half written, or overwrites an unreadable one.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::hex;
use crate::{
    domain::{Owner, Tier},
    files,
    tools::{Probed, Tool},
};

const VERSION: u32 = 1;

#[derive(Debug, thiserror::Error)]
#[error("cannot save the tools' figures in '{path}': {source} (set \
         data_dir)", path = path.display())]
pub struct NotKept {
    path: PathBuf,
    source: io::Error,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct File {
    version: u32,
    /// Number of writes.
    written: u64,
    /// The installation's tools.
    environments: Environments,
    /// Tools added by owners, by the owner's stored name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    added: BTreeMap<String, Environments>,
}

/// By environment and endpoint.
type Environments = BTreeMap<String, BTreeMap<String, Tools>>;
/// By identity.
type Tools = BTreeMap<String, StoredFigures>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FigureKey {
    /// The tool's owner; `None`: the installation.
    pub owner: Option<Owner>,
    pub endpoint: String,
    pub tool: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredFigures {
    pub hash: String,
    pub category: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    pub source: String,
    pub host: Option<String>,
    /// `None`: withheld.
    pub tier: Option<Tier>,
    pub calls: usize,
    p50_us: u64,
    p95_us: u64,
    p99_us: u64,
    /// Value of [`File::written`] when these were added.
    #[serde(default)]
    written: u64,
}

/// Ignores `written`.
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

    pub fn figures(&self) -> Probed {
        Probed {
            calls: self.calls,
            p50: Duration::from_micros(self.p50_us),
            p95: Duration::from_micros(self.p95_us),
            p99: Duration::from_micros(self.p99_us),
        }
    }
}

/// Rounds to the microsecond, as shown.
fn micros(duration: Duration) -> u64 {
    let nearest = duration.saturating_add(Duration::from_nanos(500)).as_micros();
    u64::try_from(nearest).unwrap_or(u64::MAX)
}

impl File {
    /// Figures of one environment.
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

    /// Newest figures in `environment` of each tool accepted by `is_meant`, by owner and identity,
    /// at any endpoint.
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

/// The file at `path`; empty if missing or unreadable.
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

/// Renames an unreadable file.
fn set_aside(path: &Path, reason: &str) {
    let aside = path.with_extension("json.broken");
    let moved = fs::rename(path, &aside).is_ok();
    let (path, aside) = (path.display(), aside.display());
    tracing::warn!(%path, %aside, moved, reason, "figures of tools will be measured again");
}

/// Replaces the file at `path` atomically.
pub fn write(path: &Path, file: &File) -> Result<(), NotKept> {
    let written = serde_json::to_vec_pretty(file)
        .map_err(io::Error::from)
        .and_then(|content| files::replace_private(path, &content));
    written.map_err(|source| NotKept { path: path.to_owned(), source })
}
