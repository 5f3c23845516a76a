//! Tools that the user at the terminal has allowed permanently. Entry type: [`LocalPermits`].

use std::sync::Arc;

use super::super::complain;
use crate::{
    app,
    campaign::{FileError, KeptPermits},
    config::Config,
    domain::SessionId,
    tools::ToolHost,
};

/// Permits for this and later sessions.
pub struct LocalPermits {
    kept: KeptPermits,
    host: ToolHost,
    session: SessionId,
}

impl LocalPermits {
    /// Applies the permits stored for the campaign of `config` to `session`.
    pub fn open(config: &Config, host: &ToolHost, session: SessionId) -> Arc<Self> {
        let kept = KeptPermits::new(&config.data_dir, app::campaign_key(config));
        match kept.read() {
            Ok(permits) => host.set_permits(&session, permits),
            Err(error) => complain(&format!("{error} (every tool asks again)")),
        }
        Arc::new(Self { kept, host: host.clone(), session })
    }

    /// `tool` needs no more approval while its definition stays the same.
    pub fn allow(&self, tool: &str, definition: &str) {
        if let Err(error) = self.kept.change(|permits| permits.allow(tool, definition)) {
            complain(&format!("{error} (the permission lasts until you leave)"));
        }
    }

    /// Permanently allowed tools, one per line, and whether that is still valid.
    pub fn standing(&self) -> Result<Vec<String>, FileError> {
        let snapshot = self.host.snapshot();
        self.kept.read().map(|permits| permits.standing(&snapshot))
    }

    /// Makes `tool` ask again; false if it was not allowed. On an error nothing changes.
    pub fn revoke(&self, tool: &str) -> Result<bool, FileError> {
        let mut was_allowed = false;
        let permits = self.kept.change(|permits| was_allowed = permits.revoke(tool))?;
        self.host.set_permits(&self.session, permits);
        Ok(was_allowed)
    }
}
