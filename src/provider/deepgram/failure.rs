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
        bounds::Bound,
        remote::{begun, names_concurrency, quotable, retry_after, shown_address, without_key},
        sockets::{NotOpened, Noted},
    },
};

#[derive(Debug)]
pub struct Peer {
    /// Its address, quoted, with the model of a recogniser.
    name: String,
    key: Option<Secret>,
    noted: Noted,
    fixes: Fixes,
}

/// Ways out that depend on what the service does.
#[derive(Clone, Copy, Debug)]
struct Fixes {
    again: &'static str,
    model: &'static str,
    request: &'static str,
}

const HEARS: Fixes = Fixes {
    again: "speak again",
    model: "check model and base_url",
    request: "check model and language",
};
const SPEAKS: Fixes = Fixes {
    again: "try again",
    model: "check voice_id and base_url",
    request: "check voice_id and speed_factor",
};

impl Peer {
    pub fn new(options: &Options) -> Self {
        let name = format!("'{}', model '{}'", shown_address(&options.base_url), options.model);
        Self { name, key: options.api_key.clone(), noted: Noted::default(), fixes: HEARS }
    }

    /// The service as one that speaks.
    pub fn of_voices(base_url: &str, key: Option<Secret>) -> Self {
        let name = format!("'{}'", shown_address(base_url));
        Self { name, key, noted: Noted::default(), fixes: SPEAKS }
    }

    pub fn notes(&self, what: &str) {
        if self.noted.is_new(what) {
            tracing::warn!(what, "the speech service sent a notice; continuing");
        }
    }

    pub fn error(&self, kind: Kind, what: &str, way_out: &str) -> Error {
        Error::new(kind, format!("{}: {what} ({way_out})", self.name))
    }

    fn refusal(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
        let json: Value = serde_json::from_slice(body).unwrap_or_default();
        let label = |key: &str| json.get(key).and_then(Value::as_str).map(str::to_owned);
        let header = || Some(headers.get("dg-error")?.to_str().ok()?.to_owned());
        let quote = self.quote(&label("err_msg").or_else(header).unwrap_or_default());
        let is_unpaid = status.as_u16() == 402
            || label("err_code").is_some_and(|code| code == "ASR_PAYMENT_REQUIRED");
        let (kind, what, way_out) = match status.as_u16() {
            _ if is_unpaid => (
                Kind::Unauthorized,
                "the account has no credit",
                "check the account's plan and billing",
            ),
            401 | 403 => (Kind::Unauthorized, "the key was refused", "check api_key"),
            404 => (Kind::InvalidRequest, "not found", self.fixes.model),
            408 | 504 => (Kind::Timeout, "the service gave up waiting", "try again"),
            429 => (
                Kind::Crowded { retry_after: retry_after(headers) },
                "too many streams at once",
                "set max_streams to what the plan gives, or raise the plan",
            ),
            400..500 => (Kind::InvalidRequest, "the request was refused", self.fixes.request),
            500..600 => (Kind::Unavailable, "the service failed", "try again"),
            _ => (Kind::Protocol, "not a WebSocket endpoint", "check base_url"),
        };
        let status = status.as_u16();
        self.error(kind, &format!("{what} with status {status}{quote}"), way_out)
    }

    pub fn not_opened(&self, why: &NotOpened) -> Error {
        why.error(
            |(kind, what, fix)| self.error(kind, what, fix),
            |status, headers, said| self.refusal(status, headers, said),
        )
    }

    pub fn slow(&self) -> Error {
        self.error(Kind::Timeout, "no answer in time", "try again, or raise first_byte_timeout_ms")
    }

    /// No answer to the sound sent.
    pub fn silent(&self) -> Error {
        let what = "it receives speech but has stopped answering";
        self.error(Kind::Timeout, what, "speak again, or raise idle_timeout_ms")
    }

    /// The sound of a sentence has stopped.
    pub fn stopped(&self) -> Error {
        let what = "the sound of a sentence has stopped in the middle";
        self.error(Kind::Timeout, what, "try again, or raise idle_timeout_ms")
    }

