//! HTTP requests that leave this machine: their proxy, TLS and User-Agent.
//!
//! Entry functions: [`with_proxy_and_tls`], [`accept_language`]. **Never**: sends anything.

use std::{net::IpAddr, sync::Arc};

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::{ClientBuilder, Url};
use rustls::{ClientConfig, RootCertStore, crypto::ring};

/// Sets proxy and TLS for requests to `host`. Plain addresses need no certificates, so a machine
/// without any can still reach a local server; loopback never uses a proxy.
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

pub const USER_AGENT: &str = concat!("glyphoxa/", env!("CARGO_PKG_VERSION"));

/// Value of Accept-Language for `language`, a two-letter code, with English as the fallback.
pub fn accept_language(language: &str) -> String {
    match language {
        "en" => "en, *;q=0.5".to_owned(),
        other => format!("{other}, en;q=0.7, *;q=0.5"),
    }
}

pub fn is_here(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// True if a request to `url` uses the environment's proxy, which then resolves names.
pub fn is_proxied(url: &Url) -> bool {
    if is_here(url.host_str().unwrap_or_default()) {
        return false;
    }
    let proxies = Matcher::from_system();
    url.as_str().parse().is_ok_and(|uri| proxies.intercept(&uri).is_some())
}
