//! Figures of earlier runs, and of absent tools. **Never**: accesses the disk while locked.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::time::Instant;

use super::{
    Endpoint, hex,
    store::{self, FigureKey, NotKept, StoredFigures},
};
use crate::tools::{Latency, ServerKey, SourceKind, Tool};

pub const FILE_NAME: &str = "figures.json";

#[derive(Debug, Default)]
pub struct Figures(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// `None`: figures are not stored.
    place: Option<Storage>,
    endpoints: BTreeMap<ServerKey, Arc<Endpoint>>,
    known: BTreeMap<FigureKey, StoredFigures>,
    /// Not yet in the file.
    fresh: BTreeSet<FigureKey>,
}

#[derive(Clone, Debug)]
struct Storage {
    path: PathBuf,
    environment: String,
}

impl Figures {
    /// Reads the figures in `folder` for `environment`; call it before any offer. An unreadable
    /// file is set aside with a warning.
    pub fn open(&self, folder: &Path, environment: &str) {
        let place = Storage { path: folder.join(FILE_NAME), environment: environment.to_owned() };
        let known = store::read(&place.path).of(environment);
        let mut state = self.lock();
        state.known = known;
        state.place = Some(place);
    }

    /// Sets the command line or address of `server`; call it before its offer.
    pub fn set_endpoint(&self, server: &ServerKey, endpoint: &str) {
        self.lock().endpoints.insert(server.clone(), Arc::new(Endpoint::new(endpoint)));
    }

    /// Endpoint of `server`; without one, its kind.
    pub(in crate::tools) fn endpoint(&self, server: &ServerKey, kind: SourceKind) -> Arc<Endpoint> {
        let known = self.lock().endpoints.get(server).cloned();
        known.unwrap_or_else(|| Arc::new(Endpoint::new(kind.name())))
    }

    /// Figures of earlier calls of this tool.
    pub(in crate::tools) fn recall(&self, tool: &Tool) -> Option<Latency> {
        let state = self.lock();
        let kept = state.known.get(&key(tool))?;
        (kept.hash == hex(tool.hash)).then(|| Latency::known(kept.figures()))
    }

    /// Takes over the figures of `tools`.
    pub(in crate::tools) fn remember<'a>(&self, tools: impl IntoIterator<Item = &'a Arc<Tool>>) {
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

    /// Merges new figures into the file.
    pub fn write(&self) -> Result<(), NotKept> {
        // Unlock before writing.
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

fn key(tool: &Tool) -> FigureKey {
    FigureKey {
        owner: tool.owner,
        endpoint: tool.endpoint.key.clone(),
        tool: tool.identity.to_string(),
    }
}
