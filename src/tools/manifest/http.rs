//! An HTTP tool: turns arguments into a request. `live.rs` sends it.

use std::{collections::BTreeSet, fmt, time::Duration};

use reqwest::{
    Method, Url,
    header::{
        ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
        TRANSFER_ENCODING, UPGRADE,
    },
};
use serde_json::{Map, Value};

use super::{
    address::Address,
    error::{ArgumentError, HeaderError},
    mapping::Mapping,
    pieces::{Pieces, plain},
};

#[derive(Clone)]
pub struct Http {
    pub address: Address,
    pub verb: Verb,
    pub timeout: Option<Duration>,
    pub headers: Vec<Header>,
    pub query: Vec<String>,
    /// Arguments that are not sent.
    pub exclude: Vec<String>,
    /// Fixed query parameters.
    pub static_query: Vec<(String, String)>,
    /// Fixed body members; they win over arguments.
    pub static_body: Map<String, Value>,
    /// Makes the body from the remaining arguments.
    pub body: Option<Mapping>,
    /// Makes the result from the answer.
    pub answer: Option<Mapping>,
    /// Members removed from answers, at any depth.
    pub redact: Vec<String>,
    /// Longest answer in bytes.
    pub max_bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Verb {
    pub const NAMES: &'static [&'static str] = &["GET", "POST", "PUT", "PATCH", "DELETE"];

    /// The verb called `name`; POST for any other.
    pub fn named(name: &str) -> Self {
        match name {
            "GET" => Self::Get,
            "PUT" => Self::Put,
            "PATCH" => Self::Patch,
            "DELETE" => Self::Delete,
            _ => Self::Post,
        }
    }

    pub const fn has_body(self) -> bool {
        matches!(self, Self::Post | Self::Put | Self::Patch)
    }

    pub const fn method(self) -> Method {
        match self {
            Self::Get => Method::GET,
            Self::Post => Method::POST,
            Self::Put => Method::PUT,
            Self::Patch => Method::PATCH,
            Self::Delete => Method::DELETE,
        }
    }
}

/// Headers that control routing or framing.
const OF_THE_CONNECTION: [HeaderName; 5] =
    [HOST, CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION, UPGRADE];

#[derive(Clone)]
pub struct Header {
    name: HeaderName,
    value: HeaderText,
}

#[derive(Clone)]
enum HeaderText {
    Fixed(HeaderValue),
    Template(Pieces),
}

impl Header {
    /// A header whose value may contain `{argument}`. The error does not show the value.
    pub fn template(name: &str, value: &str) -> Result<Self, HeaderError> {
        let pieces = Pieces::parse(value)?;
        if pieces.names().next().is_none() {
            return Self::fixed(name, value);
        }
        let name = header_name(name)?;
        if OF_THE_CONNECTION.contains(&name) {
            return Err(HeaderError::Connection);
        }
        Ok(Self { name, value: HeaderText::Template(pieces) })
    }

    const fn is_made(&self) -> bool {
        matches!(self.value, HeaderText::Template(_))
    }

    /// A fixed header. The error does not show the value.
    pub fn fixed(name: &str, value: &str) -> Result<Self, HeaderError> {
        let value = secret(value).ok_or(HeaderError::Value)?;
        Ok(Self { name: header_name(name)?, value: HeaderText::Fixed(value) })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        match &self.value {
            HeaderText::Template(pieces) => Some(pieces.names()),
            HeaderText::Fixed(_) => None,
        }
        .into_iter()
        .flatten()
    }

    fn filled(&self, arguments: &Map<String, Value>) -> Result<HeaderValue, ArgumentError> {
        match &self.value {
            HeaderText::Fixed(value) => Ok(value.clone()),
            HeaderText::Template(pieces) => {
                let text = pieces
                    .fill(arguments, str::to_owned)
                    .map_err(|missing| ArgumentError::InHeader(missing.0))?;
                secret(&text).ok_or(ArgumentError::LineEnd)
            }
        }
    }
}

fn header_name(name: &str) -> Result<HeaderName, HeaderError> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| HeaderError::Name)
}

