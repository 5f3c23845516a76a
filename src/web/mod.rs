//! The web listener: programs and pages outside reach this program's services through it.
//!
//! Entry functions: [`bind`], [`serve`]. A request passes, in this order: a place among the open
//! sockets ([`sockets`]), hyper's limits of its head ([`connections`]), its host, origin and method
//! ([`guard`]), its token and the rate of that token's holder ([`entry`]), the bounds of its body
//! ([`body`]); then a route answers it. A page that opens a socket keeps its connection ([`onward`]).
//! Only this module knows axum. **Never**: knows Discord, or
//! reads the configuration.

mod approvals;
mod body;
mod bounds;
mod connections;
mod entry;
mod figures;
mod guard;
mod guarded;
mod mcp;
mod onward;
mod options;
mod pages;
mod parts;
mod patient;
mod peer;
mod rates;
mod refusal;
mod rehearsal;
mod routes;
mod sockets;
#[cfg(test)]
mod tests;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    net::TcpListener,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use self::{bounds::Bounds, connections::Shared, entry::Entry, guard::Guard, routes::Routes};
pub use self::{
    mcp::{names_for as tools_of, tool_named},
    options::{McpOptions, WebOptions},
    parts::WebParts,
    rehearsal::{PageOutlets, Rehearsal, RehearsalTable, play_music, seat_pages, show_table},
};
use crate::{campaign::Access, memory};

/// A listening socket that accepts nothing yet.
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

impl Bound {
    /// The address that it listens on, with its real port.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

#[derive(Debug, thiserror::Error)]
pub enum WebError {
    #[error(
        "address {0} is in use (end the program that uses it, or choose another port: web.listen in \
         glyphoxa.yaml, serve --listen or rehearse --port)"
    )]
    InUse(SocketAddr),
    #[error("cannot listen on {0}: {1} (choose another address in web.listen)")]
    Listen(SocketAddr, io::Error),
    #[error(
        "other machines can reach {0} (listen on 127.0.0.1, or put TLS in front of it and set \
         web.behind_tls: true)"
    )]
    Exposed(SocketAddr),
    #[error(
        "other machines can reach {0}, and there is no token yet (make one first: glyphoxa token \
         create)"
    )]
    NoToken(SocketAddr),
    #[error(transparent)]
    Memory(#[from] memory::Error),
}

/// Listens on the address of `options`; refuses one that other machines reach without TLS.
pub async fn bind(options: &WebOptions) -> Result<Bound, WebError> {
    let wanted = options.listen;
    if options.is_exposed() && !options.behind_tls {
        return Err(WebError::Exposed(wanted));
    }
    let cannot = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => WebError::InUse(wanted),
        _ => WebError::Listen(wanted, error),
    };
    let listener = TcpListener::bind(wanted).await.map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    Ok(Bound { listener, address })
}

/// Fails if other machines reach the address of `options` and there is no token.
pub async fn check_tokens(options: &WebOptions, access: &Access) -> Result<(), WebError> {
    if options.is_exposed() && access.list(None).await?.is_empty() {
        return Err(WebError::NoToken(options.listen));
    }
    Ok(())
}

/// Longest wait until cancelled calls, which are tasks of their own, let go of the services.
const RELEASED: Duration = Duration::from_millis(500);
/// Interval of checks for that.
const LOOK: Duration = Duration::from_millis(5);

/// Answers requests until `stop` is cancelled. Requests under way then have [`Bounds::end`] left;
/// nothing of `parts` is held afterwards.
pub async fn serve(bound: Bound, mut parts: WebParts, stop: CancellationToken) {
    let bounds = Bounds::default();
    // The configured port may be 0, which no address for others names.
    parts.options.listen = bound.address;
    let parts = Arc::new(parts);
    let guard = Guard::new(&parts.options);
    let entry = Entry::new(parts.handles.access.clone(), &bounds);
    let routes = Routes::of(&parts, &stop).checked(guard, entry, &bounds);
    let (held, outside) = (Arc::downgrade(&parts), parts.handles.outside.clone());
    drop(parts);
    connections::serve(bound.listener, Shared { routes, bounds: Arc::new(bounds), stop }).await;
    outside.close().await;
    let released = async {
        while held.strong_count() > 0 {
            sleep(LOOK).await;
        }
    };
    if timeout(RELEASED, released).await.is_err() {
        tracing::debug!("a cancelled call still holds the services");
    }
}
