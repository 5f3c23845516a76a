//! Statuses, error bodies and broken connections -> errors by kind, with the fix.
//!
//! Entry type: [`Peer`]. **Never**: a key, a prompt or a password in a message; a kind guessed from
//! prose.

use std::{collections::HashMap, error::Error as _, io, time::Duration};

use reqwest::{StatusCode, Url, header::HeaderMap};
use serde_json::Value;

use super::{options::Options, said::ServiceError};
use crate::{
    domain::Secret,
    provider::{Bound, Error, Kind, bounds::ERROR_TEXT},
};

/// Longest quotation of a service's message, in characters.
const MAX_QUOTE: usize = 200;
/// Shortest echo of the request that is removed from quotations, in characters.
const MIN_ECHO: usize = 16;

#[derive(Clone, Debug)]
pub struct Peer {
    address: String,
    model: String,
    key: Option<Secret>,
}

/// An error, and the service's own description of it.
#[derive(Clone, Debug)]
pub struct Failure {
    pub error: Error,
    said: ServiceError,
    refused: bool,
}

impl Failure {
    pub fn names(&self, parameter: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        self.refused
            && match &self.said.param {
                Some(param) => param.rsplit('.').next() == Some(parameter),
                None => self.said.message.split(|c| !is_word(c)).any(|word| word == parameter),
            }
    }
}

impl Failure {
    pub const fn said(&self) -> &ServiceError {
        &self.said
    }

    /// True if the service refused the content of the conversation, not the form of the request.
    pub fn is_about_messages(&self) -> bool {
        self.refused && self.said.message.trim_start().starts_with("messages")
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, said: ServiceError::default(), refused: false }
    }
}

impl Peer {
    pub fn new(options: &Options) -> Self {
        let address = shown_address(&options.base_url);
        Self { address, model: options.model.clone(), key: options.api_key.clone() }
    }

    pub fn error(&self, kind: Kind, what: &str, way_out: &str) -> Error {
        let Self { address, model, .. } = self;
        Error::new(kind, format!("'{address}', model '{model}': {what} ({way_out})"))
    }

    /// Error for a status other than success. `request` is what was sent, so that its echoes are
    /// hidden.
    pub fn refusal(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
        request: &Value,
    ) -> Failure {
        let json = serde_json::from_slice(body).ok();
        let mut said = json.as_ref().and_then(ServiceError::read).unwrap_or_default();
        said.status = Some(status.as_u16());
        let refused = matches!(status.as_u16(), 400 | 422);
        let error = self.service_error(&said, retry_after(headers), request);
        Failure { error, said, refused }
    }

    /// Error for an error object, from a body or from the middle of a stream.
    pub fn service_error(
        &self,
        said: &ServiceError,
        retry_after: Option<Duration>,
        request: &Value,
    ) -> Error {
        let kind = kind_of(said, retry_after);
        let (what, way_out) = match kind {
            Kind::Unauthorized if is_unpaid(said) => {
                ("the account has no credit", "check the account's plan and billing")
            }
            Kind::Unauthorized => ("the key was refused", "check api_key"),
            Kind::RateLimited { .. } => ("too many requests", "wait, or raise the account's limit"),
            Kind::Crowded { .. } => {
                ("too many requests at once", "wait, or raise the account's limit")
            }
            Kind::Unavailable if is_overloaded(said) => {
                ("the service is overloaded", "try again in a moment")
            }
            Kind::Timeout => ("the service gave up waiting", "try again, or a smaller model"),
            Kind::InvalidRequest if said.status == Some(404) => {
                ("not found", "check model, and whether base_url ends with a version such as /v1")
            }
            Kind::InvalidRequest => ("the request was refused", "check its entry under providers"),
            Kind::Protocol if said.status.is_some_and(|status| (300..400).contains(&status)) => (
                "it redirects elsewhere, and no conversation is sent there",
                "write the address it redirects to as base_url",
            ),
            _ => ("the service failed", "try again, or look at the server's log"),
        };
        let status = said.status.map(|status| format!(" with status {status}")).unwrap_or_default();
        let said = match self.quote(&said.message, request) {
            quote if quote.is_empty() => String::new(),
            quote => format!(": \"{quote}\""),
        };
        self.error(kind, &format!("{what}{status}{said}"), way_out)
    }

