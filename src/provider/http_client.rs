//! HTTP requests that leave this machine: their proxy, TLS and User-Agent.
//!
//! Entry functions: [`with_proxy_and_tls`], [`accept_language`]. **Never**: sends anything.

use std::{net::IpAddr, sync::Arc};

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::{ClientBuilder, Url};
use rustls::{ClientConfig, RootCertStore, crypto::ring};

/// Sets how requests to `host` are routed, and how they are encrypted if `secure`. Plain addresses need
/// no certificates, so a machine without any can still talk to a local server; loopback never goes
/// through a proxy.
pub fn with_proxy_and_tls(builder: ClientBuilder, host: &str, secure: bool) -> ClientBuilder {
    let builder = if is_here(host) { builder.no_proxy() } else { builder };
    if secure {
        // Fails only if a provider is already installed.
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

/// User-Agent of the program.
pub const USER_AGENT: &str = concat!("glyphoxa/", env!("CARGO_PKG_VERSION"));

/// The header Accept-Language for `language`, a two-letter code, with English as the fallback.
pub fn accept_language(language: &str) -> String {
    match language {
        "en" => "en, *;q=0.5".to_owned(),
        other => format!("{other}, en;q=0.7, *;q=0.5"),
    }
}

/// True if the host of an address is this machine.
pub fn is_here(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// True if a request to `url` uses the proxy of the environment, which then resolves names.
pub fn is_proxied(url: &Url) -> bool {
    if is_here(url.host_str().unwrap_or_default()) {
        return false;
    }
    let proxies = Matcher::from_system();
    url.as_str().parse().is_ok_and(|uri| proxies.intercept(&uri).is_some())
}
