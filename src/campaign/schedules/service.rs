//! Schedules of all scopes. Entry type: [`Schedules`].

use std::sync::Arc;

use tokio::sync::broadcast::Receiver;
use tokio_util::sync::CancellationToken;

use super::{
    planner::Planner,
    shared::{ScheduleNotice, SchedulesParts, Shared},
    starts::Starts,
    task::{Drives, Work},
};
use crate::domain::Scope;

/// Schedules of all scopes. Cloning shares them.
#[derive(Clone)]
pub struct Schedules(Arc<Shared>);

impl Schedules {
    pub fn new(parts: SchedulesParts) -> Self {
        Self(Arc::new(Shared::new(parts)))
    }

    /// Schedules of `scope`.
    pub fn within(&self, scope: Scope) -> Planner {
        Planner::new(Arc::clone(&self.0), scope)
    }

    /// Notices from now on, of scopes without a running session.
    pub fn notices(&self) -> Receiver<ScheduleNotice> {
        self.0.notices()
    }

    /// Stores a notice that could not be posted; the next session of its scope delivers it.
    pub fn owe(&self, notice: ScheduleNotice) {
        self.0.owe(notice);
    }

    /// Fires what is due until `stop`; `starts` runs the workflows. One task at a time.
    pub async fn run(self, drives: Drives, starts: Arc<dyn Starts>, stop: CancellationToken) {
        Work::new(self.0, starts, drives).run(stop).await;
    }
}