    pub fn no_answer(&self, error: &reqwest::Error) -> Error {
        if error.is_timeout() {
            return self.slow();
        }
        if error.is_builder() {
            let way_out = "set base_url to an address such as http://127.0.0.1:11434/v1";
            return self.error(Kind::InvalidRequest, "no usable address", way_out);
        }
        let (kind, what, way_out) = disconnected(error);
        self.error(kind, what, way_out)
    }

    pub fn slow(&self) -> Error {
        let way_out = "is the model still loading? try again, or raise first_byte_timeout_ms";
        self.error(Kind::Timeout, "no answer in time", way_out)
    }

    pub fn interrupted(&self) -> Error {
        let way_out = "try again, or look at the server's log";
        self.error(Kind::Interrupted, "the answer stopped in the middle", way_out)
    }

    pub fn over(&self, bound: Bound) -> Error {
        let what = format!("the answer exceeds the limit of {bound}");
        self.error(Kind::Protocol, &what, "check base_url and the model")
    }

    /// Makes a service's message safe to print: one short line without the key and without echoes.
    fn quote(&self, message: &str, request: &Value) -> String {
        let mut text = without_key(begun(message), self.key.as_ref());
        for member in ["messages", "input", "instructions", "system", "prompt", "contents"] {
            hide_echoes(&mut text, request.get(member).unwrap_or(&Value::Null));
        }
        quotable(&text)
    }
}

pub fn disconnected(error: &reqwest::Error) -> (Kind, &'static str, &'static str) {
    if !error.is_connect() {
        let what = "the connection was closed before an answer";
        return (Kind::Unavailable, what, "look at the server's log");
    }
    if root_cause(error) == Some(io::ErrorKind::ConnectionRefused) {
        let way_out = "is the server running? check base_url";
        return (Kind::Unreachable, "nothing listens there", way_out);
    }
    (Kind::Unreachable, "no connection", "check base_url and the network")
}

/// The address without user, password and query.
pub fn shown_address(base_url: &str) -> String {
    Url::parse(base_url).map_or_else(
        |_| base_url.to_owned(),
        |mut url| {
            // Refused only for addresses that cannot have a user.
            let _ = url.set_password(None);
            let _ = url.set_username("");
            url.set_query(None);
            url.as_str().trim_end_matches('/').to_owned()
        },
    )
}

/// The beginning of `message`. Drops a word that is cut, because it may be part of the key.
pub fn begun(message: &str) -> &str {
    if message.len() <= ERROR_TEXT {
        return message;
    }
    let cut = &message[..message.floor_char_boundary(ERROR_TEXT)];
    cut.rfind(char::is_whitespace).map_or("", |end| &cut[..end])
}

pub fn without_key(message: &str, key: Option<&Secret>) -> String {
    let text = message.split_whitespace().collect::<Vec<_>>().join(" ");
    match key.filter(|key| !key.0.is_empty()) {
        Some(key) => text.replace(&key.0, "<secret>"),
        None => text,
    }
}

/// The beginning of `text`, fit for quotation marks.
pub fn quotable(text: &str) -> String {
    text.replace('"', "'").chars().take(MAX_QUOTE).collect()
}

/// Removes each string in `value`, and each long part of one, from `text`.
pub fn hide_echoes(text: &mut String, value: &Value) {
    match value {
        Value::String(sent) => {
            let sent = sent.split_whitespace().collect::<Vec<_>>().join(" ");
            if sent.chars().count() > 3 {
                *text = text.replace(&sent, "…");
            }
            hide_parts(text, &sent);
        }
        Value::Array(items) => items.iter().for_each(|item| hide_echoes(text, item)),
        // Roles and types are our own words.
        Value::Object(members) => members
            .iter()
            .filter(|(key, _)| !matches!(key.as_str(), "role" | "type"))
            .for_each(|(_, item)| hide_echoes(text, item)),
        _ => {}
    }
}

