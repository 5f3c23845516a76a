//! The gateway, version 10: sessions that outlive their sockets.
//!
//! Entry function: [`run`]; `State::dispatch` sends events. Never: REST.

mod connection;
mod control;
mod dispatch;
mod identify;
mod order;
mod session;

pub(crate) use dispatch::Audience;
pub(crate) use session::Gateways;

use crate::{state::Shared, stream};
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Bits of the intents that matter here.
pub(crate) mod intent {
    /// Guilds, channels, roles.
    pub(crate) const GUILDS: u64 = 1;
    /// Members coming and going; privileged.
    pub(crate) const GUILD_MEMBERS: u64 = 1 << 1;
    /// Voice states.
    pub(crate) const GUILD_VOICE_STATES: u64 = 1 << 7;
    /// Presences; privileged.
    pub(crate) const GUILD_PRESENCES: u64 = 1 << 8;
    /// Messages in guilds.
    pub(crate) const GUILD_MESSAGES: u64 = 1 << 9;
    /// Direct messages.
    pub(crate) const DIRECT_MESSAGES: u64 = 1 << 12;
    /// Content of messages; privileged.
    pub(crate) const MESSAGE_CONTENT: u64 = 1 << 15;
    /// Those that have to be granted.
    pub(crate) const PRIVILEGED: u64 = GUILD_MEMBERS | GUILD_PRESENCES | MESSAGE_CONTENT;
    /// All there are.
    pub(crate) const KNOWN: u64 = 0x1_FFFF | 1 << 20 | 1 << 21 | 1 << 24 | 1 << 25;
}

/// Accepts connections until cancelled.
pub(crate) async fn run(
    inner: Shared,
    listener: TcpListener,
    tasks: TaskTracker,
    stop: CancellationToken,
) {
    let talk = |socket| {
        let inner = inner.clone();
        async move {
            inner.thawed().await;
            let stream = stream::accept(socket, &inner.certificates.acceptor()).await?;
            connection::serve(&inner, stream).await
        }
    };
    stream::serve(listener, (tasks, stop), "gateway", talk).await;
}
