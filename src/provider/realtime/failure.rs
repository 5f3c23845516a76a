//! Refused handshakes, closed sockets and `error` events -> errors by kind, with the fix.
//!
//! Entry type: [`Peer`], which knows what a message may name and what it must hide; it logs each
//! oddity once. **Never**: a key in a message; a kind guessed from prose.

use std::time::Duration;

use reqwest::{StatusCode, header::HeaderMap};
use serde_json::Value;
use tokio_tungstenite::tungstenite::{self, protocol::CloseFrame};

use super::{options::Options, wire::Complaint};
use crate::{
    domain::Secret,
    provider::{
        Error, Kind,
        bounds::{Bound, ERROR_TEXT, EVENT},
        remote::{quotable, retry_after, shown_address, without_key},
        sockets::{NotOpened, Noted},
    },
};

/// The service that was asked; makes errors about it.
#[derive(Debug)]
pub struct Peer {
    address: String,
    model: String,
    key: Option<Secret>,
    /// Oddities that were logged.
    noted: Noted,
}

impl Peer {
    /// The service of `options`.
    pub fn new(options: &Options) -> Self {
        let address = shown_address(&options.base_url);
        let (model, key) = (options.model.clone(), options.api_key.clone());
        Self { address, model, key, noted: Noted::default() }
    }

    /// Logs something unexpected, once.
    pub fn notes(&self, what: &str) {
        if self.noted.is_new(what) {
            tracing::warn!(what, "the voice model sends something unexpected; it is ignored");
        }
    }

    /// An error of `kind`: what failed at this service, and the fix.
    pub fn error(&self, kind: Kind, what: &str, fix: &str) -> Error {
        let (address, model) = (&self.address, &self.model);
        Error::new(kind, format!("\"{address}\", model \"{model}\": {what} ({fix})"))
    }

    /// A handshake that was answered by `status` instead of a socket.
    fn refusal(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
        let json: Value = serde_json::from_slice(body).unwrap_or_default();
        let said = Complaint::of(json.get("error").unwrap_or(&json));
        let (what, fix) = match status.as_u16() {
            401 | 403 => ("the key was refused", "check api_key"),
            402 => ("the account has no credit", "check the account's plan and billing"),
            404 => {
                ("not found", "check model, and that base_url ends with the version such as /v1")
            }
            408 | 504 => ("the service gave up waiting", "try again"),
            429 if is_unpaid(&said) => {
                ("the account has no credit", "check the account's plan and billing")
            }
            429 => ("too many requests", "wait, or raise the account's limit"),
            300..400 => ("it redirects elsewhere", "write the address it redirects to as base_url"),
            400..500 => ("the request was refused", "check model and base_url"),
            500..600 => ("the service failed", "try again"),
            _ => ("not a WebSocket endpoint", "check base_url"),
        };
        let kind = match status.as_u16() {
            401..=403 => Kind::Unauthorized,
            408 | 504 => Kind::Timeout,
            429 => Kind::RateLimited { retry_after: retry_after(headers) },
            400..500 => kind_of(&said).unwrap_or(Kind::InvalidRequest),
            500..600 => Kind::Unavailable,
            _ => Kind::Protocol,
        };
        let quote = self.quoted(&said.message);
        self.error(kind, &format!("{what} with status {}{quote}", status.as_u16()), fix)
    }

    /// A socket that could not be opened.
    pub fn not_opened(&self, why: &NotOpened) -> Error {
        why.error(
            |(kind, what, fix)| self.error(kind, what, fix),
            |status, headers, said| self.refusal(status, headers, said),
        )
    }

    /// No connection, or no answer to the setup, in time.
    pub fn slow(&self) -> Error {
        self.error(Kind::Timeout, "no answer in time", "try again, or raise first_byte_timeout_ms")
    }

    /// Takes nothing that is sent.
    pub fn stuck(&self, waited: Duration) -> Error {
        let what = format!("it has taken nothing for {} s", waited.as_secs());
        self.error(Kind::Timeout, &what, "check the network, and speak again")
    }

    /// Goes on with an answer that was cancelled.
    pub fn unstopped(&self, waited: Duration) -> Error {
        let seconds = waited.as_secs();
        let what = format!("a cancelled answer has not ended within {seconds} s");
        self.error(Kind::Timeout, &what, "speak again")
    }

