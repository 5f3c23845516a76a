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
    /// True if other machines can reach the address.
    pub const fn is_exposed(&self) -> bool {
        !self.listen.ip().is_loopback()
    }

    /// Address at which others reach it: by the first configured name, else by its own address.
    pub fn url(&self) -> String {
        let (listen, port) = (self.listen, self.listen.port());
        match self.hosts.first() {
            Some(host) if self.behind_tls => format!("https://{host}"),
            Some(host) => format!("http://{host}:{port}"),
            None if listen.ip().is_unspecified() => format!("http://127.0.0.1:{port}"),
            None => format!("http://{listen}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_names_the_listener_as_others_reach_it() {
        let at = |listen: &str, behind_tls, hosts: &[&str]| {
            let hosts = hosts.iter().map(|it| (*it).to_owned()).collect();
            let listen = listen.parse().unwrap();
            WebOptions { listen, behind_tls, hosts, ..Default::default() }.url()
        };
        assert_eq!(at("127.0.0.1:4100", false, &[]), "http://127.0.0.1:4100");
        assert_eq!(at("[::1]:4100", false, &[]), "http://[::1]:4100");
        assert_eq!(at("0.0.0.0:4100", true, &["inn.example"]), "https://inn.example");
        assert_eq!(at("0.0.0.0:4100", true, &[]), "http://127.0.0.1:4100");
        assert_eq!(at("127.0.0.1:4100", false, &["inn"]), "http://inn:4100");
    }
}
