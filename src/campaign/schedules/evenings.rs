//! Running sessions, as schedules see them.
//!
//! Entry type: [`Evenings`]. **Never**: keeps a table open.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::{
    sync::{Notify, mpsc},
    time::Instant,
};

use super::{super::clock, due::SessionTime};
use crate::{
    domain::Scope,
    session::{Command, Halts, WeakTableEvents},
};

/// The table of a session.
pub struct EveningTable {
    pub commands: mpsc::WeakSender<Command>,
    pub events: WeakTableEvents,
    /// X-cards used so far.
    pub halts: Arc<Halts>,
}

/// A running session.
pub struct Evening {
    pub scope: Scope,
    pub table: EveningTable,
    /// Unix time in ms.
    began: i64,
    /// Time before `at` in ms: it was interrupted.
    before: i64,
    at: Instant,
}

impl Evening {
    pub fn time(&self) -> SessionTime {
        let elapsed = i64::try_from(self.at.elapsed().as_millis()).unwrap_or(i64::MAX);
        SessionTime { began: self.began, elapsed: elapsed.saturating_add(self.before) }
    }
}

/// Running sessions. Cloning shares them.
#[derive(Clone, Default)]
pub struct Evenings(Arc<Shared>);

#[derive(Default)]
struct Shared {
    running: Mutex<Vec<Arc<Evening>>>,
    changed: Notify,
}

/// A session ends when this is dropped.
pub struct EveningGuard {
    evening: Arc<Evening>,
    evenings: Evenings,
}

impl Drop for EveningGuard {
    fn drop(&mut self) {
        self.evenings.running().retain(|it| !Arc::ptr_eq(it, &self.evening));
        self.evenings.wake();
    }
}

impl Evenings {
    /// A session of `scope` begins, or goes on that `began` at this Unix time in ms.
    pub fn begin(&self, scope: Scope, table: EveningTable, began: i64) -> EveningGuard {
        let before = clock::now().saturating_sub(began).max(0);
        let evening = Arc::new(Evening { scope, table, began, before, at: Instant::now() });
        self.running().push(Arc::clone(&evening));
        self.wake();
        EveningGuard { evening, evenings: self.clone() }
    }

    /// The newest session of `scope`.
    pub fn of(&self, scope: &Scope) -> Option<Arc<Evening>> {
        self.running().iter().rev().find(|it| it.scope == *scope).cloned()
    }

    /// Scopes of running sessions.
    pub fn scopes(&self) -> Vec<Scope> {
        self.running().iter().map(|it| it.scope.clone()).collect()
    }

    /// Wakes the task of schedules.
    pub fn wake(&self) {
        self.0.changed.notify_one();
    }

    /// Waits for a change, for one task. Cancel safe.
    pub async fn changed(&self) {
        self.0.changed.notified().await;
    }

    fn running(&self) -> MutexGuard<'_, Vec<Arc<Evening>>> {
        self.0.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