    /// More events wait to be read than are kept.
    pub fn flooding(&self, most: usize) -> Error {
        let what = format!("it sends more than {most} events that nobody takes");
        self.error(Kind::Protocol, &what, "check base_url and model")
    }

    /// The socket ended without a word.
    pub fn interrupted(&self) -> Error {
        self.error(Kind::Interrupted, "the connection broke off", "speak again")
    }

    /// The service has closed the socket.
    pub fn closed(&self, frame: Option<&CloseFrame>) -> Error {
        let Some(frame) = frame else { return self.interrupted() };
        let code = u16::from(frame.code);
        // Its reason is then an error's type and code: "invalid_request_error.invalid_api_key".
        if code == 3_000
            && let Some((kind, code)) = frame.reason.split_once('.')
        {
            let (kind, code) = (kind.to_owned(), code.to_owned());
            return self.said(&Complaint { kind, code, message: String::new(), about: None });
        }
        let kind = match code {
            1008 => Kind::InvalidRequest,
            1011..=1013 => Kind::Unavailable,
            _ => Kind::Interrupted,
        };
        let quote = self.quoted(frame.reason.as_str());
        self.error(
            kind,
            &format!("the service closed the connection ({code}){quote}"),
            "speak again",
        )
    }

    /// The socket failed.
    pub fn broken(&self, error: &tungstenite::Error) -> Error {
        match error {
            tungstenite::Error::Capacity(_) => {
                let what = "a message exceeds the limit of 4 MiB";
                self.error(Kind::Protocol, what, "check base_url and model")
            }
            tungstenite::Error::Utf8 => {
                self.error(Kind::Protocol, "a message is not UTF-8", "please report this")
            }
            _ => self.interrupted(),
        }
    }

    /// An `error` event.
    pub fn said(&self, said: &Complaint) -> Error {
        let kind = kind_of(said).unwrap_or(Kind::Unavailable);
        let (what, fix) = match kind {
            Kind::Unauthorized => ("the key was refused", "check api_key"),
            Kind::RateLimited { .. } if is_unpaid(said) => {
                ("the account has no credit", "check the account's plan and billing")
            }
            Kind::RateLimited { .. } => ("too many requests", "wait, or raise the account's limit"),
            Kind::InvalidRequest => ("the request was refused", "check model, voice and tools"),
            _ if said.is_expiry() => ("the session is too old", "open another"),
            _ => ("the service failed", "try again"),
        };
        let label = match said.label() {
            "" => String::new(),
            label => format!(" with \"{label}\""),
        };
        self.error(kind, &format!("{what}{label}{}", self.quoted(&said.message)), fix)
    }

    /// An `error` event of a session in which people talk: its words may be theirs.
    pub fn briefly(&self, said: &Complaint) -> Error {
        self.said(&Complaint { message: String::new(), ..said.clone() })
    }

    /// Why a message of type `kind` is too large to be read.
    pub fn oversized(&self, kind: &str) -> Error {
        let what = format!("an event \"{kind}\" exceeds the limit of {EVENT}");
        self.error(Kind::Protocol, &what, "check base_url and model")
    }

    /// What the service said, safe to print: one short line without the key; empty stays empty.
    pub fn quote(&self, message: &str) -> String {
        quotable(&without_key(begun(message), self.key.as_ref()))
    }

    fn quoted(&self, message: &str) -> String {
        match self.quote(message) {
            quote if quote.is_empty() => quote,
            quote => format!(": \"{quote}\""),
        }
    }
}

/// The reason of an answer that is over `bound`.
pub fn exceeds(bound: Bound) -> String {
    format!("the answer exceeds the limit of {bound}")
}

/// The beginning of `message`, without a word that is cut: it may be a part of the key.
fn begun(message: &str) -> &str {
    if message.len() <= ERROR_TEXT {
        return message;
    }
    let cut = message.get(..message.floor_char_boundary(ERROR_TEXT)).unwrap_or_default();
    cut.rfind(char::is_whitespace).and_then(|end| cut.get(..end)).unwrap_or_default()
}

/// The kind by code and type; `None`: neither is known.
fn kind_of(said: &Complaint) -> Option<Kind> {
    [&said.code, &said.kind].into_iter().find_map(|label| match label.as_str() {
        "invalid_api_key"
        | "authentication_error"
        | "permission_error"
        | "invalid_organization" => Some(Kind::Unauthorized),
        "rate_limit_exceeded"
        | "rate_limit_error"
        | "insufficient_quota"
        | "too_many_requests"
        | "requests"
        | "tokens" => Some(Kind::RateLimited { retry_after: None }),
        "session_expired" | "server_error" | "internal_error" | "overloaded_error" => {
            Some(Kind::Unavailable)
        }
        "timeout_error" => Some(Kind::Timeout),
        "invalid_request_error" | "model_not_found" | "not_found_error" => {
            Some(Kind::InvalidRequest)
        }
        _ => None,
    })
}

