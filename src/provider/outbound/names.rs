//! Resolves names and returns only permitted addresses.
//!
//! Entry types: [`SystemNames`], [`CheckedNames`], [`LeadsInside`]. The client connects to these
//! addresses without resolving again.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

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
