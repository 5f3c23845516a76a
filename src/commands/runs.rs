//! Workflows as commands reach them through a face. Entry type: [`RunsWorkflows`].

use super::text::Refusal;
use crate::{
    campaign::{Origin, WorkflowRuns},
    domain::Scope,
    session::Speaker,
};

/// The service of workflows, as one caller uses it.
pub struct WorkflowsHere {
    pub runs: WorkflowRuns,
    pub scope: Scope,
    /// The starter of the runs.
    pub origin: Origin,
}

/// Workflows of a face.
pub trait RunsWorkflows {
    /// The service for `speaker`. Fails where no workflow can run.
    fn workflows(&self, speaker: &Speaker) -> Result<WorkflowsHere, Refusal>;
}
