//! A loopback Gemini Live for tests: `/ws/google.ai.generativelanguage.v1beta.GenerativeService.…`.
//!
//! Entry function: [`connection`]; what is scripted and recorded is in `voice_models/`. It speaks in
//! binary frames and closes the connection of a client that makes a mistake.
//! **Never**: takes what the real service would refuse (`check.rs`, `setup.rs`).

mod check;
mod names;
mod plan;
mod playing;
mod setup;
mod talk;

use std::sync::Arc;

use serde_json::json;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::{
    handshake::server::{ErrorResponse, Request, Response},
    http,
};

use super::voice_models::{Fault, Shared};
pub use check::Conversation;

/// One connection, from its handshake to its end.
pub async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    let mut agreed = None;
    let shaking = Arc::clone(&shared);
    #[expect(clippy::result_large_err, reason = "the signature is tungstenite's")]
    let shake = |request: &Request, response: Response| {
        let (number, fault) = shaking.begun(String::new());
        let scripted = match fault {
            Fault::Refuse(status) => Some((status, "refused by the test".to_owned())),
            _ => None,
        };
        if let Some((status, message)) = scripted.or_else(|| check::handshake(request)) {
            shaking.change(|state| state.seen[number].refused = Some(message.clone()));
            return Err(refusal(status, &message));
        }
        agreed = Some((number, fault, check::key(request, &shaking.key)));
        Ok(response)
    };
    let socket = tokio_tungstenite::accept_hdr_async(stream, shake).await;
    let Some((number, fault, key)) = agreed else { return };
    let ended = match socket {
        Ok(socket) => {
            talk::Talk::new(socket, Arc::clone(&shared), (number, fault), key).serve().await
        }
        Err(error) => error.to_string(),
    };
    shared.change(|state| state.seen[number].ended = Some(ended));
}

/// A refused handshake in Google's shape.
fn refusal(status: u16, message: &str) -> ErrorResponse {
    let name = match status {
        401 => "UNAUTHENTICATED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "UNKNOWN",
    };
    let error = json!({"code": status, "message": message, "status": name});
    let text = json!({ "error": error }).to_string();
    let answer = http::Response::builder()
        .status(status)
        .header("content-type", "application/json; charset=UTF-8")
        .header("content-length", text.len().to_string())
        .header("connection", "close");
    answer.body(Some(text)).expect("a response")
}
