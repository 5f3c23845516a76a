//! State shared by all servers.

use std::sync::Arc;

use super::{facts::Facts, oauth::Tokens, remembered::RememberedServers, stdio::Room};
use crate::tools::ToolHost;

/// State shared by all servers.
pub struct Shared {
    /// Host that receives their tools.
    pub host: ToolHost,
    /// Records of them that outlive a run.
    pub remembered: RememberedServers,
    /// Launch settings of children.
    pub room: Room,
    /// Values that headers may name.
    pub facts: Arc<Facts>,
    /// Source of tokens.
    pub tokens: Tokens,
}
