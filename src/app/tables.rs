//! The tables that run, for what concerns all of them.
//!
//! Entry type: [`Tables`]. **Never**: keeps a table open.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use super::{OpenTable, SeatMaker};
use crate::session::{Command, TableEvents, WeakTableEvents};

/// Tables that run. Cloning shares them.
#[derive(Clone, Default)]
pub struct Tables(Arc<Mutex<Vec<RunningTable>>>);

/// What is reached of a table.
#[derive(Clone)]
pub struct RunningTable {
    /// Its orders.
    pub commands: mpsc::WeakSender<Command>,
    /// Where its game master is told.
    pub events: WeakTableEvents,
    /// Makes its seats anew.
    pub seats: SeatMaker,
}

impl Tables {
    /// A table has been opened.
    pub fn add(&self, table: &OpenTable, events: &TableEvents) {
        self.open().push(RunningTable {
            commands: table.handle.commands.downgrade(),
            events: events.downgrade(),
            seats: table.seats.clone(),
        });
    }

    /// Those that are still open.
    pub fn running(&self) -> Vec<RunningTable> {
        let mut open = self.open();
        open.retain(|table| table.commands.upgrade().is_some());
        open.clone()
    }

    /// Held for a look-up only, never across an await.
    fn open(&self) -> MutexGuard<'_, Vec<RunningTable>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
