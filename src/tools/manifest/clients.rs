//! HTTP connections of manifest tools, kept open between calls.
//!
//! Entry type: [`Clients`]. **Never**: follows a redirect or repeats a request by itself, reaches
//! another server than the one that a file names.

use reqwest::{Client, Url};

use super::address::Address;
use crate::provider::{Outbound, Refused};

/// One client for each server.
#[derive(Default)]
pub struct Clients(Vec<(Url, Client)>);

/// Reason a server cannot be contacted.
#[derive(Debug, thiserror::Error)]
pub enum NoClient {
    /// Nothing is sent there.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// This machine has nothing to check its certificate with.
    #[error("no certificates to check its server with (install the package ca-certificates)")]
    NoCertificates,
}

impl Clients {
    /// The client for `address`, whose file lies with the configuration: its server may be anywhere.
    ///
    /// # Errors
    /// Nothing may be sent to the server, or this machine has no certificates.
    pub fn of(&mut self, address: &Address) -> Result<Client, NoClient> {
        let server = address.server();
        if let Some((_, client)) = self.0.iter().find(|(it, _)| it.origin() == server.origin()) {
            return Ok(client.clone());
        }
        let client = Outbound::public()
            .and(server)
            .client(server)?
            .retry(reqwest::retry::never())
            .user_agent(concat!("glyphoxa/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|_| NoClient::NoCertificates)?;
        self.0.push((server.clone(), client.clone()));
        Ok(client)
    }
}
