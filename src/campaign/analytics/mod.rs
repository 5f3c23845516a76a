//! Reports of tool calls and costs: calls from the logs of sessions, money from the ledger, turns
//! from transcripts. Entry type: [`Analytics`].
//!
//! A report reads line by line and keeps sums: eight bytes a call for percentiles, and at most
//! `group::GROUPS_MAX` names of each kind. **Never**: keeps words, arguments or names of people.

mod calls;
mod costs;
mod group;
mod log;
mod period;
mod service;
mod shown;
#[cfg(test)]
mod tests;

pub use service::{Analytics, AnalyticsError, CallFilter};
pub use shown::{call_lines, cost_lines};
