//! Traces of turns, as OpenTelemetry sends them: the stages of each, and its requests and calls.
//!
//! A turn owns a [`Trace`], which collects [`Span`]s in memory. The trace leaves only with the
//! turn's line ([`Trace::finish`]): its root span begins at the end of speech, before there was a
//! turn. A guess that is dropped, or a turn that is taken back, takes its trace with it. The queue
//! to the sender holds 256 traces; a full one loses traces and counts them, so that no turn waits
//! for a collector. Without a collector a trace is empty, and a call on it is one comparison.
//!
//! Entry types: [`Traces`], which makes a [`Trace`] for each turn; [`Queue`], for the sender; all
//! names are in [`names`]. **Never**: sends anything, or holds words without
//! [`Span::has_content`].

mod message;
pub mod names;
mod queue;
mod recording;
mod span;
#[cfg(test)]
mod tests;
mod trace;

pub use self::{
    message::Value,
    names::Operation,
    queue::Queue,
    span::Span,
    trace::{Root, Stage, Trace, Traces},
};
