//! HTTP clients for permitted addresses only, and the resolvers that check names.
//!
//! Entry type: [`Outbound`]. Its clients connect to the addresses of [`CheckedNames`] without
//! resolving again.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use reqwest::{
    Client, ClientBuilder, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    redirect::Policy,
};

use super::{is_global, is_somebodys};
use crate::provider::{
    address::is_private_name,
    http_client::{is_here, is_proxied, with_proxy_and_tls},
};

const CONNECT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("'{0}' is not an http:// or https:// address")]
    NoWeb(String),
    #[error("addresses with a user name are refused")]
    NamesUser,
    /// It is on this machine, its network, or another non-public network.
    #[error(
        "'{0}' is not on the public internet (only the person who runs Glyphoxa can allow it, by \
         writing that address into glyphoxa.yaml)"
    )]
    Inside(String),
    /// A proxy would resolve its name, hiding the resulting address.
    #[error(
        "'{0}' would be resolved by a proxy, which hides where it leads (only the person who runs \
         Glyphoxa can allow it, by writing that address into glyphoxa.yaml, or its host into \
         NO_PROXY)"
    )]
    Proxied(String),
}

/// Permits the public internet, and the `own` addresses of the operator on any network. A proxy
/// resolves names itself, so through one only the `own` addresses are reached by name.
#[derive(Clone)]
pub struct Outbound {
    own: Vec<Url>,
    is_neighbour: bool,
    names: Arc<dyn Resolve>,
    is_proxied: fn(&Url) -> bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// Configured by the operator.
    Own,
    Others,
}

impl Outbound {
    /// Permits the public internet; names are resolved by the operating system.
    pub fn public() -> Self {
        Self::looking_up(Arc::new(SystemNames))
    }

    pub fn looking_up(names: Arc<dyn Resolve>) -> Self {
        Self { own: Vec::new(), is_neighbour: false, names, is_proxied }
    }

    #[cfg(test)]
    pub fn behind(mut self, is_proxied: fn(&Url) -> bool) -> Self {
        self.is_proxied = is_proxied;
        self
    }

    /// Also permits the origin of `address`, which the operator configured.
    #[must_use]
    pub fn and(mut self, address: &Url) -> Self {
        self.own.push(address.clone());
        self
    }

    /// Permits all of this machine if `server` is on it, which can reach it anyway.
    #[must_use]
    pub fn and_neighbours_of(mut self, server: &Url) -> Self {
        self.is_neighbour |= is_here(bare_host(server));
        self
    }

    pub fn is_proxied(&self, url: &Url) -> bool {
        (self.is_proxied)(url)
    }

    /// Checks `url`; its name is checked when the request is sent.
    pub fn check(&self, url: &Url) -> Result<(), Refused> {
        self.whose(url).map(drop)
    }

    /// A client for the origin of `url` alone; it follows no redirect.
    pub fn client(&self, url: &Url) -> Result<ClientBuilder, Refused> {
        let whose = self.whose(url)?;
        let builder = Client::builder().connect_timeout(CONNECT).redirect(Policy::none());
        let builder = if (self.is_proxied)(url) {
            builder
        } else {
            let allows = if whose == Whose::Own { is_somebodys } else { is_global };
            let names = CheckedNames { names: Arc::clone(&self.names), allows };
            builder.no_proxy().dns_resolver(Arc::new(names))
        };
        Ok(with_proxy_and_tls(builder, bare_host(url), url.scheme() == "https"))
    }

    fn whose(&self, url: &Url) -> Result<Whose, Refused> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refused::NoWeb(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refused::NamesUser);
        }
        let host = bare_host(url);
        let is_own = self.own.iter().any(|own| own.origin() == url.origin());
        if is_own || (self.is_neighbour && is_here(host)) {
            return Ok(Whose::Own);
        }
        // The client connects to an IP address without resolving it.
        match host.parse::<IpAddr>() {
            Ok(address) if is_global(address) => Ok(Whose::Others),
            Ok(_) => Err(Refused::Inside(host.to_owned())),
            Err(_) if is_private_name(host) => Err(Refused::Inside(host.to_owned())),
            Err(_) if (self.is_proxied)(url) => Err(Refused::Proxied(host.to_owned())),
            Err(_) => Ok(Whose::Others),
        }
    }
}

/// The host as normalised by the URL: full-width digits, percent signs and old notations of
/// addresses are gone.
fn bare_host(url: &Url) -> &str {
    url.host_str().unwrap_or_default().trim_matches(['[', ']'])
}

/// Resolves through the operating system.
pub struct SystemNames;

impl Resolve for SystemNames {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let found: Vec<SocketAddr> = found.collect();
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{name}' resolves to {address}, which is not on the public internet")]
pub struct LeadsInside {
    name: String,
    address: IpAddr,
}

/// Addresses of `names` that `allows` accepts.
pub struct CheckedNames {
    pub names: Arc<dyn Resolve>,
    pub allows: fn(IpAddr) -> bool,
}

impl Resolve for CheckedNames {
    fn resolve(&self, name: Name) -> Resolving {
        let (asked, allows) = (name.as_str().to_owned(), self.allows);
        let found = self.names.resolve(name);
        Box::pin(async move {
            let (allowed, refused): (Vec<_>, Vec<_>) =
                found.await?.partition(|it: &SocketAddr| allows(it.ip()));
            match refused.first() {
                Some(first) if allowed.is_empty() => {
                    Err(LeadsInside { name: asked, address: first.ip() }.into())
                }
                _ => Ok(Box::new(allowed.into_iter()) as Addrs),
            }
        })
    }
}
