//! Settings of calls that wait for a game master's decision.

use std::{fmt, time::Duration};

/// Default time limit for a decision.
const EXPIRES: Duration = Duration::from_secs(60);

/// Settings of calls that wait for a game master.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalOptions {
    /// Time after which an undecided call is refused.
    pub expires: Duration,
    /// Receives a notification for each waiting call.
    pub notify: Option<NotifyOptions>,
}

impl Default for ApprovalOptions {
    fn default() -> Self {
        Self { expires: EXPIRES, notify: None }
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct NotifyOptions {
    pub url: String,
    /// Key of the HMAC-SHA256 signature of each notification.
    pub secret: String,
}

impl fmt::Debug for NotifyOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}