    /// A sentence ended without sound.
    pub fn soundless(&self) -> Error {
        let what = "a sentence came back without sound";
        self.error(Kind::Protocol, what, "use another voice_id")
    }

    pub fn full(&self, most: usize) -> Error {
        let what = format!("all {most} streams are in use");
        let kind = Kind::Crowded { retry_after: None };
        self.error(kind, &what, "raise max_streams, if the plan gives more")
    }

    pub fn flooding(&self, bound: Bound) -> Error {
        let what = format!("it sends more than {bound}");
        let way_out = format!("{}, or check base_url", self.fixes.again);
        self.error(Kind::Protocol, &what, &way_out)
    }

    pub fn interrupted(&self) -> Error {
        self.error(Kind::Interrupted, "the connection broke off", self.fixes.again)
    }

    pub fn closed(&self, frame: Option<&CloseFrame>) -> Error {
        let Some(frame) = frame else { return self.interrupted() };
        let reason = frame.reason.as_str();
        let has = |code: &str| {
            let reason = reason.to_ascii_lowercase();
            reason.contains(code) || reason.contains(&code.replace('-', ""))
        };
        let quote = self.quote(reason);
        let what = format!("the service closed the connection ({}){quote}", u16::from(frame.code));
        let again = self.fixes.again;
        match () {
            () if has("net-0001") => {
                self.error(Kind::Timeout, &what, "it got no sound in time; speak again")
            }
            () if has("net-0000") => self.error(Kind::Timeout, &what, again),
            () if has("data-0000") => self.error(Kind::InvalidRequest, &what, "please report this"),
            // 2,400 characters to be spoken on a socket.
            () if has("data-0001") => {
                let kind = Kind::RateLimited { retry_after: None };
                self.error(kind, &what, "too much text a minute; wait a moment")
            }
            // An age of one hour, which is not a fault of the service.
            () if has("net-0003") => self.error(Kind::Interrupted, &what, again),
            () if u16::from(frame.code) == 1011 => self.error(Kind::Unavailable, &what, again),
            () => self.error(Kind::Interrupted, &what, again),
        }
    }

    pub fn said(&self, code: &str, text: &str) -> Error {
        let upper = code.to_ascii_uppercase();
        let has = |words: &[&str]| words.iter().any(|word| upper.contains(word));
        let what = format!("the service failed with {code}{}", self.quote(text));
        match () {
            () if has(&["AUTH", "PERMISSION", "PAYMENT"]) => {
                self.error(Kind::Unauthorized, &what, "check api_key and the account")
            }
            () if names_concurrency(code) => {
                let kind = Kind::Crowded { retry_after: None };
                self.error(kind, &what, "wait, or raise the plan")
            }
            () if has(&["TOO_MANY", "RATE_LIMIT"]) => {
                let kind = Kind::RateLimited { retry_after: None };
                self.error(kind, &what, "wait, or raise the plan")
            }
            () if has(&["SCHEMA", "INVALID", "DATA-", "BIG-", "MESSAGE-", "BAD_REQUEST"]) => {
                self.error(Kind::InvalidRequest, &what, self.fixes.request)
            }
            () if has(&["NET-0001", "TIMEOUT"]) => {
                self.error(Kind::Timeout, &what, self.fixes.again)
            }
            () => self.error(Kind::Unavailable, &what, self.fixes.again),
        }
    }

    pub fn broken(&self, error: &tungstenite::Error) -> Error {
        match error {
            tungstenite::Error::Capacity(_) | tungstenite::Error::Utf8 => self.error(
                Kind::Protocol,
                "cannot read a message of the service",
                "please report this",
            ),
            _ => self.interrupted(),
        }
    }

