//! Runs: requested, started and ended.
//!
//! Entry types: [`WantedRun`], [`StartedRun`], [`EndedRun`].

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::{
    campaign::{Accounts, Dice, GuildStore, SharedSettings, ToolDecisions},
    domain::Scope,
    logic::workflow::{
        event::Refusal,
        record::{RunEnd, RunId, RunRecord, Starter, StepRecord},
        values::Given,
    },
    memory::Automation,
    session::Speaker,
    tools::{Effects, Taint, ToolHost, builtin::Music},
};

/// Services that carry out steps.
pub struct WorkflowParts {
    pub settings: SharedSettings,
    /// Pay for steps outside sessions.
    pub accounts: Accounts,
    pub tools: ToolHost,
    pub music: Music,
    pub dice: Dice,
    /// Settings of Discord servers; `None`: a local table.
    pub guilds: Option<GuildStore>,
    /// `None`: no records are stored.
    pub store: Option<Arc<dyn Automation>>,
}

/// A run under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningWorkflow {
    pub scope: Scope,
    pub run: RunId,
    pub workflow: String,
}

/// Runs under way, shared by the service and its tasks.
#[derive(Clone, Default)]
pub struct Running(Arc<Mutex<UnderWay>>);

#[derive(Default)]
struct UnderWay {
    /// The oldest first.
    runs: Vec<RunningWorkflow>,
    /// A run has failed or was stopped.
    has_failed: bool,
}

impl Running {
    pub fn add(&self, running: RunningWorkflow) {
        self.under_way().runs.push(running);
    }

    /// Those of `scope`, the oldest first.
    pub fn of(&self, scope: &Scope) -> Vec<RunningWorkflow> {
        self.under_way().runs.iter().filter(|it| it.scope == *scope).cloned().collect()
    }

    pub fn remove(&self, record: &RunRecord) {
        let mut under_way = self.under_way();
        under_way.runs.retain(|it| it.run != record.run);
        under_way.has_failed |= record.end != Some(RunEnd::Done);
    }

    /// Removes those of `scope`, whose task has failed or was abandoned.
    pub fn forget(&self, scope: &Scope) {
        let mut under_way = self.under_way();
        under_way.runs.retain(|it| it.scope != *scope);
        under_way.has_failed = true;
    }

    /// True if a run has failed or was stopped since the last call.
    pub fn take_failed(&self) -> bool {
        std::mem::take(&mut self.under_way().has_failed)
    }

    fn under_way(&self) -> MutexGuard<'_, UnderWay> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// On whose behalf a run's steps are done, and what they reach outside of a session.
#[derive(Clone)]
pub struct Origin {
    pub starter: Starter,
    /// The starter at the table; `None`: not a person of the table.
    pub speaker: Option<Speaker>,
    /// Shows what tools show while no session runs.
    pub effects: Arc<dyn Effects>,
    /// Decisions about tools, for steps outside a session; `None`: those stored for the server.
    pub decided: Option<ToolDecisions>,
    /// Outside words and secrets that the run, or the model that started it, has read.
    pub taint: Taint,
}

/// A run to be started.
pub struct WantedRun {
    pub scope: Scope,
    pub workflow: String,
    /// Defaults are filled in.
    pub inputs: Value,
    /// The inputs include words from outside.
    pub outside: bool,
    pub origin: Origin,
}

#[derive(Debug)]
pub struct StartedRun {
    pub run: RunId,
    /// Its steps as they begin and end; nothing waits for the reader.
    pub steps: mpsc::Receiver<StepRecord>,
    /// Resolves at its end; an error: the program is ending.
    pub ended: oneshot::Receiver<EndedRun>,
}

#[derive(Clone, Debug)]
pub struct EndedRun {
    pub record: RunRecord,
    /// Results of its named steps, unless it failed or was stopped.
    pub result: Option<Given>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    #[error("unknown workflow '{name}' (known: {known})")]
    Unknown { name: String, known: String },
    #[error("the inputs of '{workflow}' do not fit: {why}")]
    Inputs { workflow: String, why: String },
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("the program is ending")]
    Ending,
}
