//! Filter that keeps deleted lines out of the store.
//!
//! Entry type: [`DeletedLines`]. It remembers deletions until the program ends, because lines may arrive
//! late. **Never**: drops a line that was said after the deletion was requested.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::spill::Entry;
use crate::memory::Deletion;

/// Deletions whose lines are no longer written. Cloning shares them.
#[derive(Clone, Debug, Default)]
pub struct DeletedLines(Arc<Mutex<Vec<Deletion>>>);

impl DeletedLines {
    /// Lines of `deletion` are not written from now on.
    pub fn add(&self, deletion: &Deletion) {
        let mut all = self.all();
        match all.iter_mut().find(|it| it.is_like(deletion)) {
            Some(it) => it.before = it.before.max(deletion.before),
            None => all.push(deletion.clone()),
        }
    }

    /// Takes deleted lines out of `entry`; their number.
    pub fn take_out(&self, entry: &mut Entry) -> u64 {
        let Entry::Lines(scope, lines) = entry else { return 0 };
        let (all, there) = (self.all(), lines.len());
        lines.retain(|line| !all.iter().any(|it| it.covers(scope, line)));
        u64::try_from(there - lines.len()).unwrap_or(u64::MAX)
    }

    /// Held for an entry at most, never across an await.
    fn all(&self) -> MutexGuard<'_, Vec<Deletion>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
