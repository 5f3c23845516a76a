//! Endpoint that answers a server's calls, in a form that may be kept.
//!
//! Entry type: [`Endpoint`]. **Never**: keeps an address or a command line in readable form.

use crate::domain::fnv1a;

/// Endpoint that answers a server's calls, as far as it may be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Hash of the command line or address, which may hold secrets.
    pub(super) key: String,
    /// Hash of the host, where there is one.
    pub(super) host: Option<String>,
}

impl Endpoint {
    /// Its hash, which tells it from others.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The endpoint with this command line or address.
    pub(super) fn new(endpoint: &str) -> Self {
        Self { key: hashed(endpoint), host: host_of(endpoint).map(|host| hashed(&host)) }
    }
}

/// The hash of `text` as it is written.
pub fn hashed(text: &str) -> String {
    hex(fnv1a(text.bytes()))
}

/// A hash as it is written.
pub fn hex(hash: u64) -> String {
    format!("{hash:016x}")
}

/// The host of a web address, without user, port and what follows.
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
