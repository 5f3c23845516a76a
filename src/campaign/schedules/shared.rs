//! State shared by faces and the task of schedules. Entry type: [`Shared`].

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::broadcast::{self, Receiver, error::SendError};

use super::{entry::Entry, evenings::Evenings, shown};
use crate::{
    campaign::{clock::now, settings::SharedSettings},
    domain::Scope,
    memory::{Error, KeptSchedule, MemoryStore},
    session::{TableEvent, TableEvents},
};

/// Notices waiting for a face; later ones replace the oldest.
const NOTICES: usize = 64;
/// Notices of a scope that wait for its next session; the newest count.
const OWED_MAX: usize = 20;
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
    /// Schedules as last read, by scope.
    known: Mutex<BTreeMap<Scope, Vec<KeptSchedule>>>,
    /// Scopes whose schedules have changed since the task last looked.
    fresh: Mutex<BTreeSet<Scope>>,
    /// Notices that wait for the next session of their scope.
    owed: Mutex<BTreeMap<Scope, Vec<String>>>,
}

impl Shared {
    pub fn new(parts: SchedulesParts) -> Self {
        Self {
            parts,
            notices: broadcast::Sender::new(NOTICES),
            known: Mutex::default(),
            fresh: Mutex::default(),
            owed: Mutex::default(),
        }
    }

    /// Notices from now on, of scopes without a running session.
    pub fn notices(&self) -> Receiver<ScheduleNotice> {
        self.notices.subscribe()
    }

    /// The schedules of `scope`, by their next time, which become suggestions.
    pub async fn read(&self, scope: &Scope) -> Result<Vec<Entry>, Error> {
        let kept = self.parts.store.schedules(scope).await?;
        let entries = kept.iter().filter_map(Entry::read).collect();
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(scope.clone(), kept);
        Ok(entries)
    }

    /// The schedules of `scope` with a step to take within this time, unless a session begins or
    /// ends.
    pub async fn due(&self, scope: &Scope, within: Duration) -> Result<Vec<Entry>, Error> {
        let session = self.parts.evenings.of(scope).map(|evening| evening.time());
        // The time of a session goes on when the clock is set back.
        let time = session.map_or(now(), |it| now().max(it.began.saturating_add(it.elapsed)));
        let until = time.saturating_add(within.as_millis().try_into().unwrap_or(i64::MAX));
        let kept = self.parts.store.due_schedules(scope, until, session.is_some()).await?;
        Ok(kept.iter().filter_map(Entry::read).collect())
    }

    /// Lines of the schedules of `scope`, as last read.
    pub fn known(&self, scope: &Scope) -> Vec<String> {
        let settings = self.parts.settings.load();
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let entries = known.get(scope).into_iter().flatten().filter_map(Entry::read);
        let lines = entries.map(|entry| shown::line(&entry, &settings.schedules.zone));
        lines.map(|line| line.chars().take(SUGGESTED_MAX).collect()).collect()
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
        match self.table(scope) {
            Some(events) => events.tell(TableEvent::Private(text)),
            None => {
                let notice = ScheduleNotice { scope: scope.clone(), text };
                // No face listens.
                if let Err(SendError(notice)) = self.notices.send(notice) {
                    self.owe(notice);
                }
            }
        }
    }

    /// Keeps a notice until a session of its scope begins.
    pub fn owe(&self, ScheduleNotice { scope, text }: ScheduleNotice) {
        let mut owed = self.owed();
        let own = owed.entry(scope).or_default();
        if own.len() >= OWED_MAX {
            own.remove(0);
        }
        own.push(text);
        drop(owed);
        // A session may have begun already.
        self.parts.evenings.wake();
    }

    /// Delivers the waiting notices of scopes with a running table.
    pub fn tell_owed(&self) {
        self.owed().retain(|scope, notices| {
            let Some(events) = self.table(scope) else { return true };
            notices.drain(..).for_each(|text| events.tell(TableEvent::Private(text)));
            false
        });
    }

    fn table(&self, scope: &Scope) -> Option<TableEvents> {
        self.parts.evenings.of(scope)?.table.events.upgrade()
    }

    fn owed(&self) -> MutexGuard<'_, BTreeMap<Scope, Vec<String>>> {
        self.owed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
