//! Refused handshakes, closed sockets and the service's own errors -> errors by kind, with the fix.
//!
//! Entry functions: [`failure`], [`said`]. **Never**: a kind guessed from prose.

use std::time::Duration;

use serde_json::Value;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use crate::provider::{
    Error, Kind,
    remote::{names_concurrency, retry_after},
    voices::socket::{Peer, Refusal, SocketFailure},
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

const UNPAID: (&str, &str) =
    ("the account has no characters left", "check the account's plan and usage");
const KEY: (&str, &str) = ("the key was refused", "check api_key and its permissions");
const VOICE: (&str, &str) =
    ("the account has no voice with this voice_id", "use an id from the account's list of voices");
const REFUSED: (&str, &str) = ("the request was refused", "check model and base_url");
const CROWDED: (&str, &str) =
    ("too many streams at once", "set max_streams to what the plan gives, or raise the plan");

/// Error for a failed socket or request.
pub fn failure(peer: &Peer, failure: SocketFailure<'_>) -> Error {
    peer.failure(failure, |it| refusal(peer, it), |it| closed(peer, it))
}

fn refusal(peer: &Peer, Refusal { status, headers, body }: Refusal<'_>) -> Error {
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
        400..500 => match told.kind() {
            // No label that is known: the status says that it is ours.
            (Kind::Unavailable, _) => (Kind::InvalidRequest, REFUSED),
            phrased => phrased,
        },
        _ => (Kind::Protocol, ("not a WebSocket endpoint", "check base_url")),
    };
    let quote = peer.quoted(&told.message);
    peer.error(kind, &format!("{what} with status {}{quote}", status.as_u16()), fix)
}

/// Error for an error frame, or for a reason of a closed socket that is one.
pub fn said(peer: &Peer, told: &Told) -> Error {
    let (kind, (what, fix)) = told.kind();
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
                (Kind::InvalidRequest, REFUSED)
            }
            () => (Kind::Unavailable, ("the service failed", "try again")),
        }
    }

    fn is_crowded(&self) -> bool {
        self.labels.iter().any(|it| names_concurrency(it)) || self.has(&[TOO_MANY_TURNS])
    }
}

/// Too many streams are the account's own; anything else means that the service is busy.
fn limited(told: &Told, retry_after: Option<Duration>) -> Phrased {
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
