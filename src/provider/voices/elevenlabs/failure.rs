//! Refused handshakes, closed sockets and the service's own errors -> errors by kind, with the fix.
//!
//! Entry type: [`Peer`], which logs each oddity once. **Never**: a key in a message; a kind guessed
//! from prose.

use reqwest::{StatusCode, header::HeaderMap};
use serde_json::Value;
use tokio_tungstenite::tungstenite::{self, protocol::CloseFrame};

use super::options::Options;
use crate::{
    domain::Secret,
    provider::{
        Error, Kind,
        remote::{begun, names_concurrency, quotable, retry_after, shown_address, without_key},
        sockets::{NotOpened, Noted, Reason},
        voices::socket::SocketFailure,
    },
};

/// The service is closing the socket for this: too many turns of it are open.
const TOO_MANY_TURNS: &str = "max_active_conversations";

#[derive(Debug)]
pub struct Peer {
    address: String,
    model: String,
    key: Option<Secret>,
    noted: Noted,
}

/// An error as the service describes it.
#[derive(Debug, Default)]
pub struct Told {
    /// Its type, code and status ("quota_exceeded"), in lower case.
    pub labels: Vec<String>,
    pub message: String,
}

impl Told {
    /// Reads an error frame, or the `detail` of an HTTP answer.
    pub fn read(json: &Value) -> Self {
        let detail = json.get("detail").unwrap_or(json);
        if let Some(text) = detail.as_str() {
            return Self { labels: Vec::new(), message: text.to_owned() };
        }
        let text = |key: &str| detail.get(key).and_then(Value::as_str);
        let labels = ["error", "status", "type", "code"].into_iter().filter_map(text);
        let labels = labels.filter(|it| it.len() < 100).map(str::to_ascii_lowercase).collect();
        Self { labels, message: text("message").unwrap_or_default().to_owned() }
    }

    fn has(&self, words: &[&str]) -> bool {
        self.labels.iter().any(|label| words.iter().any(|word| label.contains(word)))
    }
}

const UNPAID: (&str, &str) =
    ("the account has no characters left", "check the account's plan and usage");
const KEY: (&str, &str) = ("the key was refused", "check api_key and its permissions");
const VOICE: (&str, &str) =
    ("the account has no voice with this voice_id", "use an id from the account's list of voices");
const CROWDED: (&str, &str) =
    ("too many streams at once", "set max_streams to what the plan gives, or raise the plan");

impl Peer {
    pub fn new(options: &Options) -> Self {
        let address = shown_address(&options.base_url);
        let (model, key) = (options.model.clone(), options.api_key.clone());
        Self { address, model, key, noted: Noted::default() }
    }

    pub fn notes(&self, what: &str) {
        if self.noted.is_new(what) {
            tracing::warn!(what, "elevenlabs sent something unexpected; it is ignored");
        }
    }

    pub fn error(&self, kind: Kind, what: &str, fix: &str) -> Error {
        let (address, model) = (&self.address, &self.model);
        Error::new(kind, format!("'{address}', model '{model}': {what} ({fix})"))
    }

    pub fn reason(&self, (kind, what, fix): Reason) -> Error {
        self.error(kind, what, fix)
    }

    pub fn failure(&self, failure: SocketFailure<'_>) -> Error {
        match failure {
            SocketFailure::NotOpened(why) => self.not_opened(why),
            SocketFailure::Slow => self.slow(),
            SocketFailure::Silent => {
                let fix = "try again, or raise idle_timeout_ms";
                self.error(Kind::Timeout, "its sound has stopped", fix)
            }
            SocketFailure::Full(most) => {
                let what = format!("all {most} streams are in use");
                let kind = Kind::Crowded { retry_after: None };
                self.error(kind, &what, "raise max_streams, if the plan gives more")
            }
            SocketFailure::Closed(frame) => self.closed(frame),
            SocketFailure::Broken(error) => self.broken(error),
            SocketFailure::Flooding(bound) => {
                let what = format!("it sends more than {bound}");
                self.error(Kind::Protocol, &what, "try again, or check base_url")
            }
            SocketFailure::NoSound => {
                let what = "it sends no sound for a sentence";
                self.error(Kind::Protocol, what, "check model and the voice's voice_id")
            }
        }
    }

