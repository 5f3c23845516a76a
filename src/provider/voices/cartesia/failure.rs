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

/// An error as the service describes it.
#[derive(Debug, Default)]
pub struct Told {
    status: Option<u16>,
    /// "quota_exceeded"; empty: none.
    code: String,
    message: String,
}

impl Told {
    /// Reads an error message of a socket, or the body of an HTTP answer.
    pub fn read(json: &Value) -> Self {
        let text = |key: &str| json.get(key).and_then(Value::as_str).unwrap_or_default();
        let status = json.get("status_code").and_then(Value::as_u64);
        let code = text("error_code");
        let message = match text("message") {
            "" => text("title"),
            message => message,
        };
        Self {
            status: status.and_then(|status| u16::try_from(status).ok()),
            code: if code.len() < 100 { code.to_ascii_lowercase() } else { String::new() },
            message: message.to_owned(),
        }
    }

    fn has(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.code.contains(word))
    }

    /// The code before the status, which is the same for several.
    fn reason(&self, wait: Option<Duration>) -> Reason {
        match self.status {
            _ if names_concurrency(&self.code) => crowded(wait),
            _ if self.has(&["quota", "credit", "payment"]) => UNPAID,
            _ if self.has(&["voice"]) => VOICE,
            _ if self.has(&["model"]) => MODEL,
            Some(401 | 403) => KEY,
            Some(402) => UNPAID,
            Some(408 | 504) => GAVE_UP,
            // So it answers when too many sockets are open.
            Some(429) if self.code.is_empty() => crowded(wait),
            Some(429) => busy(wait),
            Some(404) => (Kind::InvalidRequest, "not found", "check base_url"),
            Some(400..500) => REFUSED,
            Some(500..600) | None => FAILED,
            Some(_) => NO_ENDPOINT,
        }
    }
}

const UNPAID: Reason =
    (Kind::Unauthorized, "the account has no credits left", "check the account's plan and usage");
const KEY: Reason = (Kind::Unauthorized, "the key was refused", "check api_key");
const VOICE: Reason = (
    Kind::InvalidRequest,
    "the account has no voice with this voice_id",
    "use an id that `glyphoxa voices` lists",
);
const MODEL: Reason = (Kind::InvalidRequest, "the service does not have the model", "check model");
const REFUSED: Reason =
    (Kind::InvalidRequest, "the request was refused", "check model and the voice's voice_id");

/// Error for a failed socket or request.
pub fn failure(peer: &Peer, failure: SocketFailure<'_>) -> Error {
    peer.failure(failure, |it| refusal(peer, it), |it| closed(peer, it))
}

fn refusal(peer: &Peer, Refusal { status, headers, body }: Refusal<'_>) -> Error {
    let said = Told::read(&serde_json::from_slice(body).unwrap_or_default());
    let told = Told { status: Some(status.as_u16()), ..said };
    let (kind, what, fix) = told.reason(retry_after(headers));
    let quote = peer.quoted(&told.message);
    peer.error(kind, &format!("{what} with status {}{quote}", status.as_u16()), fix)
}

/// Error for an error message of a socket.
pub fn said(peer: &Peer, told: &Told) -> Error {
    let (kind, what, fix) = told.reason(None);
    let code = peer.labelled(&told.code);
    peer.error(kind, &format!("{what}{code}{}", peer.quoted(&told.message)), fix)
}

fn closed(peer: &Peer, frame: &CloseFrame) -> Error {
    let code = u16::from(frame.code);
    let quote = peer.quoted(frame.reason.as_str());
    let what = format!("the service closed the connection ({code}){quote}");
    let kind = if code == 1011 { Kind::Unavailable } else { Kind::Interrupted };
    peer.error(kind, &what, "try again")
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

    fn refused(status: u16, wait: Option<&str>, code: Option<&str>) -> Error {
        let mut headers = HeaderMap::new();
        if let Some(wait) = wait {
            headers.insert("retry-after", wait.parse().unwrap());
        }
        let body = json!({"title": "No", "error_code": code, "message": "no key-very-secret"});
        let status = StatusCode::from_u16(status).unwrap();
        let body = body.to_string();
        refusal(&peer(), Refusal { status, headers: &headers, body: body.as_bytes() })
    }

    #[test]
    fn kinds_come_from_code_and_status() {
        let kind = |status, code| refused(status, None, code).kind();
        assert_eq!(kind(401, None), Kind::Unauthorized);
        assert_eq!(kind(402, Some("quota_exceeded")), Kind::Unauthorized);
        assert_eq!(kind(429, Some("quota_exceeded")), Kind::Unauthorized);
        assert_eq!(kind(404, Some("voice_not_found")), Kind::InvalidRequest);
        assert_eq!(kind(404, Some("model_not_found")), Kind::InvalidRequest);
        assert_eq!(kind(410, Some("model_sunsetted")), Kind::InvalidRequest);
        assert_eq!(kind(400, None), Kind::InvalidRequest);
        assert_eq!(kind(503, None), Kind::Unavailable);
        assert_eq!(kind(200, None), Kind::Protocol);
        let (status, headers) = (StatusCode::NOT_FOUND, &HeaderMap::new());
        let page = refusal(&peer(), Refusal { status, headers, body: b"<html>" });
        assert_eq!(page.kind(), Kind::InvalidRequest);
        assert_eq!(said(&peer(), &Told::default()).kind(), Kind::Unavailable);
    }

    #[test]
    fn both_meanings_of_429_are_told_apart() {
        let wait = Some(Duration::from_secs(2));
        let kind = |wait, code| refused(429, wait, code).kind();
        let crowded = Some("concurrency_limited");
        assert_eq!(kind(Some("2"), crowded), Kind::Crowded { retry_after: wait });
        assert_eq!(kind(None, None), Kind::Crowded { retry_after: None });
        assert_eq!(kind(None, Some("rate_limited")), Kind::RateLimited { retry_after: None });
    }

    #[test]
    fn messages_name_the_fix_and_hide_the_key() {
        assert_eq!(
            refused(402, None, Some("quota_exceeded")).to_string(),
            "'http://127.0.0.1:9', model 'sonic-3.6': the account has no credits left with status \
             402: \"no <secret>\" (check the account's plan and usage)"
        );
        let told = json!({"title": "No such voice", "error_code": "voice_not_found"});
        let error = said(&peer(), &Told::read(&told)).to_string();
        let wanted = "no voice with this voice_id (voice_not_found): \"No such voice\"";
        assert!(error.contains(wanted), "{error}");
    }

    #[test]
    fn closed_sockets_are_errors_by_kind() {
        let closed = |code: u16| {
            let frame = CloseFrame { code: CloseCode::from(code), reason: "sorry".into() };
            failure(&peer(), SocketFailure::Closed(Some(&frame))).kind()
        };
        assert_eq!((closed(1011), closed(1000)), (Kind::Unavailable, Kind::Interrupted));
        assert_eq!(failure(&peer(), SocketFailure::Closed(None)).kind(), Kind::Interrupted);
    }
}
