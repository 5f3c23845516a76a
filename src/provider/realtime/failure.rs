//! Maps refused handshakes, closed sockets and `error` events to errors by kind, with the fix, and
//! maps the ends of answers.
//!
//! Entry functions: [`not_opened`], [`closed`], [`said`], [`briefly`], [`ending`]. **Never**: a
//! kind guessed from prose.

use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use super::wire::{Complaint, Ended};
use crate::provider::{
    Error, Kind, SpeechEnding,
    remote::names_concurrency,
    sockets::NotOpened,
    speech_to_speech::peer::{Peer, Told},
};

pub fn not_opened(peer: &Peer, why: &NotOpened) -> Error {
    peer.not_opened(why, |error| {
        let said = Complaint::of(error);
        Told { kind: kind_of(&said), is_unpaid: is_unpaid(&said), message: said.message }
    })
}

pub fn closed(peer: &Peer, frame: &CloseFrame) -> Error {
    let code = u16::from(frame.code);
    // The close reason is then type and code of an error: "invalid_request_error.invalid_api_key".
    if code == 3_000
        && let Some((kind, code)) = frame.reason.split_once('.')
    {
        let (kind, code) = (kind.to_owned(), code.to_owned());
        return said(peer, &Complaint { kind, code, message: String::new(), about: None });
    }
    let kind = match code {
        1008 => Kind::InvalidRequest,
        1011..=1013 => Kind::Unavailable,
        _ => Kind::Interrupted,
    };
    peer.closed_as(kind, frame, "speak again")
}

pub fn said(peer: &Peer, said: &Complaint) -> Error {
    let kind = kind_of(said).unwrap_or(Kind::Unavailable);
    let (what, fix) = match kind {
        Kind::Unauthorized => ("the key was refused", "check api_key"),
        Kind::RateLimited { .. } if is_unpaid(said) => {
            ("the account has no credit", "check the account's plan and billing")
        }
        Kind::RateLimited { .. } => ("too many requests", "wait, or raise the account's limit"),
        Kind::Crowded { .. } => ("too many sessions at once", "wait, or raise the account's limit"),
        Kind::InvalidRequest => ("the request was refused", "check model, voice and tools"),
        _ if said.is_expiry() => ("the session is too old", "open another"),
        _ => ("the service failed", "try again"),
    };
    let label = match said.label() {
        "" => String::new(),
        label => format!(" with \"{label}\""),
    };
    peer.error(kind, &format!("{what}{label}{}", peer.quoted(&said.message)), fix)
}

/// An `error` event during a session, without its message, which may quote players.
pub fn briefly(peer: &Peer, complaint: &Complaint) -> Error {
    said(peer, &Complaint { message: String::new(), ..complaint.clone() })
}

/// The kind by code and type; `None`: both are unknown.
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
        label if names_concurrency(label) => Some(Kind::Crowded { retry_after: None }),
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

/// An unknown status is a failure.
pub fn ending(ended: &Ended, peer: &Peer) -> SpeechEnding {
    match (ended.status.as_str(), ended.reason.as_str()) {
        ("completed", _) => SpeechEnding::Completed,
        ("cancelled", _) => SpeechEnding::Cancelled,
        ("incomplete", "max_output_tokens") => SpeechEnding::TooLong,
        ("incomplete", "content_filter") => SpeechEnding::Withheld,
        ("failed", _) => SpeechEnding::Failed(briefly(peer, &ended.error).to_string()),
        (status, reason) => {
            let reason = if reason.is_empty() { "no reason" } else { reason };
            SpeechEnding::Failed(peer.quote(&format!("the answer ended as {status}: {reason}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use reqwest::{StatusCode, header::HeaderMap};
    use serde_json::json;
    use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

    use super::{super::Options, *};

    fn peer() -> Peer {
        Peer::new(&Options::of_tests("http://127.0.0.1:9/v1/"), closed)
    }

    fn refusal(status: u16, body: &str) -> Error {
        let status = StatusCode::from_u16(status).unwrap();
        let body = body.as_bytes().to_vec();
        not_opened(&peer(), &NotOpened::Refused(status, Box::new(HeaderMap::new()), body))
    }

    fn kind_said(kind: &str, code: &str) -> Kind {
        said(&peer(), &Complaint::of(&json!({"type": kind, "code": code}))).kind()
    }

    #[test]
    fn refused_handshake_has_a_kind_by_status() {
        let limited = Kind::RateLimited { retry_after: None };
        assert_eq!(refusal(401, "").kind(), Kind::Unauthorized);
        assert_eq!(refusal(404, "{}").kind(), Kind::InvalidRequest);
        assert_eq!(refusal(400, "[]").kind(), Kind::InvalidRequest);
        let quota = r#"{"error":{"type":"insufficient_quota","message":"You exceeded"}}"#;
        assert_eq!(refusal(429, quota).kind(), limited);
        let many = r#"{"error":{"code":"concurrency_limited"}}"#;
        assert_eq!(refusal(429, many).kind(), Kind::Crowded { retry_after: None });
        assert_eq!(refusal(503, "<html>").kind(), Kind::Unavailable);
        assert_eq!(refusal(302, "").kind(), Kind::Protocol);
        assert_eq!(refusal(200, "").kind(), Kind::Protocol);
    }

    #[test]
    fn error_event_has_a_kind_by_code_before_type() {
        let limited = Kind::RateLimited { retry_after: None };
        assert_eq!(kind_said("invalid_request_error", "invalid_api_key"), Kind::Unauthorized);
        assert_eq!(kind_said("invalid_request_error", "session_expired"), Kind::Unavailable);
        assert_eq!(kind_said("invalid_request_error", "unheard_of"), Kind::InvalidRequest);
        assert_eq!(kind_said("insufficient_quota", ""), limited);
        assert_eq!(kind_said("tokens", "rate_limit_exceeded"), limited);
        let crowded = Kind::Crowded { retry_after: None };
        assert_eq!(kind_said("tokens", "too_many_concurrent_sessions"), crowded);
        assert_eq!(kind_said("server_error", ""), Kind::Unavailable);
        assert_eq!(kind_said("", ""), Kind::Unavailable);
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
    }

    fn ended(status: &str, reason: &str) -> Ended {
        let (status, reason) = (status.to_owned(), reason.to_owned());
        Ended { status, reason, ..Ended::default() }
    }

    #[test]
    fn status_and_reason_make_the_ending() {
        let of = |status, reason| ending(&ended(status, reason), &peer());
        assert_eq!(of("completed", ""), SpeechEnding::Completed);
        assert_eq!(of("cancelled", "client_cancelled"), SpeechEnding::Cancelled);
        assert_eq!(of("incomplete", "max_output_tokens"), SpeechEnding::TooLong);
        assert_eq!(of("incomplete", "content_filter"), SpeechEnding::Withheld);
        let unknown = SpeechEnding::Failed("the answer ended as dreaming: no reason".to_owned());
        assert_eq!(of("dreaming", ""), unknown);
        let error = Complaint { kind: "server_error".to_owned(), ..Complaint::default() };
        let failed = ending(&Ended { error, ..ended("failed", "") }, &peer());
        let SpeechEnding::Failed(why) = failed else { panic!("{failed:?}") };
        assert!(why.contains("the service failed with \"server_error\""), "{why}");
    }
}
