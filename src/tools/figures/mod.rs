//! Measured figures that outlive the program: one set per environment and endpoint.
//!
//! Entry type: [`Figures`]. **Never**: keeps an endpoint in readable form, arguments, or results.

mod badge;
mod lines;
mod report;
mod store;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::time::Instant;

use self::store::StoredFigures;
pub use self::{
    badge::{Badge, tag},
    lines::{calibrated_line, millis, reported_line, tool_line},
    report::{Report, Reported, rank},
    store::NotKept,
};
use super::{Latency, SourceKind, Tool, ToolHost};
use crate::domain::fnv1a;

/// Name of the file in the data folder.
const FILE_NAME: &str = "figures.json";

/// What answers a server's calls, as far as it may be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Hash of the command line or address, which may hold secrets.
    key: String,
    /// Hash of the host, where there is one.
    host: Option<String>,
}

impl Endpoint {
    /// The endpoint with this command line or address.
    fn new(endpoint: &str) -> Self {
        Self { key: hashed(endpoint), host: host_of(endpoint).map(|host| hashed(&host)) }
    }
}

/// Figures of earlier runs, and of tools that are away.
#[derive(Debug, Default)]
pub struct Figures(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Where they are kept; `None`: nowhere.
    place: Option<Storage>,
    endpoints: BTreeMap<String, Arc<Endpoint>>,
    /// By endpoint and identity.
    known: BTreeMap<(String, String), StoredFigures>,
    /// Those the file does not have.
    fresh: BTreeSet<(String, String)>,
}

#[derive(Clone, Debug)]
struct Storage {
    path: PathBuf,
    environment: String,
}

impl Figures {
    /// Reads what `folder` keeps for `environment`, before anything is offered. A file that cannot
    /// be read is set aside with a warning.
    pub fn open(&self, folder: &Path, environment: &str) {
        let place = Storage { path: folder.join(FILE_NAME), environment: environment.to_owned() };
        let known = store::read(&place.path).of(environment);
        let mut state = self.lock();
        state.known = known;
        state.place = Some(place);
    }

    /// Sets the command line or address of `server`, before it is offered.
    pub fn set_endpoint(&self, server: &str, endpoint: &str) {
        self.lock().endpoints.insert(server.to_owned(), Arc::new(Endpoint::new(endpoint)));
    }

    /// What answers the calls of `server`; without an own one, its kind.
    pub(super) fn endpoint(&self, server: &str, kind: SourceKind) -> Arc<Endpoint> {
        let known = self.lock().endpoints.get(server).cloned();
        known.unwrap_or_else(|| Arc::new(Endpoint::new(kind.name())))
    }

    /// What earlier calls of this very tool have shown.
    pub(super) fn recall(&self, tool: &Tool) -> Option<Latency> {
        let state = self.lock();
        let kept = state.known.get(&key(tool))?;
        (kept.hash == hex(tool.hash)).then(|| Latency::known(kept.figures()))
    }

    /// Takes over what is measured of `tools`.
    pub(super) fn remember<'a>(&self, tools: impl IntoIterator<Item = &'a Arc<Tool>>) {
        let now = Instant::now();
        let mut state = self.lock();
        for tool in tools {
            let standing = tool.latency.standing(now);
            let Some(measured) = standing.measured else { continue };
            let kept = StoredFigures::new(tool, standing.tier(&tool.declared), measured);
            let key = key(tool);
            if state.known.get(&key) != Some(&kept) {
                state.known.insert(key.clone(), kept);
                state.fresh.insert(key);
            }
        }
    }

    /// Writes what is new into the file, beside what others have written since.
    fn write(&self) -> Result<(), NotKept> {
        // Nobody waits for a disk: the lock is free meanwhile.
        let (place, fresh) = {
            let state = self.lock();
            let Some(place) = state.place.clone().filter(|_| !state.fresh.is_empty()) else {
                return Ok(());
            };
            let fresh = state.fresh.iter();
            let fresh = fresh.filter_map(|key| Some((key.clone(), state.known.get(key)?.clone())));
            (place, fresh.collect::<Vec<_>>())
        };
        let mut file = store::read(&place.path);
        file.take(&place.environment, &fresh);
        store::write(&place.path, &file)?;
        let mut state = self.lock();
        for (key, kept) in fresh {
            if state.known.get(&key) == Some(&kept) {
                state.fresh.remove(&key);
            }
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolHost {
    /// Keeps what was measured for the next run. Does nothing without a folder, or when nothing
    /// is new.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep_figures(&self) -> Result<(), NotKept> {
        let figures = self.catalog().figures();
        figures.remember(self.catalog().snapshot().all().iter().map(|entry| &entry.tool));
        figures.write()
    }
}

/// What `folder` keeps for `environment`, to be shown to others.
pub fn report(folder: &Path, environment: &str) -> Report {
    Report::new(store::read(&folder.join(FILE_NAME)).newest(environment))
}

fn key(tool: &Tool) -> (String, String) {
    (tool.endpoint.key.clone(), tool.identity.to_string())
}

fn hashed(text: &str) -> String {
    hex(fnv1a(text.bytes()))
}

/// A hash as it is written.
fn hex(hash: u64) -> String {
    format!("{hash:016x}")
}

/// The host of a web address, without user, port and what follows.
fn host_of(endpoint: &str) -> Option<String> {
    let rest = endpoint.strip_prefix("https://").or_else(|| endpoint.strip_prefix("http://"))?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => host,
        _ => host,
    };
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}
