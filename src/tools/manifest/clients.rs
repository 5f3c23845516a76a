//! Pooled HTTP clients of manifest tools, one per server. **Never**: follows a redirect, repeats a
//! request by itself.

use reqwest::{Client, Url};

use super::address::Address;
use crate::provider::{Outbound, Refused};

#[derive(Default)]
pub struct Clients(Vec<(Url, Client)>);

#[derive(Debug, thiserror::Error)]
pub enum NoClient {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("no certificates to check its server with (install the package ca-certificates)")]
    NoCertificates,
}

impl Clients {
    /// The client for `address`. Manifests lie beside the configuration, so private addresses are
    /// allowed.
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