    /// The service's message, safe to print: one short line without the key.
    fn quote(&self, message: &str) -> String {
        match quotable(&without_key(begun(message), self.key.as_ref())) {
            quoted if quoted.is_empty() => quoted,
            quoted => format!(": \"{quoted}\""),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

    use super::*;

    fn peer() -> Peer {
        Peer::new(&Options::of_tests("http://127.0.0.1:9/", "nova-3"))
    }

    fn refusal(status: u16, headers: &[(&'static str, &str)], body: &str) -> Error {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        peer().refusal(StatusCode::from_u16(status).unwrap(), &headers, body.as_bytes())
    }

    #[test]
    fn kinds_come_from_status_code_and_type() {
        let kind = |status, body| refusal(status, &[], body).kind();
        assert_eq!(kind(401, ""), Kind::Unauthorized);
        assert_eq!(kind(402, ""), Kind::Unauthorized);
        assert_eq!(kind(400, r#"{"err_code":"ASR_PAYMENT_REQUIRED"}"#), Kind::Unauthorized);
        assert_eq!(kind(400, "{}"), Kind::InvalidRequest);
        assert_eq!(kind(503, "<html>"), Kind::Unavailable);
        assert_eq!(kind(200, ""), Kind::Protocol);
        assert_eq!(kind(429, ""), Kind::Crowded { retry_after: None });
        let waits = Kind::Crowded { retry_after: Some(Duration::from_secs(2)) };
        assert_eq!(refusal(429, &[("retry-after", "2")], "").kind(), waits);
        let closed = |code: u16, reason: &'static str| {
            let frame = CloseFrame { code: CloseCode::from(code), reason: reason.into() };
            peer().closed(Some(&frame)).kind()
        };
        assert_eq!(closed(1011, "see https://dpgr.am/net0001"), Kind::Timeout);
        assert_eq!(closed(1008, "DATA-0000"), Kind::InvalidRequest);
        assert_eq!(closed(1008, "DATA-0001"), Kind::RateLimited { retry_after: None });
        assert_eq!(closed(1011, "NET-0003"), Kind::Interrupted);
        assert_eq!(closed(1011, ""), Kind::Unavailable);
        assert_eq!(closed(1000, ""), Kind::Interrupted);
        assert_eq!(peer().closed(None).kind(), Kind::Interrupted);
        assert_eq!(peer().said("INVALID_AUTH", "").kind(), Kind::Unauthorized);
        assert_eq!(peer().said("UNHEARD_OF", "").kind(), Kind::Unavailable);
        assert_eq!(peer().said("MESSAGE-0000", "").kind(), Kind::InvalidRequest);
        let limited = Kind::RateLimited { retry_after: None };
        assert_eq!(peer().said("TOO_MANY_REQUESTS", "").kind(), limited);
        let crowded = Kind::Crowded { retry_after: None };
        assert_eq!(peer().said("TOO_MANY_CONCURRENT_REQUESTS", "").kind(), crowded);
    }

    #[test]
    fn messages_name_the_way_out_and_hide_the_key() {
        let body = r#"{"err_code":"INVALID_AUTH","err_msg":"\"dg-very-secret\"\nis no key"}"#;
        assert_eq!(
            refusal(401, &[], body).to_string(),
            "'http://127.0.0.1:9', model 'nova-3': the key was refused with status 401: \
             \"'<secret>' is no key\" (check api_key)"
        );
        assert!(!format!("{:?}", peer()).contains("very"));
    }

    #[test]
    fn voices_are_fixed_by_their_own_keys() {
        let secret = Secret("dg-very-secret".to_owned());
        let peer = Peer::of_voices("http://127.0.0.1:9/", Some(secret));
        let body = br#"{"err_code":"Bad Request","err_msg":"No such model"}"#;
        let refused = peer.refusal(StatusCode::BAD_REQUEST, &HeaderMap::new(), body);
        assert_eq!(
            refused.to_string(),
            "'http://127.0.0.1:9': the request was refused with status 400: \"No such model\" \
             (check voice_id and speed_factor)"
        );
        assert!(peer.interrupted().to_string().ends_with("(try again)"));
    }
}
