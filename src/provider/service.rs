//! Name and location of a service, for the consent notice and for reports.
//!
//! Entry type: [`ServiceInfo`]. **Never**: takes a service for a local one unless it
//! says so itself.

use std::fmt;

use super::address::{base_url, tcp_address};

/// A service that what is said, or what is answered, goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceInfo {
    /// A program or a model, as people know it ("Whisper tiny.en", "gpt-5").
    name: String,
    /// Destination of its input.
    location: Location,
}

/// Location of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Location {
    /// Inside this program, or in a child process of it.
    ThisMachine,
    /// Behind an address.
    Host {
        /// Host and port.
        host: String,
        /// On this machine or its network.
        is_near: bool,
    },
}

impl ServiceInfo {
    /// A service that runs on this machine.
    pub fn here(name: &str) -> Self {
        Self { name: name.to_owned(), location: Location::ThisMachine }
    }

    /// The model `name` behind `address`, which is near only if it is known to be.
    pub fn at(name: &str, address: &str) -> Self {
        let host = address.split("//").nth(1).and_then(|rest| rest.split('/').next());
        let host = host.unwrap_or(address).to_owned();
        let known = base_url(address).or_else(|_| tcp_address(address));
        let is_near = known.is_ok_and(|address| address.private);
        Self { name: name.to_owned(), location: Location::Host { host, is_near } }
    }

    /// True if its input stays on this machine and its network.
    pub const fn is_local(&self) -> bool {
        match self.location {
            Location::ThisMachine => true,
            Location::Host { is_near, .. } => is_near,
        }
    }

    /// Its name, as people know it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name, and whether what it is given leaves this place.
    pub fn where_it_is(&self) -> String {
        let place = if self.is_local() { "here, local" } else { "an outside service" };
        format!("{self} ({place})")
    }
}

impl fmt::Display for ServiceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location {
            Location::ThisMachine => f.write_str(&self.name),
            Location::Host { host, .. } => write!(f, "{} at {host}", self.name),
        }
    }
}
