//! Lines and runs of workflows that outlast the calls of programs outside.
//!
//! Entry type: [`Ongoing`]. Each takes an [`OngoingSlot`] before it begins; a program has up to
//! [`PROGRAM_MAX`]. Closing ends them all.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{panics::caught, session::SpeakerId};

/// Most slots of one program: as many as a table has runs of workflows.
pub const PROGRAM_MAX: usize = 8;
/// Most slots of all programs.
const ALL_MAX: usize = 64;

/// Cloning shares it.
#[derive(Clone, Default)]
pub struct Ongoing(Arc<Shared>);

#[derive(Default)]
struct Shared {
    tasks: TaskTracker,
    stop: CancellationToken,
    /// Number of taken slots, by program.
    taken: Mutex<BTreeMap<SpeakerId, usize>>,
}

/// A slot for one line or run; dropping it frees it.
pub struct OngoingSlot {
    shared: Arc<Shared>,
    program: SpeakerId,
}

impl Ongoing {
    /// A free slot for `program`; `None`: all are taken.
    pub fn place(&self, program: SpeakerId) -> Option<OngoingSlot> {
        let mut taken = self.0.taken();
        let own = taken.get(&program).copied().unwrap_or_default();
        if own >= PROGRAM_MAX || taken.values().sum::<usize>() >= ALL_MAX {
            return None;
        }
        taken.insert(program, own + 1);
        drop(taken);
        Some(OngoingSlot { shared: Arc::clone(&self.0), program })
    }

    /// Drops all lines and runs and waits for their ends; later ones are dropped at once.
    pub async fn close(&self) {
        self.0.stop.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }
}

impl OngoingSlot {
    /// Runs `work` until it ends, or until [`Ongoing::close`].
    pub fn go_on(self, work: impl Future<Output = ()> + Send + 'static) {
        let tasks = self.shared.tasks.clone();
        tasks.spawn(async move {
            let stop = self.shared.stop.clone();
            if let Err(fault) = caught(stop.run_until_cancelled(work)).await {
                tracing::error!(%fault, "what goes on for a program outside has failed");
            }
            drop(self);
        });
    }
}

impl Shared {
    fn taken(&self) -> MutexGuard<'_, BTreeMap<SpeakerId, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OngoingSlot {
    fn drop(&mut self) {
        let mut taken = self.shared.taken();
        match taken.get_mut(&self.program) {
            Some(own) if *own > 1 => *own -= 1,
            _ => _ = taken.remove(&self.program),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test]
    async fn places_are_bounded_and_given_back() {
        let ongoing = Ongoing::default();
        let (one, other) = (SpeakerId(1), SpeakerId(2));
        for _ in 0..PROGRAM_MAX {
            ongoing.place(one).expect("a place").go_on(pending());
        }
        assert!(ongoing.place(one).is_none());
        assert!(ongoing.place(other).is_some(), "another program");
        ongoing.close().await;
        assert!(ongoing.0.taken().is_empty());
        ongoing.place(one).expect("a place").go_on(pending());
        ongoing.close().await;
    }
}
