//! Host, origin and method of every request, so that no page of another site reaches this server.
//!
//! Entry function: [`check`]. A page whose name was pointed at this machine (DNS rebinding) sends
//! its own name as `Host`; a page of another site sends its own `Origin`. Programs send none.

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, Method, Uri,
        header::{HOST, HeaderName, ORIGIN},
        uri::Authority,
    },
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{options::WebOptions, refusal::Refusal};

/// Characters of a refused value that the answer repeats.
const QUOTED: usize = 80;

#[derive(Debug)]
pub struct Guard {
    /// Names besides those of this machine, in lower case.
    hosts: Vec<String>,
    address: IpAddr,
}

/// Passes on requests to this server by pages of this server or by programs.
pub async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match guard.admit(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

impl Guard {
    pub fn new(options: &WebOptions) -> Self {
        Self { hosts: options.hosts.clone(), address: options.listen.ip() }
    }

    fn admit(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = only(headers, HOST).ok().flatten().ok_or(Refusal::NoHost)?;
        let own = authority(host).ok_or_else(|| Refusal::Host(quoted(host)))?;
        // An absolute address in the request's line overrides the header.
        for asked in [Some(&own), uri.authority()].into_iter().flatten() {
            if !self.is_own(asked.host()) || asked.as_str().contains('@') {
                return Err(Refusal::Host(quoted(asked.as_str())));
            }
        }
        match only(headers, ORIGIN) {
            Ok(None) => {}
            Ok(Some(origin)) if self.is_own_origin(origin, &own) => {}
            Ok(Some(origin)) => return Err(Refusal::Origin(quoted(origin))),
            Err(Several) => return Err(Refusal::Origin(String::new())),
        }
        match *method {
            Method::GET | Method::HEAD | Method::POST | Method::DELETE => Ok(()),
            _ => Err(Refusal::Method),
        }
    }

    /// True for names and addresses that no other site can have.
    fn is_own(&self, host: &str) -> bool {
        let name = host.to_ascii_lowercase();
        let bare = name.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(&name);
        match bare.parse::<IpAddr>() {
            Ok(address) => address.is_loopback() || address == self.address || self.lists(address),
            Err(_) => name == "localhost" || self.hosts.contains(&name),
        }
    }

    /// True if `address` is among the names.
    fn lists(&self, address: IpAddr) -> bool {
        self.hosts.iter().any(|host| host.parse::<IpAddr>() == Ok(address))
    }

    /// True for a page of the requested host, or of a listed one.
    fn is_own_origin(&self, origin: &str, host: &Authority) -> bool {
        let (rest, port) = match (origin.strip_prefix("http://"), origin.strip_prefix("https://")) {
            (Some(rest), _) => (rest, 80),
            (_, Some(rest)) => (rest, 443),
            (None, None) => return false,
        };
        let Some(page) = authority(rest) else { return false };
        let name = page.host().to_ascii_lowercase();
        let is_same = host.host().eq_ignore_ascii_case(&name)
            && page.port_u16().unwrap_or(port) == host.port_u16().unwrap_or(port);
        is_same || self.hosts.contains(&name)
    }
}

/// A name or address, perhaps with a port, and nothing else.
fn authority(text: &str) -> Option<Authority> {
    let is_plain = !text.contains(['@', '/', '?', '#']);
    is_plain.then(|| text.parse::<Authority>().ok()).flatten()
}

/// A header occurs more than once, or is no text.
struct Several;

/// The value of a header that may occur once.
fn only(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, Several> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return Err(Several);
    }
    first.map(|value| value.to_str().map_err(|_| Several)).transpose()
}

fn quoted(text: &str) -> String {
    text.chars().take(QUOTED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Status of the refusal; `None`: the request is admitted.
    fn refusal(target: &str, headers: &[(HeaderName, &str)]) -> Option<u16> {
        let hosts = ["npc.example", "192.168.1.9"].map(str::to_owned).to_vec();
        let listen = "192.168.1.5:4100".parse().unwrap();
        let guard = Guard::new(&WebOptions { listen, hosts, ..Default::default() });
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            all.append(name, value.parse().unwrap());
        }
        let admitted = guard.admit(&Method::POST, &target.parse().unwrap(), &all);
        admitted.err().map(|refusal| refusal.status().as_u16())
    }

    #[test]
    fn foreign_hosts_are_misdirected() {
        let own = ["localhost:4100", "LOCALHOST", "127.0.0.1:1", "[::1]:4100", "npc.example"];
        for host in own.into_iter().chain(["NPC.example:443", "192.168.1.5:4100", "192.168.1.9"]) {
            assert_eq!(refusal("/mcp", &[(HOST, host)]), None, "{host}");
        }
        let foreign = ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "localhost."];
        let odd =
            ["10.0.0.1", "evil@localhost", "localhost/", "0x7f000001", "[::2]", "npc.example."];
        for host in foreign.into_iter().chain(odd) {
            assert_eq!(refusal("/mcp", &[(HOST, host)]), Some(421), "{host}");
        }
        assert_eq!(refusal("/mcp", &[]), Some(400));
        assert_eq!(refusal("/mcp", &[(HOST, "localhost"), (HOST, "localhost")]), Some(400));
        let with_target = |target| refusal(target, &[(HOST, "localhost")]);
        assert_eq!(with_target("http://evil.example/mcp"), Some(421));
        assert_eq!(with_target("http://localhost/mcp"), None);
    }

    #[test]
    fn foreign_origins_are_forbidden() {
        let from = |host, origin| refusal("/mcp", &[(HOST, host), (ORIGIN, origin)]);
        let own = "http://127.0.0.1:4100";
        for (host, origin) in [
            ("127.0.0.1:4100", own),
            ("npc.example", "https://npc.example"),
            ("npc.example", "https://NPC.example:443"),
            ("localhost:4100", "https://npc.example"),
        ] {
            assert_eq!(from(host, origin), None, "{origin} at {host}");
        }
        let foreign = ["null", "", "http://evil.example", "http://127.0.0.1:3000", "file://", own];
        let odd = ["http://localhost:4100/", "http://a@localhost:4100", "ws://localhost:4100"];
        for origin in foreign.into_iter().chain(odd) {
            assert_eq!(from("localhost:4100", origin), Some(403), "{origin}");
        }
        let twice = [(HOST, "127.0.0.1:4100"), (ORIGIN, own), (ORIGIN, own)];
        assert_eq!(refusal("/mcp", &twice), Some(403));
    }

    #[test]
    fn only_known_methods_pass() {
        let guard = Guard::new(&WebOptions::default());
        let headers = HeaderMap::from_iter([(HOST, "localhost".parse().unwrap())]);
        for (method, is_known) in [("GET", true), ("DELETE", true), ("TRACE", false), ("X", false)]
        {
            let method = method.parse().unwrap();
            let admitted = guard.admit(&method, &Uri::from_static("/mcp"), &headers);
            assert_eq!(admitted.is_ok(), is_known, "{method}");
        }
    }
}
