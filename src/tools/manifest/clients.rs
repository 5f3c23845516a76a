//! HTTP connections of manifest tools, kept open between calls.
//!
//! Entry type: [`Clients`]. **Never**: follows a redirect or repeats a request by itself.

use std::time::Duration;

use reqwest::{Client, redirect::Policy};

use super::address::Address;
use crate::provider::with_proxy_and_tls;

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// One client for each way to connect.
#[derive(Default)]
pub struct Clients(Vec<(Way, Client)>);

/// How a server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    /// Whether it is encrypted.
    secure: bool,
    /// On this machine, which needs no proxy.
    loopback: bool,
}

impl Clients {
    /// The client for `address`.
    ///
    /// # Errors
    /// There are no certificates to check a server with.
    pub fn of(&mut self, address: &Address) -> Result<Client, reqwest::Error> {
        let way = Way { secure: address.secure, loopback: address.loopback };
        if let Some((_, client)) = self.0.iter().find(|(known, _)| *known == way) {
            return Ok(client.clone());
        }
        let client = connected(way)?;
        self.0.push((way, client.clone()));
        Ok(client)
    }
}

/// A client for servers that are reached in this way.
fn connected(way: Way) -> Result<Client, reqwest::Error> {
    let builder = Client::builder()
        .connect_timeout(CONNECT)
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .user_agent(concat!("glyphoxa/", env!("CARGO_PKG_VERSION")));
    let host = if way.loopback { "localhost" } else { "" };
    with_proxy_and_tls(builder, host, way.secure).build()
}
