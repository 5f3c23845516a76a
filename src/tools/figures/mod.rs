//! Measured figures that outlive the program: one set per environment and endpoint.
//!
//! Entry type: [`Figures`]. **Never**: keeps an endpoint in readable form, arguments, or results.

mod badge;
mod endpoint;
mod keeping;
mod lines;
mod report;
mod state;
mod store;
#[cfg(test)]
mod tests;

pub use self::{
    badge::{Badge, tag},
    endpoint::Endpoint,
    keeping::{report, report_of},
    lines::{calibrated_line, millis, reported_line, tool_line},
    report::{Report, Reported, rank},
    state::Figures,
};
