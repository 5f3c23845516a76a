//! Measured figures that outlive the program, by environment and endpoint. **Never**: stores a
//! readable endpoint, arguments or results.

mod endpoint;
mod lines;
mod report;
mod state;
mod store;
#[cfg(test)]
mod tests;

pub use self::{
    endpoint::Endpoint,
    lines::{calibrated_line, millis, reported_line, tool_line},
    report::{Badge, Report, Reported, rank, report, report_of, tag},
    state::Figures,
};
