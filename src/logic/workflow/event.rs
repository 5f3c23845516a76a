//! Events of a table's runs, and actions for the service.

use std::{sync::Arc, time::Duration};

use super::{
    look::{Done, StepAction},
    record::{CancelReason, RunId, RunRecord, Starter},
    step::{Workflow, Workflows},
    values::Given,
};

/// Most runs of a table at once.
pub const RUNS_MAX: usize = 8;
/// Most of them that models of NPCs have started: a workflow may ask an NPC whose model starts one.
pub const OF_NPCS_MAX: usize = 2;
/// Longest run.
pub const LONGEST: Duration = Duration::from_secs(30 * 60);

/// A run to begin.
#[derive(Clone, Debug)]
pub struct Start {
    /// Must be new.
    pub run: RunId,
    pub workflow: Arc<Workflow>,
    /// Workflows that it may call.
    pub workflows: Arc<Workflows>,
    /// An object that fits the workflow's schema.
    pub inputs: Given,
    pub starter: Starter,
}

#[derive(Clone, Debug)]
pub enum Event {
    Start(Start),
    /// A step was carried out, or could not be.
    Answer {
        run: RunId,
        step: usize,
        done: Done,
    },
    Cancel {
        run: RunId,
        reason: CancelReason,
    },
    CancelAll(CancelReason),
    SessionBegan,
    /// Steps that need the session are missed.
    SessionEnded,
    /// Time has passed.
    Tick,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Step {
        run: RunId,
        action: StepAction,
    },
    /// The run is over; `result` has the results of its named steps.
    Ended {
        record: RunRecord,
        result: Option<Given>,
    },
    Refused {
        run: RunId,
        reason: Refusal,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("{RUNS_MAX} workflows are running already (stop one first)")]
    TooMany,
    #[error("{OF_NPCS_MAX} workflows of NPCs are running already")]
    OfNpcs,
    #[error("this run exists already")]
    Known,
    #[error("the inputs are no object")]
    Inputs,
}
