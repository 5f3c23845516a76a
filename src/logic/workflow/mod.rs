//! Workflows: steps that run one after another, or side by side, and use each other's results.
//!
//! A [`Workflow`] is read from a file by `config`. A [`Template`] has references to inputs and to
//! results of earlier steps (`${inputs.X}`, `${steps.NAME.member}`): each is resolved once, when
//! its step begins, and the value is never read as a template again. A value that came from outside
//! stays marked ([`values::Words`], [`values::Given`]), and taints its run.
//!
//! [`runner::Runner`] runs workflows as a pure machine: events and the time in, actions out. The
//! service that carries out the actions decides what a step does, and whether it may.

mod active;
mod calls;
pub mod event;
pub mod look;
pub mod record;
pub mod request;
mod run;
pub mod runner;
mod step;
mod template;
pub mod values;
mod when;

#[cfg(test)]
mod tests;

pub use self::{
    calls::{Called, DEEPEST, Outline, check_calls},
    step::{Audience, OnError, STEPS_MAX, Step, StepKind, Workflow, Workflows},
    template::{JsonTemplate, Reference, Root, Template, is_name},
    when::{Condition, ConditionError, mentioned},
};
