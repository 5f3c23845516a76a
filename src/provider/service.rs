//! Name and location of a service, for the consent notice and for reports.
//!
//! Entry type: [`ServiceInfo`]. **Never**: counts a service as local unless its address is.

use std::fmt;

use super::address::{base_url, tcp_address};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceInfo {
    /// A program or model, as people know it ("Whisper tiny.en", "gpt-5").
    name: String,
    location: Location,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Location {
    ThisMachine,
    Host {
        /// Host and port.
        host: String,
        is_near: bool,
    },
}

impl ServiceInfo {
    pub fn here(name: &str) -> Self {
        Self { name: name.to_owned(), location: Location::ThisMachine }
    }

    /// The model `name` behind `address`, which counts as remote if it is unreadable.
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

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name, and whether its input leaves this network.
    pub fn where_it_is(&self) -> String {
        let place = if self.is_local() { "here, local" } else { "an outside service" };
        format!("{self} ({place})")
    }

    /// Services in order of preference, with the place of each.
    pub fn in_turn(services: &[Self]) -> String {
        services.iter().map(Self::where_it_is).collect::<Vec<_>>().join(", else ")
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
