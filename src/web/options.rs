//! Settings of the listener.

use std::net::{Ipv4Addr, SocketAddr};

/// Default port.
const PORT: u16 = 4100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebOptions {
    pub listen: SocketAddr,
    /// A proxy in front of it speaks TLS.
    pub behind_tls: bool,
    /// Names, besides those of this machine, under which it is reached; lower case, without a port.
    pub hosts: Vec<String>,
    pub mcp: McpOptions,
}

/// Settings of the MCP server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct McpOptions {
    /// Offers `voice.listen`, which returns what players say.
    pub listen: bool,
    /// Tools are named `voice_speak` instead of `voice.speak`.
    pub underscores: bool,
}

impl Default for WebOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)),
            behind_tls: false,
            hosts: Vec::new(),
            mcp: McpOptions::default(),
        }
    }
}

impl WebOptions {
    /// Other machines can reach the address.
    pub const fn is_exposed(&self) -> bool {
        !self.listen.ip().is_loopback()
    }
}
