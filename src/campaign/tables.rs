//! The tables that run, for what concerns all of them.
//!
//! Entry type: [`Tables`]. **Never**: keeps a table open.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use crate::session::TableEvent;

/// Tables that run. Cloning shares them.
#[derive(Clone, Default)]
pub struct Tables(Arc<Mutex<Vec<mpsc::WeakSender<TableEvent>>>>);

impl Tables {
    /// A table has been opened, whose game master is told by `events`.
    pub fn add(&self, events: &mpsc::Sender<TableEvent>) {
        self.running().push(events.downgrade());
    }

    /// Tells the game masters of all tables; how many could not be told because too much waits.
    pub fn tell(&self, notice: &str) -> usize {
        let mut running = self.running();
        running.retain(|events| events.upgrade().is_some());
        let events = running.iter().filter_map(mpsc::WeakSender::upgrade);
        let told = events.map(|it| it.try_send(TableEvent::Notice(notice.to_owned())));
        told.filter(Result::is_err).count()
    }

    /// Held while they are told, never across an await.
    fn running(&self) -> MutexGuard<'_, Vec<mpsc::WeakSender<TableEvent>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
