//! The tables that run, for what concerns all of them.
//!
//! Entry type: [`Tables`]. **Never**: keeps a table open.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::session::{TableEvent, TableEvents, WeakTableEvents};

/// Tables that run. Cloning shares them.
#[derive(Clone, Default)]
pub struct Tables(Arc<Mutex<Vec<WeakTableEvents>>>);

impl Tables {
    /// Adds an opened table; `events` notifies its game master.
    pub fn add(&self, events: &TableEvents) {
        self.running().push(events.downgrade());
    }

    /// Tells the game masters of all tables.
    pub fn tell(&self, notice: &str) {
        self.running().retain(|events| {
            let events = events.upgrade();
            if let Some(events) = &events {
                events.tell(TableEvent::Notice(notice.to_owned()));
            }
            events.is_some()
        });
    }

    /// Held while they are told, never across an await.
    fn running(&self) -> MutexGuard<'_, Vec<WeakTableEvents>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
