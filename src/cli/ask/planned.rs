//! Schedules of this machine, while a table is open. Entry type: [`LocalSchedules`].

use std::{future::pending, sync::Arc};

use tokio_util::sync::CancellationToken;

use crate::{
    app,
    campaign::{
        Drives, EveningTable, Evenings, Planner, Schedules, SchedulesParts, SharedSettings,
        WorkflowRuns, now,
    },
    config::Config,
    domain::Scope,
    memory::MemoryStore,
};

/// The schedules of a saved session's campaign. Cloning shares them.
#[derive(Clone)]
pub struct LocalSchedules(Option<Parts>);

#[derive(Clone)]
struct Parts {
    schedules: Schedules,
    evenings: Evenings,
    scope: Scope,
}

impl LocalSchedules {
    /// Without a store, nothing can be scheduled.
    pub fn open(
        config: &Config,
        settings: SharedSettings,
        store: Option<Arc<dyn MemoryStore>>,
    ) -> Self {
        Self(store.map(|store| {
            let (scope, evenings) = (app::local_scope(config), Evenings::default());
            let parts = SchedulesParts { settings, store, evenings: evenings.clone() };
            Parts { schedules: Schedules::new(parts), evenings, scope }
        }))
    }

    /// Planner for commands; `None`: the session is not saved.
    pub fn planner(&self) -> Option<Planner> {
        self.0.as_ref().map(|parts| parts.schedules.within(parts.scope.clone()))
    }

    /// Fires due schedules at `table` until dropped; `runs` runs their workflows.
    pub async fn run(self, table: EveningTable, runs: WorkflowRuns) {
        let Some(Parts { schedules, evenings, scope }) = self.0 else { return pending().await };
        let _evening = evenings.begin(scope.clone(), table, now());
        schedules.run(Drives::Only(scope), Arc::new(runs), CancellationToken::new()).await;
    }
}
