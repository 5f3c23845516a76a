//! Maps refused handshakes and closed sockets to errors by kind, with the fix.
//!
//! Entry functions: [`not_opened`], [`closed`]. Within a session the service sends no errors but
//! closes the socket. **Never**: a kind guessed from prose.

use serde_json::Value;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use crate::provider::{
    Error, Kind,
    sockets::NotOpened,
    speech_to_speech::peer::{Peer, Told},
};

pub fn not_opened(peer: &Peer, why: &NotOpened) -> Error {
    peer.not_opened(why, told)
}

/// Reads Google's error object, which sometimes comes in a list.
fn told(error: &Value) -> Told {
    let error = error.get(0).map_or(error, |first| first.get("error").unwrap_or(first));
    let text = |name| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
    let mut reasons = details.filter_map(|it| it.get("reason")?.as_str());
    let kind = match text("status") {
        _ if reasons.any(|it| it == "API_KEY_INVALID") => Some(Kind::Unauthorized),
        "UNAUTHENTICATED" | "PERMISSION_DENIED" => Some(Kind::Unauthorized),
        "RESOURCE_EXHAUSTED" => Some(Kind::RateLimited { retry_after: None }),
        "DEADLINE_EXCEEDED" => Some(Kind::Timeout),
        "UNAVAILABLE" | "INTERNAL" => Some(Kind::Unavailable),
        _ => None,
    };
    Told { kind, is_unpaid: false, message: text("message").to_owned() }
}

pub fn closed(peer: &Peer, frame: &CloseFrame) -> Error {
    let (kind, fix) = match u16::from(frame.code) {
        1007 | 1008 => (Kind::InvalidRequest, "check api_key, model, voice and tools"),
        1011..=1013 => (Kind::Unavailable, "speak again"),
        _ => (Kind::Interrupted, "speak again"),
    };
    peer.closed_as(kind, frame, fix)
}

#[cfg(test)]
mod tests {
    use reqwest::{StatusCode, header::HeaderMap};
    use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

    use super::*;
    use crate::provider::speech_to_speech::Options;

    fn peer() -> Peer {
        Peer::new(&Options::of_tests("http://127.0.0.1:9"), closed)
    }

    fn refusal(status: u16, body: &str) -> Error {
        let (status, body) = (StatusCode::from_u16(status).unwrap(), body.as_bytes().to_vec());
        not_opened(&peer(), &NotOpened::Refused(status, Box::new(HeaderMap::new()), body))
    }

    #[test]
    fn refused_handshake_has_a_kind_by_status() {
        assert_eq!(refusal(403, "").kind(), Kind::Unauthorized);
        let wrong = r#"{"error":{"code":400,"message":"API key not valid: sk-very-secret",
            "status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#;
        let error = refusal(400, wrong);
        assert_eq!(error.kind(), Kind::Unauthorized);
        assert!(error.to_string().contains("not valid: <secret>"), "{error}");
        let listed = r#"[{"error":{"message":"no","status":"PERMISSION_DENIED"}}]"#;
        assert_eq!(refusal(400, listed).kind(), Kind::Unauthorized);
        assert_eq!(refusal(400, "{}").kind(), Kind::InvalidRequest);
        assert_eq!(refusal(503, "").kind(), Kind::Unavailable);
    }

    #[test]
    fn closed_socket_has_a_kind_by_code() {
        let closed = |code: u16| {
            let frame = CloseFrame { code: CloseCode::from(code), reason: "so".into() };
            peer().closed(Some(&frame)).kind()
        };
        assert_eq!(closed(1000), Kind::Interrupted);
        assert_eq!(closed(1007), Kind::InvalidRequest);
        assert_eq!(closed(1008), Kind::InvalidRequest);
        assert_eq!(closed(1011), Kind::Unavailable);
    }
}
