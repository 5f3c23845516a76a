//! Measured figures that outlive the program, by environment and endpoint. **Never**: stores a
//! readable endpoint, arguments or results.

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
