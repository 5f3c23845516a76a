//! Stand-in for the voice servers until they are here.

use std::path::Path;

/// What the voice servers offer.
#[derive(Clone, Debug)]
pub struct VoiceOptions {
    /// Whether voice is end-to-end encrypted.
    pub dave: bool,
}

impl Default for VoiceOptions {
    fn default() -> Self {
        Self { dave: true }
    }
}

/// The voice servers.
#[derive(Clone)]
pub(crate) struct Voice {
    options: VoiceOptions,
}

impl Voice {
    /// Starts them.
    pub(crate) async fn start(
        _tls: tokio_rustls::TlsAcceptor,
        options: VoiceOptions,
    ) -> anyhow::Result<Self> {
        Ok(Self { options })
    }

    /// A seat for a user: token and endpoint.
    pub(crate) fn admit(
        &self,
        guild: u64,
        channel: u64,
        user: u64,
        session: &str,
    ) -> (String, String) {
        let dave = u8::from(self.options.dave);
        (format!("{guild}-{channel}-{user}-{session}-{dave}"), "127.0.0.1:9".into())
    }

    /// The user is gone.
    pub(crate) fn leave(&self, guild: u64, user: u64) {
        tracing::trace!(guild, user, "left voice");
    }

    /// Another server for everyone of a guild.
    pub(crate) fn migrate(&self, guild: u64) -> Vec<(u64, String, String)> {
        tracing::trace!(guild, "voice migrated");
        Vec::new()
    }

    /// What clients did wrong.
    pub(crate) fn violations(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Where and as whom a player sits down.
#[derive(Clone, Debug)]
pub struct Seat {
    /// Host and port of the voice server.
    pub endpoint: String,
    /// Token for it.
    pub token: String,
    /// The guild.
    pub guild: u64,
    /// The voice channel.
    pub channel: u64,
    /// Who.
    pub user: u64,
    /// The session of the voice state.
    pub session_id: String,
}

/// A native player.
#[derive(Debug)]
pub struct Player {
    /// Where the player sits.
    pub seat: Seat,
}

impl Player {
    /// Connects.
    ///
    /// # Errors
    /// When the voice server cannot be reached.
    pub async fn connect(seat: Seat, _ca: &Path) -> anyhow::Result<Self> {
        Ok(Self { seat })
    }
}
