//! Running tables, for notices to all game masters, without keeping any open.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::session::{TableEvent, TableEvents, WeakTableEvents};

/// Running tables. Cloning shares them.
#[derive(Clone, Default)]
pub struct Tables(Arc<Mutex<Vec<WeakTableEvents>>>);

impl Tables {
    /// Adds an open table; `events` notifies its game master.
    pub fn add(&self, events: &TableEvents) {
        self.running().push(events.downgrade());
    }

    /// Notifies the game masters of all tables.
    pub fn tell(&self, notice: &str) {
        self.running().retain(|events| {
            let events = events.upgrade();
            if let Some(events) = &events {
                events.tell(TableEvent::Notice(notice.to_owned()));
            }
            events.is_some()
        });
    }

    fn running(&self) -> MutexGuard<'_, Vec<WeakTableEvents>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
