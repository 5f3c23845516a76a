//! What all servers share.

use std::sync::Arc;

use super::{facts::Facts, oauth::Tokens, remembered::RememberedServers, stdio::Room};
use crate::tools::ToolHost;

/// What all servers share.
pub struct Shared {
    /// Where their tools go.
    pub host: ToolHost,
    /// What is remembered of them.
    pub remembered: RememberedServers,
    /// Where children are started.
    pub room: Room,
    /// What headers may name.
    pub facts: Arc<Facts>,
    /// Where tokens come from.
    pub tokens: Tokens,
}
