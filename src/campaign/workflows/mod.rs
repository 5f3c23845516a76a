//! Workflows that run: at a table, or without one.
//!
//! Entry type: [`WorkflowRuns`], which every face and every tool calls alike. One task for each
//! scope drives the pure machine of `logic::workflow`: events come from faces, from the table
//! ([`TableLink`](super::TableLink)) and from steps that have ended; its actions begin and cancel
//! steps. Steps are carried out by orders to the table, the tool host and dice. An order carries
//! the number of X-cards at the run's beginning, so that nothing of a run sounds after a later one.
//! **Never**: repeats a run that was cut off.

mod context;
mod effects;
mod inputs;
mod offered;
mod records;
mod service;
mod spoken;
mod started;
mod step;
mod task;
#[cfg(test)]
mod tests;
mod tool;

pub use self::{
    inputs::read as read_inputs,
    offered::{RunsSlot, definitions as offered_workflows},
    records::title as run_title,
    service::WorkflowRuns,
    started::{Origin, StartedRun, WantedRun, WorkflowParts},
};
