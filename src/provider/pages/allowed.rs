//! Hosts whose pages may be read without a search.
//!
//! Entry type: [`AllowedHost`].

use reqwest::Url;

use crate::provider::{
    address::{base_url, is_private_name},
    outbound::is_global,
};

/// A host of the configuration: `srd.example.org`, `*.example.org`, `127.0.0.1:8080`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost {
    /// Lowercase, with the brackets of an IPv6 address; for a wildcard, the part after `*`.
    host: String,
    port: Option<u16>,
    is_wildcard: bool,
    is_private: bool,
}

impl AllowedHost {
    /// Parses an entry of the configuration; the error is the fix.
    pub fn read(text: &str) -> Result<Self, &'static str> {
        let text = text.trim().to_ascii_lowercase();
        let (bare, is_wildcard) = match text.strip_prefix("*.") {
            Some(rest) => (rest, true),
            None => (text.as_str(), false),
        };
        if bare.contains(['/', '*']) {
            return Err("write only a host, such as srd.example.org or *.example.org");
        }
        let address = base_url(&format!("http://{bare}"))?;
        let url = Url::parse(&address.text).map_err(|_| "write a host such as srd.example.org")?;
        let host = url.host_str().unwrap_or_default();
        let ip = host.trim_matches(['[', ']']).parse();
        let is_private = address.private || ip.is_ok_and(|ip| !is_global(ip));
        if is_wildcard && is_private {
            return Err("a wildcard covers public hosts only; write each host of your network");
        }
        let port = port_of(bare);
        let host = if is_wildcard { format!(".{host}") } else { host.to_owned() };
        Ok(Self { host, port, is_wildcard, is_private })
    }

    /// True if it covers `url`. Without a port it covers every port of a public host, but only the
    /// scheme's default port of a private one.
    pub fn covers(&self, url: &Url) -> bool {
        let Some(host) = url.host_str() else { return false };
        let is_host = match self.is_wildcard {
            true => host.ends_with(&self.host) && !is_private_name(host),
            false => host == self.host,
        };
        let is_port = match self.port {
            Some(port) => url.port_or_known_default() == Some(port),
            None => !self.is_private || url.port().is_none(),
        };
        is_host && is_port
    }

    pub const fn is_private(&self) -> bool {
        self.is_private
    }
}

/// The port at the end of `host`, even the default one.
fn port_of(host: &str) -> Option<u16> {
    let after = host.rsplit_once(']').map_or(host, |(_, after)| after);
    after.rsplit_once(':')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(entry: &str, url: &str) -> bool {
        AllowedHost::read(entry).unwrap().covers(&Url::parse(url).unwrap())
    }

    #[test]
    fn entry_covers_its_host_alone() {
        assert!(covers("SRD.example.org", "https://srd.example.org/a?b"));
        assert!(covers("srd.example.org", "http://srd.example.org:8080/"));
        assert!(!covers("srd.example.org", "https://other.example.org/"));
        assert!(!covers("srd.example.org", "https://srd.example.org.evil.com/"));
        assert!(!covers("srd.example.org:8443", "https://srd.example.org/"));
        assert!(covers("srd.example.org:443", "https://srd.example.org/"));
    }

    #[test]
    fn wildcard_covers_hosts_below() {
        assert!(covers("*.example.org", "https://a.b.example.org/"));
        assert!(!covers("*.example.org", "https://example.org/"));
        assert!(!covers("*.example.org", "https://badexample.org/"));
    }

    #[test]
    fn private_host_needs_its_port() {
        assert!(covers("127.0.0.1:8080", "http://127.0.0.1:8080/x"));
        assert!(!covers("127.0.0.1:8080", "http://127.0.0.1:22/"));
        assert!(covers("wiki.lan", "http://wiki.lan/"));
        assert!(!covers("wiki.lan", "http://wiki.lan:9200/"));
        assert!(covers("[::1]:81", "http://[::1]:81/"));
        // Shared by customers of a provider, or by an overlay network.
        assert!(covers("100.64.0.7", "http://100.64.0.7/"));
        assert!(!covers("100.64.0.7", "http://100.64.0.7:9200/"));
    }

    #[test]
    fn entries_that_are_no_hosts_are_refused() {
        for entry in ["", "*", "*.lan", "https://a.org", "a.org/b", "a b", "u@a.org", "*.*.org"] {
            assert!(AllowedHost::read(entry).is_err(), "{entry}");
        }
    }
}
