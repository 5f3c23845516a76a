//! Tools that whoever types has allowed for good.
//!
//! Entry type: [`LocalPermits`]. **Never**: decides what is allowed.

use std::sync::Arc;

use super::super::complain;
use crate::{
    app,
    campaign::KeptPermits,
    config::Config,
    domain::SessionId,
    tools::{Permits, ToolHost},
};

/// What is allowed in this session and in those after it.
pub struct LocalPermits {
    kept: KeptPermits,
    host: ToolHost,
    session: SessionId,
}

impl LocalPermits {
    /// What is kept for the campaign of `config` holds in `session` from now on.
    pub fn open(config: &Config, host: &ToolHost, session: SessionId) -> Arc<Self> {
        let kept = KeptPermits::new(&config.data_dir, app::campaign_key(config));
        match kept.read() {
            Ok(permits) => host.set_permits(&session, permits),
            Err(error) => complain(&format!("{error} (every tool asks again)")),
        }
        Arc::new(Self { kept, host: host.clone(), session })
    }

    /// `tool` asks nobody any more, as long as it is defined so.
    pub fn allow(&self, tool: &str, definition: &str) {
        if let Err(error) = self.kept.change(|permits| permits.allow(tool, definition)) {
            complain(&format!("{error} (the permission lasts until you leave)"));
        }
    }

    /// What was allowed for good, and whether that still holds.
    pub fn listed(&self) -> String {
        let snapshot = self.host.snapshot();
        let permits = self.kept.read().map(|permits| permits.standing(&snapshot));
        match permits {
            Ok(lines) if lines.is_empty() => "no tool has a permanent permission".to_owned(),
            Ok(lines) => lines.join("\n"),
            Err(error) => error.to_string(),
        }
    }

    /// Has `tool` ask again; what is said about it.
    pub fn revoke(&self, tool: &str) -> String {
        let mut was_allowed = false;
        let changed = self.kept.change(|permits: &mut Permits| was_allowed = permits.revoke(tool));
        match changed {
            Ok(permits) if was_allowed => {
                self.host.set_permits(&self.session, permits);
                format!("{tool} asks again")
            }
            Ok(_) => format!("'{tool}' has no permanent permission (see /tools permits)"),
            Err(error) => error.to_string(),
        }
    }
}
