//! Configured settings of calls that wait for a game master's decision.
//!
//! Entry type: [`ApprovalOptions`]. **Never**: decides.

use std::{fmt, time::Duration};

/// Longest wait for a decision unless it is configured.
const EXPIRES: Duration = Duration::from_secs(60);

/// Settings of calls that wait for a game master.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalOptions {
    /// Time after which an undecided call is refused.
    pub expires: Duration,
    /// Receiver of a notification for each call that waits.
    pub notify: Option<NotifyOptions>,
}

impl Default for ApprovalOptions {
    fn default() -> Self {
        Self { expires: EXPIRES, notify: None }
    }
}

/// Receiver of the notifications that a call waits.
#[derive(Clone, PartialEq, Eq)]
pub struct NotifyOptions {
    /// Address that receives them.
    pub url: String,
    /// Key of the HMAC-SHA256 that each notification is signed with.
    pub secret: String,
}

impl fmt::Debug for NotifyOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}
