//! Connections to MCP servers: child processes and streamable HTTP. Entry type: [`Servers`].
//! **Never**: exposes a type of `rmcp`.

mod answer;
mod backoff;
mod client;
mod client_handler;
mod definitions;
mod difference;
mod each_session;
mod event_size;
mod facts;
mod http_client;
mod http_post;
mod informed;
mod lists;
pub mod oauth;
mod offering;
mod open_calls;
mod options;
mod pinned;
mod pins;
pub mod probe;
mod remembered;
mod resources;
mod sampling;
mod server;
mod servers;
mod settle;
mod shared;
mod shared_status;
mod status;
mod stdio;
mod stdio_transport;
mod tail;
mod tool;
mod traffic;
mod unusable;

#[cfg(test)]
mod tests;

pub use backoff::Reconnect;
pub use facts::{Facts, SessionFacts};
pub use options::{
    Auth, Authority, ClientCredentials, Credential, Reach, Sandbox, ServerOptions, Trust,
};
pub use servers::{Servers, Setup};
pub use shared::StartCheck;
pub use status::{Kept, State, Status};

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Announced changes since the last look; repeated notices merge.
#[derive(Debug, Default)]
pub struct Notices {
    tools: AtomicBool,
    resources: AtomicBool,
    woken: Notify,
}

impl Notices {
    pub fn tools_changed(&self) {
        self.tools.store(true, Ordering::Relaxed);
        self.woken.notify_one();
    }

    pub fn resources_changed(&self) {
        self.resources.store(true, Ordering::Relaxed);
        self.woken.notify_one();
    }

    /// Waits for a notice. Cancel safe.
    pub async fn some(&self) {
        self.woken.notified().await;
    }

    /// Resets and returns both flags: tools changed, resources changed.
    pub fn take(&self) -> (bool, bool) {
        (self.tools.swap(false, Ordering::Relaxed), self.resources.swap(false, Ordering::Relaxed))
    }
}
