//! What the faces and the task of schedules share. Entry type: [`Shared`].

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::broadcast::{self, Receiver};

use super::{entry::Entry, evenings::Evenings, shown};
use crate::{
    campaign::settings::SharedSettings, domain::Scope, memory::MemoryStore, session::TableEvent,
};

/// Notices waiting for a face; later ones replace the oldest.
const NOTICES: usize = 64;
/// Longest suggestion, in characters (Discord's limit).
const SUGGESTED_MAX: usize = 100;

/// A notice for the game master of a scope without a running session.
#[derive(Clone, Debug)]
pub struct ScheduleNotice {
    pub scope: Scope,
    pub text: String,
}

/// Parts of [`super::Schedules`].
pub struct SchedulesParts {
    pub settings: SharedSettings,
    pub store: Arc<dyn MemoryStore>,
    /// Running sessions.
    pub evenings: Evenings,
}

/// State of all scopes.
pub struct Shared {
    pub parts: SchedulesParts,
    notices: broadcast::Sender<ScheduleNotice>,
    /// Lines of the schedules as last read, by scope.
    known: Mutex<BTreeMap<Scope, Vec<String>>>,
    /// Scopes whose schedules have changed since the task last looked.
    fresh: Mutex<BTreeSet<Scope>>,
}

impl Shared {
    pub fn new(parts: SchedulesParts) -> Self {
        let notices = broadcast::Sender::new(NOTICES);
        Self { parts, notices, known: Mutex::default(), fresh: Mutex::default() }
    }

    /// Notices from now on, of scopes without a running session.
    pub fn notices(&self) -> Receiver<ScheduleNotice> {
        self.notices.subscribe()
    }

    /// Takes the schedules of `scope`, for suggestions.
    pub fn learn(&self, scope: &Scope, entries: &[Entry]) {
        let settings = self.parts.settings.load();
        let lines = entries.iter().map(|entry| shown::line(entry, &settings.schedules.zone));
        let lines = lines.map(|line| line.chars().take(SUGGESTED_MAX).collect()).collect();
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(scope.clone(), lines);
    }

    /// Lines of the schedules of `scope`, as last read.
    pub fn known(&self, scope: &Scope) -> Vec<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(scope).cloned().unwrap_or_default()
    }

    /// The schedules of `scope` have changed.
    pub fn changed(&self, scope: &Scope) {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner).insert(scope.clone());
        self.parts.evenings.wake();
    }

    /// Scopes whose schedules have changed since the last call.
    pub fn take_fresh(&self) -> BTreeSet<Scope> {
        mem::take(&mut *self.fresh.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notifies the game master of `scope`: at the running table, else by the face.
    pub fn tell(&self, scope: &Scope, text: String) {
        let evening = self.parts.evenings.of(scope);
        match evening.and_then(|evening| evening.table.events.upgrade()) {
            Some(events) => events.tell(TableEvent::Private(text)),
            None => {
                let notice = ScheduleNotice { scope: scope.clone(), text };
                if self.notices.send(notice).is_err() {
                    tracing::warn!(%scope, "a missed schedule could not be reported");
                }
            }
        }
    }
}
