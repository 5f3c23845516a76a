//! Measured figures that outlive the program, by environment and endpoint. **Never**: stores a
//! readable endpoint, arguments or results.

mod lines;
mod report;
mod state;
mod store;
#[cfg(test)]
mod tests;

pub use self::{
    lines::{calibrated_line, millis, reported_line, tool_line},
    report::{Badge, Report, Reported, rank, report, report_of, tag},
    state::Figures,
};

use crate::domain::fnv1a;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Hash of the command line or address, which may hold secrets.
    key: String,
    /// Hash of the host, if any.
    host: Option<String>,
}

impl Endpoint {
    pub fn key(&self) -> &str {
        &self.key
    }

    fn new(endpoint: &str) -> Self {
        Self { key: hashed(endpoint), host: host_of(endpoint).map(|host| hashed(&host)) }
    }
}

pub fn hashed(text: &str) -> String {
    hex(fnv1a(text.bytes()))
}

pub fn hex(hash: u64) -> String {
    format!("{hash:016x}")
}

/// The host of a web address, without user and port.
pub fn host_of(endpoint: &str) -> Option<String> {
    let rest = endpoint.strip_prefix("https://").or_else(|| endpoint.strip_prefix("http://"))?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => host,
        _ => host,
    };
    (!host.is_empty()).then(|| host.to_ascii_lowercase())
}
