//! State shared by all servers.

use std::sync::Arc;

use super::{facts::Facts, oauth::Tokens, remembered::RememberedServers, stdio::Room};
use crate::tools::ToolHost;

/// State shared by all servers.
pub struct Shared {
    /// Where their tools go.
    pub host: ToolHost,
    /// Records of them that outlive a run.
    pub remembered: RememberedServers,
    /// Where children are started.
    pub room: Room,
    /// Values that headers may name.
    pub facts: Arc<Facts>,
    /// Where tokens come from.
    pub tokens: Tokens,
}
