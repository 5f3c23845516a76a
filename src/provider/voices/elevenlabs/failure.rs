//! Refused handshakes, closed sockets and the service's own errors -> errors by kind, with the fix.
//!
//! Entry functions: [`failure`], [`said`]. **Never**: a kind guessed from prose.

use std::time::Duration;

use serde_json::Value;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use crate::provider::{
    Error, Kind,
    remote::{names_concurrency, retry_after},
    sockets::Reason,
    voices::socket::{FAILED, GAVE_UP, NO_ENDPOINT, Peer, Refusal, SocketFailure, busy, crowded},
};

/// The service is closing the socket for this: too many turns of it are open.
const TOO_MANY_TURNS: &str = "max_active_conversations";

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

const UNPAID: Reason = (
    Kind::Unauthorized,
    "the account has no characters left",
    "check the account's plan and usage",
);
const KEY: Reason =
    (Kind::Unauthorized, "the key was refused", "check api_key and its permissions");
const VOICE: Reason = (
    Kind::InvalidRequest,
    "the account has no voice with this voice_id",
    "use an id from the account's list of voices",
);
const REFUSED: Reason =
    (Kind::InvalidRequest, "the request was refused", "check model and base_url");

/// Error for a failed socket or request.
pub fn failure(peer: &Peer, failure: SocketFailure<'_>) -> Error {
    peer.failure(failure, |it| refusal(peer, it), |it| closed(peer, it))
}

fn refusal(peer: &Peer, Refusal { status, headers, body }: Refusal<'_>) -> Error {
    let told = Told::read(&serde_json::from_slice(body).unwrap_or_default());
    let wait = retry_after(headers);
    let (kind, what, fix) = match status.as_u16() {
        402 => UNPAID,
        401 | 403 if !told.has(&["quota", "credit"]) => KEY,
        408 | 504 => GAVE_UP,
        429 => limited(&told, wait),
        500..600 => FAILED,
        404 if !told.has(&["voice"]) => {
            (Kind::InvalidRequest, "not found", "check model and base_url")
        }
        400..500 => match told.reason() {
            // No label that is known: the status says that it is ours.
            (Kind::Unavailable, ..) => REFUSED,
            reason => reason,
        },
        _ => NO_ENDPOINT,
    };
    let quote = peer.quoted(&told.message);
    peer.error(kind, &format!("{what} with status {}{quote}", status.as_u16()), fix)
}

/// Error for an error frame, or for a reason of a closed socket that is one.
pub fn said(peer: &Peer, told: &Told) -> Error {
    let (kind, what, fix) = told.reason();
    let label = peer.labelled(told.labels.first().map_or("", String::as_str));
    peer.error(kind, &format!("{what}{label}{}", peer.quoted(&told.message)), fix)
}

fn closed(peer: &Peer, frame: &CloseFrame) -> Error {
    let reason = frame.reason.as_str();
    // A type, not prose.
    if !reason.is_empty() && !reason.contains(char::is_whitespace) {
        let labels = vec![reason.to_ascii_lowercase()];
        return said(peer, &Told { labels, message: String::new() });
    }
    let code = u16::from(frame.code);
    let what = format!("the service closed the connection ({code}){}", peer.quoted(reason));
    match code {
        1008 => peer.error(Kind::InvalidRequest, &what, "check model and the voice's voice_id"),
        1011 => peer.error(Kind::Unavailable, &what, "try again"),
        _ => peer.error(Kind::Interrupted, &what, "try again"),
    }
}

impl Told {
    fn reason(&self) -> Reason {
        match () {
            () if self.has(&["quota", "credit", "payment"]) => UNPAID,
            () if self.has(&["api_key", "unauthorized", "authentication", "permission"]) => KEY,
            () if self.has(&["voice"]) => VOICE,
            () if self.is_crowded() || self.has(&["rate_limit", "too_many", "busy"]) => {
                limited(self, None)
            }
            () if self.has(&["timeout"]) => GAVE_UP,
            () if self.has(&["internal", "server_error", "unavailable"]) => FAILED,
            () if self.labels.is_empty() || self.has(&["invalid", "not_", "unsupported"]) => {
                REFUSED
            }
            () => FAILED,
        }
    }

    fn is_crowded(&self) -> bool {
        self.labels.iter().any(|it| names_concurrency(it)) || self.has(&[TOO_MANY_TURNS])
    }
}

/// Too many streams are the account's own; anything else means that the service is busy.
fn limited(told: &Told, retry_after: Option<Duration>) -> Reason {
    if told.is_crowded() { crowded(retry_after) } else { busy(retry_after) }
}

#[cfg(test)]
mod tests {
    use reqwest::{StatusCode, header::HeaderMap};
    use serde_json::json;
    use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

    use super::{
        super::{MODEL, NAME},
        *,
    };
    use crate::provider::voices::socket::Options;

    fn peer() -> Peer {
        Peer::new(NAME, &Options::of_tests("http://127.0.0.1:9/", MODEL))
    }

    fn refused(status: u16, wait: Option<&str>, label: &str) -> Error {
        let mut headers = HeaderMap::new();
        if let Some(wait) = wait {
            headers.insert("retry-after", wait.parse().unwrap());
        }
        let body = json!({"detail": {"status": label, "message": "no key-very-secret"}});
        let status = StatusCode::from_u16(status).unwrap();
        let body = body.to_string();
        refusal(&peer(), Refusal { status, headers: &headers, body: body.as_bytes() })
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
        assert_eq!(kind(400, "text_too_long"), Kind::InvalidRequest);
        assert_eq!(kind(503, ""), Kind::Unavailable);
        assert_eq!(kind(200, ""), Kind::Protocol);
        let (status, headers) = (StatusCode::NOT_FOUND, &HeaderMap::new());
        let refused = refusal(&peer(), Refusal { status, headers, body: b"<html>" });
        assert_eq!(refused.kind(), Kind::InvalidRequest);
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
        let error = said(&peer(), &Told::read(&told)).to_string();
        assert!(error.contains("no voice with this voice_id (voice_id_does_not_exist)"), "{error}");
        let told = json!({"message": "no", "error": "no_key-Very-secret", "code": 1008});
        let error = said(&peer(), &Told::read(&told)).to_string();
        assert!(!error.to_lowercase().contains("very"), "{error}");
    }

    #[test]
    fn closed_sockets_are_errors_by_kind() {
        let closed = |code: u16, reason: &str| {
            let (code, reason) = (CloseCode::from(code), reason.into());
            let frame = CloseFrame { code, reason };
            failure(&peer(), SocketFailure::Closed(Some(&frame))).kind()
        };
        let crowded = Kind::Crowded { retry_after: None };
        assert_eq!(closed(1008, "max_active_conversations"), crowded);
        assert_eq!(closed(1008, "quota_exceeded"), Kind::Unauthorized);
        assert_eq!(closed(1008, "a reason in prose"), Kind::InvalidRequest);
        assert_eq!(closed(1011, ""), Kind::Unavailable);
        assert_eq!(closed(1000, ""), Kind::Interrupted);
        assert_eq!(failure(&peer(), SocketFailure::Closed(None)).kind(), Kind::Interrupted);
    }
}