/// A value marked sensitive.
fn secret(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

pub struct Outgoing {
    pub url: Url,
    pub headers: HeaderMap,
    /// The JSON that is sent; `None`: there is no body.
    pub body: Option<Vec<u8>>,
}

impl Http {
    /// Arguments used outside the body or not sent, each with the place that names it.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let address = self.address.names().map(|name| ("url", name));
        let headers = self.headers.iter().flat_map(Header::names).map(|name| ("headers", name));
        let query = self.query.iter().map(|name| ("query_params", name.as_str()));
        let exclude = self.exclude.iter().map(|name| ("exclude", name.as_str()));
        address.chain(headers).chain(query).chain(exclude)
    }

    /// The request of one call. The error is worded for the model.
    pub fn request(&self, arguments: &Map<String, Value>) -> Result<Outgoing, ArgumentError> {
        let mut url = self.address.fill(arguments)?;
        let used: BTreeSet<&str> = self.named().map(|(_, name)| name).collect();
        let mut rest = arguments.clone();
        rest.retain(|name, _| !used.contains(name.as_str()));
        let in_query = self.query.iter().filter_map(|name| Some((name, arguments.get(name)?)));
        let mut pairs: Vec<(String, String)> =
            in_query.flat_map(|(name, value)| pairs_of(name, value)).collect();
        if !self.verb.has_body() {
            pairs.extend(rest.iter().flat_map(|(name, value)| pairs_of(name, value)));
        }
        // Arguments never replace a fixed parameter.
        let fixed = self.static_query.iter().map(|(name, _)| name.as_str());
        let fixed: Vec<String> = fixed.chain(self.address.fixed()).map(read_as).collect();
        pairs.retain(|(name, _)| !fixed.contains(&read_as(name)));
        pairs.extend(self.static_query.iter().cloned());
        if !pairs.is_empty() {
            url.query_pairs_mut().extend_pairs(pairs);
        }
        let body = self.verb.has_body().then(|| self.body(rest)).transpose()?;
        Ok(Outgoing { url, headers: self.headers(arguments, body.is_some())?, body })
    }

    fn headers(
        &self,
        arguments: &Map<String, Value>,
        body: bool,
    ) -> Result<HeaderMap, ArgumentError> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, */*;q=0.5"));
        if body {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        // Fixed headers come last and win.
        let (made, fixed): (Vec<_>, Vec<_>) = self.headers.iter().partition(|it| it.is_made());
        for header in made.into_iter().chain(fixed) {
            headers.insert(header.name.clone(), header.filled(arguments)?);
        }
        Ok(headers)
    }

    /// JSON body of the remaining arguments.
    fn body(&self, rest: Map<String, Value>) -> Result<Vec<u8>, ArgumentError> {
        let mut body = Value::Object(rest);
        if let Some(mapping) = &self.body {
            body = mapping.apply(&body)?;
        }
        match &mut body {
            Value::Object(members) => {
                let is_fixed = |name: &str| {
                    self.static_body.keys().any(|fixed| fixed.eq_ignore_ascii_case(name))
                };
                members.retain(|name, _| !is_fixed(name));
                members.extend(self.static_body.clone());
            }
            other if other.is_null() => *other = Value::Object(self.static_body.clone()),
            _ => {}
        }
        Ok(body.to_string().into_bytes())
    }
}

/// Name a server may confuse the parameter with: some ignore case, and PHP reads "a.b" as "a_b" and
/// "a[]" as "a".
fn read_as(name: &str) -> String {
    let name = name.trim_start().split(['[', '\0']).next().unwrap_or_default();
    name.to_lowercase().replace(['.', ' '], "_")
}

/// Query parameters of an argument: a list is repeated, an object becomes JSON.
fn pairs_of(name: &str, value: &Value) -> Vec<(String, String)> {
    let pair = |text| (name.to_owned(), text);
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => {
            items.iter().map(|item| pair(plain(item).unwrap_or_else(|| item.to_string()))).collect()
        }
        value => vec![pair(plain(value).unwrap_or_else(|| value.to_string()))],
    }
}

impl fmt::Debug for Http {
    /// Omits address and headers, which may hold keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, verb) = (&self.address.host, self.verb);
        f.debug_struct("Http").field("host", host).field("verb", &verb).finish_non_exhaustive()
    }
}

/// Removes members called one of `names` at any depth, ignoring case.
pub fn without(names: &[String], value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|key, _| !names.iter().any(|name| name.eq_ignore_ascii_case(key)));
            members.values_mut().for_each(|value| without(names, value));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| without(names, value)),
        _ => {}
    }
}
