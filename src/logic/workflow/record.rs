//! The record of a run.

use serde::{Deserialize, Serialize};

use crate::domain::PersonId;

/// A run's id, chosen by its starter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunId(pub String);

/// On whose behalf a run's steps are done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Starter {
    /// Empty id: the person was deleted, or no longer takes part.
    Person(PersonId),
    /// The full name of an NPC whose model called it.
    Npc(String),
    /// The id of a schedule.
    Schedule(String),
    /// Another program, by its name.
    Program(String),
}

/// A step that has begun. Times count from the run's start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRecord {
    /// The workflow that has the step.
    pub workflow: String,
    pub name: Option<String>,
    /// Its key in the file.
    pub kind: String,
    pub outcome: Outcome,
    pub began_ms: u64,
    pub ended_ms: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Running,
    Done,
    /// Its condition does not hold.
    Skipped,
    /// It needs a play session; the reason.
    Missed(String),
    Failed(String),
    Cancelled,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelReason {
    Requested,
    XCard,
    /// Its starter no longer takes part.
    Withdrawn,
    Shutdown,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    Done,
    Failed(String),
    Cancelled(CancelReason),
    /// It took longer than a run may.
    TimedOut,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    pub run: RunId,
    pub workflow: String,
    pub starter: Starter,
    /// In the order in which they began.
    pub steps: Vec<StepRecord>,
    /// A result came from outside.
    pub tainted: bool,
    /// `None`: it is running, or was cut off.
    pub end: Option<RunEnd>,
}
