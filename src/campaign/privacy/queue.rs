//! Deletions of one person in sessions of one owner: tried one after another, and reported once.
//!
//! Entry type: [`Queues`]. A deletion that is requested while an earlier one of its key waits takes that one
//! in. **Never**: is locked by two attempts.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use crate::{domain::Owner, memory::Deletion};

/// A person's queue. It is locked for as long as one of its deletions is tried.
pub type SharedQueue = Arc<tokio::sync::Mutex<Queue>>;

/// Deletions of one person that wait until they are tried again.
#[derive(Debug, Default)]
pub struct Queue {
    /// At most one of each key.
    pub all: Vec<Deletion>,
    /// Identities of the people to notify once all are done.
    pub askers: BTreeSet<String>,
    /// True while a task tries them.
    pub is_tried: bool,
}

impl Queue {
    /// Takes the deletion of the key of `deletion` out of the queue and adds it to `deletion`, of which nothing
    /// is done then.
    pub fn take_in(&mut self, mut deletion: Deletion) -> Deletion {
        if let Some(at) = self.all.iter().position(|it| it.is_like(&deletion)) {
            let earlier = self.all.swap_remove(at);
            let names = deletion.names.into_iter().chain(earlier.names).collect::<BTreeSet<_>>();
            let before = deletion.before.max(earlier.before);
            deletion = Deletion {
                names: names.into_iter().collect(),
                asker: deletion.asker,
                ..Deletion::of(deletion.player, deletion.from, before)
            };
        }
        deletion
    }

    /// Adds `deletion`, whose asker is notified once all are done. True if a task must begin to try them.
    pub fn wait_with(&mut self, deletion: Deletion) -> bool {
        if !deletion.asker.is_empty() {
            self.askers.insert(deletion.asker.clone());
        }
        self.all.push(deletion);
        !std::mem::replace(&mut self.is_tried, true)
    }
}

/// Queues of all people. Cloning shares them.
#[derive(Clone, Debug, Default)]
pub struct Queues(Arc<Mutex<HashMap<(Owner, String), SharedQueue>>>);

impl Queues {
    /// The queue of the person of `deletion`. It stays until the program ends.
    pub fn of(&self, deletion: &Deletion) -> SharedQueue {
        let key = (deletion.from.owner, deletion.player.clone());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(key).or_default())
    }
}
