//! Drops lines of deletions, until the program ends, as lines may arrive late.
//! **Never**: drops a line said after the deletion was requested.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::spill::Entry;
use crate::memory::Deletion;

/// Cloning shares them.
#[derive(Clone, Debug, Default)]
pub struct DeletedLines(Arc<Mutex<Vec<Deletion>>>);

impl DeletedLines {
    /// Drops lines of `deletion` from now on.
    pub fn add(&self, deletion: &Deletion) {
        let mut all = self.all();
        match all.iter_mut().find(|it| it.is_like(deletion)) {
            Some(it) => it.before = it.before.max(deletion.before),
            None => all.push(deletion.clone()),
        }
    }

    /// Removes deleted lines from `entry` and returns their number.
    pub fn take_out(&self, entry: &mut Entry) -> u64 {
        let Entry::Lines(scope, lines) = entry else { return 0 };
        let (all, there) = (self.all(), lines.len());
        lines.retain(|line| !all.iter().any(|it| it.covers(scope, line)));
        u64::try_from(there - lines.len()).unwrap_or(u64::MAX)
    }

    fn all(&self) -> MutexGuard<'_, Vec<Deletion>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
