//! Address of an HTTP tool, with arguments in path and query. **Never**: lets an argument choose
//! the host or leave its segment.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;
use serde_json::{Map, Value};

use super::{error::ArgumentError, pieces::Pieces};
use crate::provider::base_url;

/// All characters but RFC 3986's unreserved ones.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

#[derive(Clone)]
pub struct Address {
    pieces: Pieces,
    /// Host as shown in messages; the rest may hold keys.
    pub host: String,
    /// The address with sample arguments.
    sample: Url,
    /// Names of fixed query parameters.
    fixed: Vec<String>,
}

impl Address {
    /// Parses an address whose path and query may contain `{argument}`. The error does not quote
    /// the address.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err("it begins with http:// or https://");
        };
        let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let (authority, behind) = rest.split_at(end);
        if authority.contains(['{', '}']) {
            return Err("the host is fixed text; arguments stand behind it");
        }
        if authority.contains('@') {
            return Err("no user name in it; put keys into a header");
        }
        base_url(&format!("{scheme}://{authority}"))?;
        if behind.contains(['#', '\\']) {
            return Err("nothing after #, which no server gets, and / instead of \\");
        }
        if behind.contains(|c: char| c.is_control() || c.is_whitespace()) {
            return Err("no blanks and line ends");
        }
        let query = behind.split_once('?').map_or("", |(_, query)| query);
        let names = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default());
        if names.into_iter().any(|name| name.contains('{')) {
            return Err("an argument in the query stands behind a name: name={argument}");
        }
        let pieces = Pieces::parse(text)
            .ok()
            .filter(|pieces| !pieces.holds(&['{', '}']))
            .ok_or("an argument in its path or query is written {name}")?;
        let sample = pieces.names().map(|name| (name.to_owned(), Value::from("x"))).collect();
        let sample =
            filled(&pieces, &sample).map_err(|_| "an address such as https://host/path")?;
        let host = sample.host_str().ok_or("a host behind the slashes")?.to_owned();
        let fixed = sample.query_pairs().map(|(name, _)| name.into_owned()).collect();
        Ok(Self { pieces, host, sample, fixed })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.pieces.names()
    }

    pub fn fixed(&self) -> impl Iterator<Item = &str> {
        self.fixed.iter().map(String::as_str)
    }

    /// Only the origin is real.
    pub const fn server(&self) -> &Url {
        &self.sample
    }

    /// The address of one call. The error is worded for the model.
    pub fn fill(&self, arguments: &Map<String, Value>) -> Result<Url, ArgumentError> {
        let url = filled(&self.pieces, arguments)?;
        // Last defence: no argument may change the origin.
        if url.origin() != self.sample.origin() {
            return Err(ArgumentError::Walks);
        }
        Ok(url)
    }
}

/// Percent-encodes the arguments.
fn filled(pieces: &Pieces, arguments: &Map<String, Value>) -> Result<Url, ArgumentError> {
    let encode = |text: &str| utf8_percent_encode(text, ENCODED).to_string();
    let text =
        pieces.fill(arguments, encode).map_err(|missing| ArgumentError::InAddress(missing.0))?;
    let path = text.split('?').next().unwrap_or_default();
    // A server would resolve these as relative segments.
    if path.split('/').any(|segment| matches!(segment, "." | "..")) {
        return Err(ArgumentError::Walks);
    }
    Url::parse(&text).map_err(ArgumentError::NoAddress)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
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
            "http://①②⑦.⓪.⓪.①/",
            "http://127.1/a",
            "http://x.te\nst/",
            "http://x.test/a b",
            "http://x.test\\{city}",
            "http://x.test{city}",
            "http://x.test:80{city}/",
            "http://x.test/?{city}=1",
            "http://x.test/?a=1&{city}",
        ] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn arguments_never_leave_their_url_component(
            value in prop_oneof!["\\PC{0,20}", "[./?#@:%&=2eEfF\\\\;\u{0}\n]{1,16}"],
        ) {
            let address = Address::parse("https://x.test:8443/v1/{a}/z?q={a}&fix=1").unwrap();
            let arguments = json!({"a": value});
            let Ok(url) = address.fill(arguments.as_object().unwrap()) else { return Ok(()) };
            prop_assert_eq!(url.host_str(), Some("x.test"));
            prop_assert_eq!(url.port(), Some(8443));
            prop_assert!(url.username().is_empty() && url.fragment().is_none());
            let segments: Vec<&str> = url.path_segments().unwrap().collect();
            prop_assert_eq!((segments.len(), segments[0], segments[2]), (3, "v1", "z"));
            let pairs: Vec<_> = url.query_pairs().into_owned().collect();
            let expected = [("q".to_owned(), value), ("fix".to_owned(), "1".to_owned())];
            prop_assert_eq!(pairs, expected);
        }
    }

    #[test]
    fn address_yields_host_port_and_fixed_keys() {
        let local = Address::parse("http://127.0.0.1:81/{a}?b=1&c={a}").expect("an address");
        assert_eq!(local.host, "127.0.0.1");
        assert_eq!(local.server().port(), Some(81));
        assert_eq!(local.fixed().collect::<Vec<_>>(), ["b", "c"]);
    }
}