fn hide_parts(text: &mut String, sent: &str) {
    let chars: Vec<char> = text.chars().collect();
    let mut places: HashMap<&[char], bool> = HashMap::new();
    for part in chars.windows(MIN_ECHO) {
        places.insert(part, false);
    }
    if places.is_empty() {
        return;
    }
    // One lookup for each part of what was sent, however long the text is.
    let sent: Vec<char> = sent.chars().collect();
    for part in sent.windows(MIN_ECHO) {
        if let Some(echoed) = places.get_mut(part) {
            *echoed = true;
        }
    }
    let mut kept = String::new();
    let mut hidden_until = 0;
    for (at, c) in chars.iter().enumerate() {
        let part = chars.get(at..at + MIN_ECHO);
        if part.is_some_and(|part| places.get(part) == Some(&true)) {
            if at >= hidden_until {
                kept.push('…');
            }
            hidden_until = at + MIN_ECHO;
        }
        if at >= hidden_until {
            kept.push(*c);
        }
    }
    *text = kept;
}

fn kind_of(said: &ServiceError, retry_after: Option<Duration>) -> Kind {
    let has = |words: &[&str]| {
        said.labels.iter().any(|label| words.iter().any(|word| label.eq_ignore_ascii_case(word)))
    };
    if is_unpaid(said) || has(&["API_KEY_INVALID", "invalid_api_key", "authentication_error"]) {
        return Kind::Unauthorized;
    }
    let is_crowded = said.labels.iter().any(|label| names_concurrency(label));
    let limited = match is_crowded {
        true => Kind::Crowded { retry_after },
        false => Kind::RateLimited { retry_after },
    };
    match said.status {
        Some(401..=403) => Kind::Unauthorized,
        Some(408 | 504 | 524) => Kind::Timeout,
        Some(429) => limited,
        Some(409) => Kind::Unavailable,
        Some(400..500) => Kind::InvalidRequest,
        Some(500..600) => Kind::Unavailable,
        Some(_) => Kind::Protocol,
        None if is_crowded => limited,
        None if has(&["rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED"]) => limited,
        None if has(&["invalid_request_error", "INVALID_ARGUMENT", "BadRequestError"])
            || has(&["not_found_error", "request_too_large"]) =>
        {
            Kind::InvalidRequest
        }
        None if has(&["timeout_error"]) => Kind::Timeout,
        None if has(&["permission_error", "PERMISSION_DENIED", "UNAUTHENTICATED"]) => {
            Kind::Unauthorized
        }
        None => Kind::Unavailable,
    }
}

/// True if `label` is about concurrent requests (`concurrency_limited`,
/// `too_many_concurrent_requests`).
pub fn names_concurrency(label: &str) -> bool {
    label.to_ascii_lowercase().contains("concurren")
}

/// Out of credit: retrying does not help.
fn is_unpaid(said: &ServiceError) -> bool {
    let unpaid = ["insufficient_quota", "billing_hard_limit_reached", "billing_error"];
    said.status == Some(402) || said.labels.iter().any(|label| unpaid.contains(&label.as_str()))
}

fn is_overloaded(said: &ServiceError) -> bool {
    said.status == Some(529) || said.labels.iter().any(|label| label == "overloaded_error")
}

/// Delay requested by `retry-after-ms`, or by `retry-after` in seconds.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| -> Option<f64> {
        headers.get(name)?.to_str().ok()?.trim().parse().ok().filter(|n: &f64| n.is_finite())
    };
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"));
    Duration::try_from_secs_f64(seconds?).ok()
}

