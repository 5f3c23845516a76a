//! Deletions of one person in one owner's sessions: tried in order, and reported once.
//!
//! Entry type: [`Queues`]. A new deletion absorbs a waiting one with its key.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    domain::{Owner, SessionId},
    memory::Deletion,
};

/// A person's queue, locked while one of its deletions is tried.
pub type SharedQueue = Arc<tokio::sync::Mutex<Queue>>;

/// Deletions of one person that wait for another attempt.
#[derive(Debug, Default)]
pub struct Queue {
    /// At most one per key.
    pub all: Vec<Deletion>,
    /// People to notify once all are done.
    pub askers: BTreeSet<String>,
    /// True while a task tries them.
    pub is_tried: bool,
}

impl Queue {
    /// Merges `deletion` with the queued one of its key and removes that. The result starts over.
    pub fn take_in(&mut self, mut deletion: Deletion) -> Deletion {
        if let Some(at) = self.all.iter().position(|it| it.is_like(&deletion)) {
            let earlier = self.all.swap_remove(at);
            let names = deletion.names.into_iter().chain(earlier.names).collect::<BTreeSet<_>>();
            let before = deletion.before.max(earlier.before);
            deletion = Deletion {
                names: names.into_iter().collect(),
                asker: deletion.asker,
                lines: deletion.lines + earlier.lines,
                ..Deletion::of(deletion.player, deletion.from, before)
            };
        }
        deletion
    }

    /// Queues `deletion`; its asker is notified once all are done. True if a task must be started.
    pub fn wait_with(&mut self, deletion: Deletion) -> bool {
        if !deletion.asker.is_empty() {
            self.askers.insert(deletion.asker.clone());
        }
        self.all.push(deletion);
        !std::mem::replace(&mut self.is_tried, true)
    }
}

/// A person's queue, and the deletions that this run has begun for them.
#[derive(Debug, Default)]
struct PersonQueue {
    queue: SharedQueue,
    /// Time of the last deletion begun in this run, by session.
    begun: HashMap<Option<SessionId>, i64>,
}

#[derive(Clone, Debug, Default)]
pub struct Queues(Arc<Mutex<HashMap<(Owner, String), PersonQueue>>>);

impl Queues {
    /// The queue of a new `deletion`. Afterwards [`Self::take_up`] refuses its record.
    pub fn begin(&self, deletion: &Deletion) -> SharedQueue {
        self.of(deletion, |person| {
            let last = person.begun.entry(deletion.from.session.clone()).or_insert(deletion.before);
            *last = deletion.before.max(*last);
            Arc::clone(&person.queue)
        })
    }

    /// The queue of a recorded `deletion`; `None`: this run began it or took it up, or a later one
    /// with its key.
    pub fn take_up(&self, deletion: &Deletion) -> Option<SharedQueue> {
        self.of(deletion, |person| {
            let last = person.begun.get(&deletion.from.session);
            if last.is_some_and(|last| *last >= deletion.before) {
                return None;
            }
            person.begun.insert(deletion.from.session.clone(), deletion.before);
            Some(Arc::clone(&person.queue))
        })
    }

    /// Calls `answer` with the person's entry, which lasts until the program ends.
    fn of<T>(&self, deletion: &Deletion, answer: impl FnOnce(&mut PersonQueue) -> T) -> T {
        let key = (deletion.from.owner, deletion.player.clone());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answer(all.entry(key).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::ForgetFrom;

    #[test]
    fn deletion_that_joins_another_counts_its_lines() {
        let of = |before| {
            let from = ForgetFrom { owner: Owner::Local, session: None };
            Deletion::of("1".to_owned(), from, before)
        };
        let mut queue = Queue::default();
        queue.wait_with(Deletion { lines: 3, erased: true, ..of(1) });
        let joined = queue.take_in(of(2));
        assert_eq!((joined.lines, joined.before, joined.erased), (3, 2, false));
        assert!(queue.all.is_empty());
    }
}