    pub fn slow(&self) -> Error {
        self.error(Kind::Timeout, "no answer in time", "try again, or raise first_byte_timeout_ms")
    }

    fn not_opened(&self, why: &NotOpened) -> Error {
        why.error(
            |reason| self.reason(reason),
            |status, headers, body| self.refusal(status, headers, body),
        )
    }

    /// Error for a request answered by `status`.
    pub fn refusal(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
        let told = Told::read(&serde_json::from_slice(body).unwrap_or_default());
        let wait = retry_after(headers);
        let (kind, (what, fix)) = match status.as_u16() {
            402 => (Kind::Unauthorized, UNPAID),
            401 | 403 if !told.has(&["quota", "credit"]) => (Kind::Unauthorized, KEY),
            408 | 504 => (Kind::Timeout, ("the service gave up waiting", "try again")),
            429 => limited(&told, wait),
            500..600 => (Kind::Unavailable, ("the service failed", "try again")),
            404 if !told.has(&["voice"]) => {
                (Kind::InvalidRequest, ("not found", "check model and base_url"))
            }
            400..500 => told.kind(),
            _ => (Kind::Protocol, ("not a WebSocket endpoint", "check base_url")),
        };
        let quote = self.quoted(&told.message);
        self.error(kind, &format!("{what} with status {}{quote}", status.as_u16()), fix)
    }

    /// Error for an error frame, or for a reason of a closed socket that is one.
    pub fn said(&self, told: &Told) -> Error {
        let (kind, (what, fix)) = told.kind();
        let label = told.labels.first().map(|it| format!(" ({})", quotable(it)));
        let quote = self.quoted(&told.message);
        self.error(kind, &format!("{what}{}{quote}", label.unwrap_or_default()), fix)
    }

    fn closed(&self, frame: Option<&CloseFrame>) -> Error {
        let Some(frame) = frame else { return self.interrupted() };
        let reason = frame.reason.as_str();
        // A type, not prose.
        if !reason.is_empty() && !reason.contains(char::is_whitespace) {
            let labels = vec![reason.to_ascii_lowercase()];
            return self.said(&Told { labels, message: String::new() });
        }
        let code = u16::from(frame.code);
        let what = format!("the service closed the connection ({code}){}", self.quoted(reason));
        match code {
            1008 => self.error(Kind::InvalidRequest, &what, "check model and the voice's voice_id"),
            1011 => self.error(Kind::Unavailable, &what, "try again"),
            _ => self.error(Kind::Interrupted, &what, "try again"),
        }
    }

    fn broken(&self, error: &tungstenite::Error) -> Error {
        match error {
            tungstenite::Error::Capacity(_) | tungstenite::Error::Utf8 => {
                let what = "cannot read a message of the service";
                self.error(Kind::Protocol, what, "please report this")
            }
            _ => self.interrupted(),
        }
    }

    fn interrupted(&self) -> Error {
        self.error(Kind::Interrupted, "the connection broke off", "try again")
    }

    /// The service's `message` behind a colon, safe to print: one short line without the key.
    fn quoted(&self, message: &str) -> String {
        match quotable(&without_key(begun(message), self.key.as_ref())) {
            quote if quote.is_empty() => quote,
            quote => format!(": \"{quote}\""),
        }
    }
}

type Phrased = (Kind, (&'static str, &'static str));

impl Told {
    fn kind(&self) -> Phrased {
        match () {
            () if self.has(&["quota", "credit", "payment"]) => (Kind::Unauthorized, UNPAID),
            () if self.has(&["api_key", "unauthorized", "authentication", "permission"]) => {
                (Kind::Unauthorized, KEY)
            }
            () if self.has(&["voice"]) => (Kind::InvalidRequest, VOICE),
            () if self.is_crowded() || self.has(&["rate_limit", "too_many", "busy"]) => {
                limited(self, None)
            }
            () if self.has(&["timeout"]) => {
                (Kind::Timeout, ("the service gave up waiting", "try again"))
            }
            () if self.has(&["internal", "server_error", "unavailable"]) => {
                (Kind::Unavailable, ("the service failed", "try again"))
            }
            () if self.labels.is_empty() || self.has(&["invalid", "not_", "unsupported"]) => {
                (Kind::InvalidRequest, ("the request was refused", "check model and base_url"))
            }
            () => (Kind::Unavailable, ("the service failed", "try again")),
        }
    }

