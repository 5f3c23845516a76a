//! How HTTP requests leave this machine: through which proxy, with which TLS.
//!
//! Entry function: [`with_proxy_and_tls`]. **Never**: sends anything.

use std::{net::IpAddr, sync::Arc};

use reqwest::ClientBuilder;
use rustls::{ClientConfig, RootCertStore, crypto::ring};

/// Sets how requests to `host` are routed, and how they are encrypted if `secure`. Plain addresses need no certificates, so a machine without
/// any can still talk to a local server; loopback never goes through a proxy.
pub fn with_proxy_and_tls(builder: ClientBuilder, host: &str, secure: bool) -> ClientBuilder {
    let host = host.trim_matches(['[', ']']);
    let is_loopback = host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    let builder = if is_loopback || host == "localhost" { builder.no_proxy() } else { builder };
    if secure {
        // An error only says that there is one already.
        let _ = ring::default_provider().install_default();
        return builder;
    }
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions();
    match tls {
        Ok(tls) => {
            let roots = RootCertStore::empty();
            let tls = tls.with_root_certificates(roots).with_no_client_auth();
            builder.tls_backend_preconfigured(tls)
        }
        Err(_) => builder,
    }
}
