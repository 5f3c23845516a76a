//! Bodies of calls: one message each. Entry function: [`check`].
//!
//! rmcp calls any other body a wrong media type; only then is it parsed here too, for the reason.

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::{Method, StatusCode},
    middleware::Next,
    response::{IntoResponse, Response},
};
use rmcp::model::ClientJsonRpcMessage;
use serde_json::Value;

/// Largest request, in bytes, like that of the listener.
pub const BODY_MAX: usize = 1024 * 1024;

/// Passes requests on; the answer to a body that is no message names its fault.
pub async fn check(request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, BODY_MAX).await else {
        return refused("the body broke off (send it again)");
    };
    let response = next.run(Request::from_parts(parts, Body::from(bytes.clone()))).await;
    match response.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => match fault(&bytes) {
            Some(why) => refused(&why),
            None => response,
        },
        _ => response,
    }
}

fn refused(why: &str) -> Response {
    (StatusCode::BAD_REQUEST, format!("{why}\n")).into_response()
}

/// Why `body` is no message, with the fix.
fn fault(body: &[u8]) -> Option<String> {
    let value: Value = match serde_json::from_slice(body) {
        Ok(value) => value,
        Err(error) => {
            return Some(format!("the body is not valid JSON ({error}; send one JSON object)"));
        }
    };
    if value.is_array() {
        return Some("batches are not taken (send each message by itself)".to_owned());
    }
    if serde_json::from_value::<ClientJsonRpcMessage>(value).is_ok() {
        return None;
    }
    Some("the body is no message of MCP (send a JSON-RPC 2.0 object with a method)".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_told() {
        assert_eq!(fault(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#), None);
        for (body, part) in [
            (&b"{\"jsonrpc\":"[..], "not valid JSON (EOF"),
            (b"", "not valid JSON"),
            (b"{} {}", "not valid JSON (trailing"),
            (b"\"\xff\"", "not valid JSON"),
            (b"[{}]", "batches"),
            (b"7", "no message"),
            (b"{}", "no message"),
        ] {
            let why = fault(body).unwrap_or_default();
            assert!(why.contains(part), "{body:?}: {why}");
        }
    }
}
