//! Indexes transcripts in a task of its own. Entry type: [`Indexer`].

use std::{
    future::pending,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::chunk::{self, Chunks, PAUSE};
use crate::{
    campaign::served::{Served, Shards},
    domain::Scope,
    memory::{Error, ItemFilter, LineFilter, MemoryStore, Pick, SessionFilter, Vector, Viewer},
    panics::{Panics, caught},
    tools::builtin::Meaning,
};

/// Lines per read.
const LINES: usize = 256;
/// Texts per embedding request.
const TEXTS: usize = 32;
/// Longest wait at shutdown; the next start indexes the rest.
const PATIENCE: Duration = Duration::from_secs(3);

/// Wait after repeated failures.
const FAILING: Duration = Duration::from_secs(60);

/// Scopes that a process indexes.
pub enum Indexed {
    /// Those of owners that it serves.
    Served(Served),
    Only(Scope),
}

/// Indexes scopes. Cloning shares it.
#[derive(Clone)]
pub struct Indexer {
    stop: CancellationToken,
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Indexer {
    /// Indexes `scopes` of `store`, each by itself, until closed: whenever lines were `written`,
    /// and when this process begins to serve other owners. `now` is Unix time in ms.
    pub fn open(
        store: Arc<dyn MemoryStore>,
        scopes: Indexed,
        meaning: Meaning,
        written: Arc<Notify>,
        now: fn() -> i64,
    ) -> Self {
        let stop = CancellationToken::new();
        let (stopped, panics) = (stop.clone(), Panics::default());
        let work = Work { store, scopes, meaning, written, now, stop: stopped, panics };
        let task = Arc::new(Mutex::new(Some(tokio::spawn(work.run()))));
        Self { stop, task }
    }

    /// Indexes the rest and ends, within a time limit. Cancel safe.
    pub async fn close(&self) {
        self.stop.cancel();
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut task) = task
            && timeout(PATIENCE, &mut task).await.is_err()
        {
            task.abort();
        }
    }
}

struct Work {
    store: Arc<dyn MemoryStore>,
    scopes: Indexed,
    meaning: Meaning,
    written: Arc<Notify>,
    now: fn() -> i64,
    stop: CancellationToken,
    panics: Panics,
}

impl Work {
    async fn run(mut self) {
        let mut changes = match &self.scopes {
            Indexed::Served(served) => Some(served.changes()),
            Indexed::Only(_) => None,
        };
        loop {
            // Lines that may still grow are looked at again.
            let waits = self.pass((self.now)().saturating_sub(PAUSE)).await;
            let pause = Duration::from_millis(PAUSE.unsigned_abs());
            let next = async {
                if !waits {
                    tokio::select! {
                        () = self.written.notified() => {}
                        () = changed(changes.as_mut()) => {}
                    }
                }
                sleep(pause).await;
            };
            if self.stop.run_until_cancelled(next).await.is_none() {
                break;
            }
        }
        // The session is over: no more lines.
        self.pass(i64::MAX).await;
    }

    /// Indexes lines before `until`; true if younger ones remain.
    async fn pass(&mut self, until: i64) -> bool {
        let indexed = caught(async {
            let mut waits = false;
            for scope in self.scopes().await? {
                waits |= self.chunk(&scope, until).await?;
                self.embed(&scope).await?;
            }
            Ok::<bool, Error>(waits)
        });
        match indexed.await {
            Ok(Ok(waits)) => waits,
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot index lines for now");
                false
            }
            Err(fault) => {
                tracing::error!(%fault, "cannot index lines for now");
                let wait = self.panics.count(Instant::now()).unwrap_or(FAILING);
                self.stop.run_until_cancelled(sleep(wait)).await;
                true
            }
        }
    }

    async fn scopes(&self) -> Result<Vec<Scope>, Error> {
        let served = match &self.scopes {
            Indexed::Only(only) => return Ok(vec![only.clone()]),
            Indexed::Served(served) => served,
        };
        let mut scopes = self.store.scopes().await?;
        scopes.retain(|scope| served.serves(scope.owner));
        Ok(scopes)
    }

    async fn chunk(&self, scope: &Scope, until: i64) -> Result<bool, Error> {
        let mut waits = false;
        let sessions = self.store.sessions(scope, SessionFilter::default()).await?;
        for entry in sessions.into_iter().filter(|entry| entry.unindexed > 0) {
            loop {
                let filter = LineFilter {
                    session: Some(entry.session.id.clone()),
                    pick: Pick::Unindexed,
                    limit: LINES,
                    ..LineFilter::default()
                };
                let lines = self.store.lines(scope, filter, Viewer::Dm).await?;
                let is_all = lines.len() < LINES;
                let Chunks { items, waits: left } = chunk::chunks(&lines, until, is_all);
                waits |= left;
                let some = !items.is_empty() && self.store.put_items(scope, items).await? > 0;
                if is_all || !some {
                    break;
                }
            }
        }
        Ok(waits)
    }

    /// Embeds every item by the current model and removes vectors of other models.
    async fn embed(&self, scope: &Scope) -> Result<(), Error> {
        let Meaning { model, embedder } = &self.meaning;
        loop {
            let without = Some(model.clone());
            let filter = ItemFilter { without, limit: TEXTS, ..ItemFilter::default() };
            let items = self.store.items(scope, filter, Viewer::Dm).await?;
            if items.is_empty() {
                break;
            }
            let texts: Vec<String> = items.iter().map(|item| item.text.clone()).collect();
            let made = match embedder.embed(&texts).await {
                Ok(made) => made,
                Err(error) => {
                    tracing::warn!(%error, "lines have no vectors for now");
                    return Ok(());
                }
            };
            let pairs = items.into_iter().zip(made);
            let vectors = pairs
                .filter(|(_, values)| values.iter().any(|value| *value != 0.0))
                .map(|(item, values)| Vector { item: item.id, values });
            let vectors = vectors.collect();
            if self.store.put_vectors(scope, model, vectors).await? == 0 {
                break;
            }
        }
        self.store.keep_vectors_of(scope, model).await.map(drop)
    }
}

/// Waits until other owners are served; forever without `changes`.
async fn changed(changes: Option<&mut watch::Receiver<Shards>>) {
    let is_changed = match changes {
        Some(changes) => changes.changed().await.is_ok(),
        None => false,
    };
    if !is_changed {
        pending::<()>().await;
    }
}
