//! `POST /approvals/{token}`: a notified system decides a waiting call.
//!
//! Entry function: [`routes`]. The token in the address is the right to decide this one call, once;
//! no bearer is asked for. **Never**: tells what waits, or logs a token.

use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    WebParts,
    rates::{MINUTE, WrongTokens},
};
use crate::campaign::{CallbackChoice, CallbackError, Callbacks};

/// Unknown addresses in a minute that are answered 404; further ones are answered 429.
const UNKNOWN_MAX: usize = 10;

/// The route; from now on notifications name addresses below it.
pub fn routes(parts: Arc<WebParts>) -> Router {
    let callbacks = parts.handles.notifier.callbacks.clone();
    callbacks.serve_at(parts.options.url());
    let decisions = Decisions { callbacks, unknown: WrongTokens::new(UNKNOWN_MAX) };
    Router::new().route("/approvals/{token}", post(decide)).with_state(Arc::new(decisions))
}

struct Decisions {
    callbacks: Callbacks,
    /// Right addresses are never counted, so they always get in.
    unknown: WrongTokens,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    decision: Word,
    result: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Allow,
    Refuse,
    Complete,
}

/// Reason a request is refused, as its answer.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum Refused {
    #[error("the body is not JSON (send 'Content-Type: application/json')")]
    MediaType,
    #[error(
        "invalid decision: {0} (send {{\"decision\": \"allow\"}}, {{\"decision\": \"refuse\"}}, or \
         {{\"decision\": \"complete\", \"result\": …}})"
    )]
    Invalid(String),
    #[error("'complete' needs a 'result': text or any JSON value but null")]
    NoResult,
    #[error("only 'complete' has a 'result' (leave it out)")]
    Result,
    #[error("too many unknown addresses (try again in a minute)")]
    TooOften,
    #[error(transparent)]
    Call(CallbackError),
}

impl Refused {
    fn status(&self) -> StatusCode {
        match self {
            Self::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Invalid(_) | Self::NoResult | Self::Result => StatusCode::BAD_REQUEST,
            Self::TooOften => StatusCode::TOO_MANY_REQUESTS,
            Self::Call(CallbackError::Unknown) => StatusCode::NOT_FOUND,
            Self::Call(CallbackError::Over) => StatusCode::GONE,
        }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = answer(self.status(), &json!({ "error": self.to_string() }));
        if self == Self::TooOften {
            let seconds = header::HeaderValue::from(MINUTE.as_secs());
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        response
    }
}

fn answer(status: StatusCode, body: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

async fn decide(
    State(decisions): State<Arc<Decisions>>,
    Path(token): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    match decisions.take(&token, media_type, &body).await {
        Ok(()) => answer(StatusCode::OK, &json!({ "decided": true })),
        Err(refused) => refused.into_response(),
    }
}

impl Decisions {
    /// Decides the call of `token`. A malformed decision leaves the token as it is.
    async fn take(
        &self,
        token: &str,
        media_type: Option<&str>,
        body: &[u8],
    ) -> Result<(), Refused> {
        let choice = choice(media_type, body)?;
        let decided = self.callbacks.decide(token, choice).await;
        let is_unknown = decided == Err(CallbackError::Unknown);
        if is_unknown && !self.unknown.count(Instant::now()) {
            return Err(Refused::TooOften);
        }
        decided.map_err(Refused::Call)
    }
}

/// Reads a decision. Accepts JSON alone, which no form of a web page can send.
fn choice(media_type: Option<&str>, body: &[u8]) -> Result<CallbackChoice, Refused> {
    let media_type = media_type.and_then(|it| it.split(';').next()).unwrap_or_default().trim();
    if !media_type.eq_ignore_ascii_case("application/json") {
        return Err(Refused::MediaType);
    }
    let sent: Sent =
        serde_json::from_slice(body).map_err(|error| Refused::Invalid(error.to_string()))?;
    match (sent.decision, sent.result) {
        (Word::Allow, None) => Ok(CallbackChoice::Allow),
        (Word::Refuse, None) => Ok(CallbackChoice::Refuse),
        (Word::Complete, Some(result)) => Ok(CallbackChoice::Complete(result)),
        (Word::Complete, None) => Err(Refused::NoResult),
        (Word::Allow | Word::Refuse, Some(_)) => Err(Refused::Result),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: Option<&str> = Some("application/json; charset=utf-8");

    fn decisions() -> Decisions {
        let callbacks = Callbacks::default();
        callbacks.serve_at("http://127.0.0.1:4100".to_owned());
        Decisions { callbacks, unknown: WrongTokens::new(UNKNOWN_MAX) }
    }

    /// The token of an address as a notified system reads it.
    fn token(address: &impl serde::Serialize) -> String {
        let address = serde_json::to_value(address).unwrap();
        let token = address.as_str().and_then(|it| it.rsplit('/').next());
        token.unwrap_or_default().to_owned()
    }

    #[tokio::test]
    async fn malformed_decision_leaves_address_open() {
        let decisions = decisions();
        let new = decisions.callbacks.open().unwrap();
        let token = token(&new.address);
        let deep = format!("{{\"decision\":\"complete\",\"result\":{}", "[".repeat(5_000));
        let allow: &[u8] = br#"{"decision":"allow"}"#;
        let cases: [(Option<&str>, &[u8], u16); 8] = [
            (None, allow, 415),
            (Some("text/plain"), allow, 415),
            (JSON, b"", 400),
            (JSON, br#"{"decision":"always"}"#, 400),
            (JSON, br#"{"decision":"allow","scope":"all"}"#, 400),
            (JSON, br#"{"decision":"complete","result":null}"#, 400),
            (JSON, br#"{"decision":"refuse","result":"x"}"#, 400),
            (JSON, deep.as_bytes(), 400),
        ];
        for (media_type, body, status) in cases {
            let refused = decisions.take(&token, media_type, body).await.unwrap_err();
            assert_eq!(refused.status().as_u16(), status, "{refused}");
        }
        let face = async { new.decision.await.unwrap().apply(|it| it == CallbackChoice::Allow) };
        let (taken, ()) = tokio::join!(decisions.take(&token, JSON, allow), face);
        assert_eq!(taken, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn right_address_gets_in_between_wrong_ones() {
        let decisions = decisions();
        let refuse = br#"{"decision":"refuse"}"#;
        let status = async |token: &str| {
            let refused = decisions.take(token, JSON, refuse).await.unwrap_err();
            refused.into_response().status().as_u16()
        };
        for _ in 0..UNKNOWN_MAX {
            assert_eq!(status("guess").await, 404);
        }
        assert_eq!(status("guess").await, 429);
        let new = decisions.callbacks.open().unwrap();
        let right = token(&new.address);
        let face = async { new.decision.await.unwrap().apply(|_| true) };
        let (taken, ()) = tokio::join!(decisions.take(&right, JSON, refuse), face);
        assert_eq!(taken, Ok(()));
        tokio::time::advance(MINUTE).await;
        assert_eq!(status("guess").await, 404);
    }
}