fn is_unpaid(said: &Complaint) -> bool {
    [&said.code, &said.kind].into_iter().any(|label| label == "insufficient_quota")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

    use super::*;

    fn peer() -> Peer {
        Peer::new(&Options::of_tests("http://127.0.0.1:9/v1/"))
    }

    fn refusal(status: u16, body: &str) -> Error {
        let status = StatusCode::from_u16(status).unwrap();
        peer().refusal(status, &HeaderMap::new(), body.as_bytes())
    }

    fn said(kind: &str, code: &str) -> Kind {
        peer().said(&Complaint::of(&json!({"type": kind, "code": code}))).kind()
    }

    #[test]
    fn refused_handshake_has_a_kind_by_status() {
        let limited = Kind::RateLimited { retry_after: None };
        assert_eq!(refusal(401, "").kind(), Kind::Unauthorized);
        assert_eq!(refusal(404, "{}").kind(), Kind::InvalidRequest);
        assert_eq!(refusal(400, "[]").kind(), Kind::InvalidRequest);
        let quota = r#"{"error":{"type":"insufficient_quota","message":"You exceeded"}}"#;
        assert_eq!(refusal(429, quota).kind(), limited);
        assert_eq!(refusal(503, "<html>").kind(), Kind::Unavailable);
        assert_eq!(refusal(302, "").kind(), Kind::Protocol);
        assert_eq!(refusal(200, "").kind(), Kind::Protocol);
    }

    #[test]
    fn error_event_has_a_kind_by_code_before_type() {
        let limited = Kind::RateLimited { retry_after: None };
        assert_eq!(said("invalid_request_error", "invalid_api_key"), Kind::Unauthorized);
        assert_eq!(said("invalid_request_error", "session_expired"), Kind::Unavailable);
        assert_eq!(said("invalid_request_error", "unheard_of"), Kind::InvalidRequest);
        assert_eq!(said("insufficient_quota", ""), limited);
        assert_eq!(said("tokens", "rate_limit_exceeded"), limited);
        assert_eq!(said("server_error", ""), Kind::Unavailable);
        assert_eq!(said("", ""), Kind::Unavailable);
    }

    #[test]
    fn closed_socket_has_a_kind_by_code() {
        let closed = |code: u16| {
            let frame = CloseFrame { code: CloseCode::from(code), reason: "so".into() };
            peer().closed(Some(&frame)).kind()
        };
        assert_eq!(closed(1001), Kind::Interrupted);
        assert_eq!(closed(1008), Kind::InvalidRequest);
        assert_eq!(closed(1011), Kind::Unavailable);
        assert_eq!(closed(3000), Kind::Interrupted);
        assert_eq!(peer().closed(None).kind(), Kind::Interrupted);
        let reason = "invalid_request_error.invalid_api_key".into();
        let refused = CloseFrame { code: CloseCode::from(3000), reason };
        let error = peer().closed(Some(&refused));
        assert_eq!(error.kind(), Kind::Unauthorized);
        assert!(error.to_string().contains("check api_key"), "{error}");
    }

    #[test]
    fn messages_name_the_fix_and_hide_the_key() {
        let body =
            r#"{"error":{"code":"invalid_api_key","message":"\"sk-very-secret\"\nis no key"}}"#;
        assert_eq!(
            refusal(401, body).to_string(),
            "\"http://127.0.0.1:9/v1\", model \"gpt-realtime-2.1\": the key was refused with status \
             401: \"'<secret>' is no key\" (check api_key)"
        );
        assert!(!format!("{:?}", peer()).contains("very"));
    }

    #[test]
    fn error_of_megabytes_is_cut_before_the_search() {
        let long = format!("{}sk-very-secret{}", "x ".repeat(1020), "y".repeat(1 << 20));
        let quote = peer().quote(&long);
        assert!(quote.len() <= 800 && !quote.contains("very"), "{quote}");
        assert_eq!(begun(&"x".repeat(1 << 20)), "");
    }
}
