//! Names to addresses, of which only what is allowed is handed on.
//!
//! Entry types: [`SystemNames`], [`CheckedNames`], [`LeadsInside`]. The client connects to what it is
//! handed, and looks nothing up again.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Asks the operating system.
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

/// A name all of whose addresses are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{name}' resolves to {address}, which is not on the public internet")]
pub struct LeadsInside {
    name: String,
    address: IpAddr,
}

/// The addresses of `names` that `allows` takes.
pub struct CheckedNames {
    /// Looks them up.
    pub names: Arc<dyn Resolve>,
    /// True if a connection may be made to an address.
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