    fn is_crowded(&self) -> bool {
        self.labels.iter().any(|it| names_concurrency(it)) || self.has(&[TOO_MANY_TURNS])
    }
}

/// Too many streams are the account's own; anything else means that the service is busy.
fn limited(told: &Told, retry_after: Option<std::time::Duration>) -> Phrased {
    match told.is_crowded() {
        true => (Kind::Crowded { retry_after }, CROWDED),
        false => {
            let busy = ("the service is busy", "try again in a moment, or raise the plan");
            (Kind::RateLimited { retry_after }, busy)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

    use super::*;

    fn peer() -> Peer {
        Peer::new(&Options::of_tests("http://127.0.0.1:9/"))
    }

    fn refused(status: u16, wait: Option<&str>, label: &str) -> Error {
        let mut headers = HeaderMap::new();
        if let Some(wait) = wait {
            headers.insert("retry-after", wait.parse().unwrap());
        }
        let body = json!({"detail": {"status": label, "message": "no xi-very-secret"}});
        let status = StatusCode::from_u16(status).unwrap();
        peer().refusal(status, &headers, body.to_string().as_bytes())
    }

    #[test]
    fn kinds_come_from_status_and_label() {
        let kind = |status, label| refused(status, None, label).kind();
        assert_eq!(kind(401, "invalid_api_key"), Kind::Unauthorized);
        assert_eq!(kind(401, "quota_exceeded"), Kind::Unauthorized);
        assert_eq!(kind(402, ""), Kind::Unauthorized);
        assert_eq!(kind(404, "voice_not_found"), Kind::InvalidRequest);
        assert_eq!(kind(400, "voice_not_found"), Kind::InvalidRequest);
        assert_eq!(kind(422, "model_not_found"), Kind::InvalidRequest);
        assert_eq!(kind(503, ""), Kind::Unavailable);
        assert_eq!(kind(200, ""), Kind::Protocol);
        assert_eq!(
            peer().refusal(StatusCode::NOT_FOUND, &HeaderMap::new(), b"<html>").kind(),
            Kind::InvalidRequest
        );
    }

    #[test]
    fn both_meanings_of_429_are_told_apart() {
        let wait = Some(Duration::from_secs(2));
        let kind = |wait, label| refused(429, wait, label).kind();
        let crowded = "too_many_concurrent_requests";
        assert_eq!(kind(Some("2"), crowded), Kind::Crowded { retry_after: wait });
        assert_eq!(kind(None, crowded), Kind::Crowded { retry_after: None });
        assert_eq!(kind(Some("2"), "system_busy"), Kind::RateLimited { retry_after: wait });
        assert_eq!(kind(None, "system_busy"), Kind::RateLimited { retry_after: None });
    }

    #[test]
    fn messages_name_the_fix_and_hide_the_key() {
        assert_eq!(
            refused(401, None, "quota_exceeded").to_string(),
            "'http://127.0.0.1:9', model 'eleven_flash_v2_5': the account has no characters left \
             with status 401: \"no <secret>\" (check the account's plan and usage)"
        );
        let told = json!({"message": "no", "error": "voice_id_does_not_exist", "code": 1008});
        let error = peer().said(&Told::read(&told)).to_string();
        assert!(error.contains("no voice with this voice_id (voice_id_does_not_exist)"), "{error}");
    }

    #[test]
    fn closed_sockets_are_errors_by_kind() {
        let closed = |code: u16, reason: &str| {
            let (code, reason) = (CloseCode::from(code), reason.into());
            peer().failure(SocketFailure::Closed(Some(&CloseFrame { code, reason }))).kind()
        };
        let crowded = Kind::Crowded { retry_after: None };
        assert_eq!(closed(1008, "max_active_conversations"), crowded);
        assert_eq!(closed(1008, "quota_exceeded"), Kind::Unauthorized);
        assert_eq!(closed(1008, "a reason in prose"), Kind::InvalidRequest);
        assert_eq!(closed(1011, ""), Kind::Unavailable);
        assert_eq!(closed(1000, ""), Kind::Interrupted);
        assert_eq!(peer().failure(SocketFailure::Closed(None)).kind(), Kind::Interrupted);
    }
}
