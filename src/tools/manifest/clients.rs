//! HTTP connections of manifest tools, kept open between calls.
//!
//! Entry type: [`Clients`]. **Never**: follows a redirect or repeats a request by itself.

use std::{sync::Arc, time::Duration};

use reqwest::{Client, redirect::Policy};
use rustls::{ClientConfig, RootCertStore, crypto::ring};

use super::address::Address;

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// One client for each way to connect.
#[derive(Default)]
pub struct Clients(Vec<(Way, Client)>);

/// How a server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    /// By TLS.
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

/// A client. Plain addresses need no certificates, so a machine without any can still talk to a
/// local server.
fn connected(way: Way) -> Result<Client, reqwest::Error> {
    let mut builder = Client::builder()
        .connect_timeout(CONNECT)
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .user_agent(concat!("glyphoxa/", env!("CARGO_PKG_VERSION")));
    if way.loopback {
        builder = builder.no_proxy();
    }
    if way.secure {
        // An error only says that there is one already.
        let _ = ring::default_provider().install_default();
    } else {
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions();
        if let Ok(tls) = tls {
            let roots = RootCertStore::empty();
            let tls = tls.with_root_certificates(roots).with_no_client_auth();
            builder = builder.tls_backend_preconfigured(tls);
        }
    }
    builder.build()
}
