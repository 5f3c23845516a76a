//! The other end of a connection. Entry type: [`Peer`].

use std::net::IpAddr;

use axum::extract::Request;

/// Headers that proxies add; then the peer is only the proxy.
const PROXIED: [&str; 4] = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/// The address at the other end, an extension of each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

/// True for a request of a program on this machine that came through no proxy.
pub fn is_from_here(request: &Request) -> bool {
    let is_proxied = PROXIED.iter().any(|name| request.headers().contains_key(*name));
    let peer = request.extensions().get::<Peer>();
    !is_proxied && peer.is_some_and(|peer| peer.0.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn proxied_requests_are_not_from_here() {
        let is_from_here = |peer: Option<&str>, header: Option<&str>| {
            let mut request = Request::new(Body::empty());
            if let Some(peer) = peer {
                request.extensions_mut().insert(Peer(peer.parse().unwrap()));
            }
            if let Some(header) = header {
                let name = axum::http::HeaderName::from_bytes(header.as_bytes()).unwrap();
                request.headers_mut().insert(name, "10.0.0.1".parse().unwrap());
            }
            is_from_here(&request)
        };
        assert!(is_from_here(Some("127.0.0.1"), None));
        assert!(is_from_here(Some("::1"), Some("accept")));
        assert!(!is_from_here(Some("192.168.1.5"), None));
        assert!(!is_from_here(Some("127.0.0.1"), Some("X-Forwarded-For")));
        assert!(!is_from_here(Some("127.0.0.1"), Some("Forwarded")));
        assert!(!is_from_here(None, None));
    }
}