fn root_cause(error: &reqwest::Error) -> Option<io::ErrorKind> {
    let mut cause = error.source();
    let mut kind = None;
    while let Some(inner) = cause {
        kind = inner.downcast_ref::<io::Error>().map(io::Error::kind).or(kind);
        cause = inner.source();
    }
    kind
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::provider::remote::options::tests::options;

    fn peer() -> Peer {
        let mut options = options("http://user:pw@127.0.0.1:9/v1/");
        options.api_key = Some(Secret("sk-very-secret".into()));
        Peer::new(&options)
    }

    fn refusal(status: u16, headers: &[(&'static str, &str)], body: &str) -> Failure {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        let request =
            json!({"messages": [{"role": "user", "content": "the vault opens at midnight"}]});
        peer().refusal(StatusCode::from_u16(status).unwrap(), &headers, body.as_bytes(), &request)
    }

    #[test]
    fn kinds_come_from_status_and_type() {
        let kind = |status, body| refusal(status, &[], body).error.kind();
        assert_eq!(kind(401, "{}"), Kind::Unauthorized);
        assert_eq!(kind(403, ""), Kind::Unauthorized);
        assert_eq!(kind(402, ""), Kind::Unauthorized);
        assert_eq!(kind(404, "not found"), Kind::InvalidRequest);
        assert_eq!(kind(400, r#"{"error":{"code":"tool_use_failed"}}"#), Kind::InvalidRequest);
        assert_eq!(kind(408, ""), Kind::Timeout);
        assert_eq!(kind(504, "<html>"), Kind::Timeout);
        assert_eq!(kind(500, ""), Kind::Unavailable);
        assert_eq!(kind(529, ""), Kind::Unavailable);
        assert_eq!(kind(302, ""), Kind::Protocol);
        let quota = r#"{"error":{"type":"insufficient_quota","message":"You exceeded"}}"#;
        assert_eq!(kind(429, quota), Kind::Unauthorized);
        let crowded = Kind::Crowded { retry_after: None };
        let eleven = r#"{"detail":{"status":"too_many_concurrent_requests","message":"wait"}}"#;
        assert_eq!(kind(429, eleven), crowded);
        assert_eq!(kind(429, r#"{"error":{"code":"concurrency_limited"}}"#), crowded);
        let gemini = r#"[{"error":{"code":400,"details":[{"reason":"API_KEY_INVALID"}]}}]"#;
        assert_eq!(kind(400, gemini), Kind::Unauthorized);
    }

    #[test]
    fn wait_asked_for_is_read() {
        let wait = |headers: &[(&'static str, &str)]| refusal(429, headers, "{}").error.kind();
        let limited = |ms| Kind::RateLimited { retry_after: Some(Duration::from_millis(ms)) };
        assert_eq!(wait(&[("retry-after", "2")]), limited(2000));
        assert_eq!(wait(&[("retry-after", "9"), ("retry-after-ms", "250")]), limited(250));
        assert_eq!(wait(&[("retry-after", "-1")]), Kind::RateLimited { retry_after: None });
        assert_eq!(wait(&[("retry-after", "soon")]), Kind::RateLimited { retry_after: None });
    }

    #[test]
    fn messages_name_the_way_out_and_hide_secrets() {
        let said =
            "model \"tiny\" not found, key sk-very-secret,\nyou said: the vault opens at midnight";
        let body = json!({"error": {"message": said}}).to_string();
        assert_eq!(
            refusal(404, &[], &body).error.to_string(),
            "'http://127.0.0.1:9/v1', model 'test-model': not found with status 404: \"model 'tiny' \
             not found, key <secret>, you said: …\" (check model, and whether base_url ends with a \
             version such as /v1)"
        );
        let partly = r#"{"error":{"message":"near 'vault opens at midn' in input"}}"#;
        let message = refusal(400, &[], partly).error.to_string();
        assert!(message.contains("near '…' in input"), "{message}");
        assert!(!format!("{:?}", peer()).contains("sk-very"));
    }

    #[test]
    fn error_of_megabytes_is_cut_before_searching() {
        let long = format!("{} sk-very-secret", "the vault opens ".repeat(128));
        assert_eq!(begun(&format!("{long}{}", "x".repeat(1 << 20))).len(), 2_047);
        assert_eq!(begun(&"x".repeat(1 << 20)), "");
        let said = ServiceError { message: "y ".repeat(1 << 20), ..ServiceError::default() };
        let request = json!({"messages": [{"role": "user", "content": "y ".repeat(50_000)}]});
        let error = peer().service_error(&said, None, &request).to_string();
        assert!(error.len() < 600 && error.contains("…"), "{error}");
    }

    #[test]
    fn refused_parameters_are_known() {
        let said = "Use 'max_completion_tokens' instead of 'max_tokens'.";
        let body = json!({"error": {"message": said, "param": "max_tokens"}}).to_string();
        assert!(refusal(400, &[], &body).names("max_tokens"));
        assert!(!refusal(400, &[], &body).names("max_completion_tokens"));
        assert!(!refusal(500, &[], &body).names("max_tokens"));
        let mistral = r#"{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"]}]}"#;
        assert!(refusal(422, &[], mistral).names("stream_options"));
    }
}
