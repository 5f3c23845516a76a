//! The address of an HTTP tool, with arguments in its path and query.
//!
//! Entry type: [`Address`]. **Never**: lets an argument choose the host or leave its segment.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;
use serde_json::{Map, Value};

use super::{error::ArgumentError, pieces::Pieces};

/// What is not unreserved in RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A checked address.
#[derive(Clone)]
pub struct Address {
    pieces: Pieces,
    /// Where it leads, as the user knows it; the rest may hold keys.
    pub host: String,
    /// Whether it is encrypted (`https`).
    pub secure: bool,
    /// On this machine.
    pub loopback: bool,
}

impl Address {
    /// Reads an address whose path and query may hold `{argument}`.
    ///
    /// # Errors
    /// What is wrong with it, without the address itself.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err("it begins with http:// or https://");
        };
        if !matches!(scheme, "http" | "https") {
            return Err("it begins with http:// or https://");
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.is_empty() {
            return Err("a host behind the slashes");
        }
        if authority.contains(['{', '}']) {
            return Err("the host is fixed text; arguments stand behind it");
        }
        if authority.contains('@') {
            return Err("no user name in it; put keys into a header");
        }
        if text.contains('#') {
            return Err("nothing after #, which no server gets");
        }
        let pieces = Pieces::parse(text)
            .ok()
            .filter(|pieces| !pieces.holds(&['{', '}']))
            .ok_or("an argument in its path or query is written {name}")?;
        let sample = pieces.names().map(|name| (name.to_owned(), Value::from("x"))).collect();
        let url = filled(&pieces, &sample).map_err(|_| "an address such as https://host/path")?;
        let host = url.host_str().ok_or("a host behind the slashes")?.to_owned();
        let bare = host.trim_matches(['[', ']']);
        let loopback =
            bare == "localhost" || bare.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
        Ok(Self { pieces, host, secure: scheme == "https", loopback })
    }

    /// Names of its arguments.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.pieces.names()
    }

    /// The address of one call.
    ///
    /// # Errors
    /// Which argument cannot stand in it, for the model.
    pub fn fill(&self, arguments: &Map<String, Value>) -> Result<Url, ArgumentError> {
        filled(&self.pieces, arguments)
    }
}

/// The address with its arguments, percent-encoded.
fn filled(pieces: &Pieces, arguments: &Map<String, Value>) -> Result<Url, ArgumentError> {
    let encode = |text: &str| utf8_percent_encode(text, ENCODED).to_string();
    let text =
        pieces.fill(arguments, encode).map_err(|missing| ArgumentError::InAddress(missing.0))?;
    let path = text.split('?').next().unwrap_or_default();
    // A server would take these for steps through its folders.
    if path.split('/').any(|segment| matches!(segment, "." | "..")) {
        return Err(ArgumentError::Walks);
    }
    Url::parse(&text).map_err(ArgumentError::NoAddress)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fill(text: &str, arguments: &Value) -> Result<String, ArgumentError> {
        let address = Address::parse(text).expect("an address");
        address.fill(arguments.as_object().expect("an object")).map(String::from)
    }

    #[test]
    fn arguments_stay_in_their_place() {
        let address = "https://x.test/v1/{city}/now?q={{.city}}&u=m";
        let filled = fill(address, &json!({"city": "Bag End/../?a=b&c#d%2f"}));
        let encoded = "Bag%20End%2F..%2F%3Fa%3Db%26c%23d%252f";
        assert_eq!(filled, Ok(format!("https://x.test/v1/{encoded}/now?q={encoded}&u=m")));
    }

    #[test]
    fn no_argument_walks_through_the_servers_folders() {
        for walk in ["..", ".", "", "\u{0}"] {
            let filled = fill("http://x.test/users/{id}", &json!({"id": walk}));
            assert!(filled.is_err() || walk == "\u{0}", "{walk}: {filled:?}");
        }
        assert!(fill("http://x.test/users/{id}", &json!({})).is_err());
    }

    #[test]
    fn addresses_that_are_none_are_refused() {
        for wrong in [
            "x.test/a",
            "ftp://x.test",
            "https://{host}/a",
            "https://x.{tld}/",
            "http://a@x.test/",
            "http:///a",
            "http://x.test/{{.city}",
            "http://x.test/{city",
            "http://x.test/a/../b",
            "http://x.test/{if x}",
            "http://x.test/a#b",
            "http://[::1/",
        ] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn where_it_leads_is_known() {
        let local = Address::parse("http://127.0.0.1:81/a").expect("an address");
        assert_eq!((local.host.as_str(), local.loopback, local.secure), ("127.0.0.1", true, false));
        assert!(Address::parse("http://[::1]:81/a").expect("an address").loopback);
        assert!(!Address::parse("https://localhost.x.test/").expect("an address").loopback);
    }
}
