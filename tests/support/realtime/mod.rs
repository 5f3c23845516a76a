//! A loopback OpenAI Realtime for tests: `/v1/realtime?model=...`.
//!
//! Entry function: [`connection`]; what is scripted and recorded is in `voice_models/`.
//! **Never**: takes what the real service would refuse (`check.rs`).

mod check;
mod plan;
mod playing;
mod talk;

use std::sync::Arc;

use serde_json::json;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::{
    handshake::server::{ErrorResponse, Request, Response},
    http,
};

use super::voice_models::{Fault, Shared};

/// One connection, from its handshake to its end.
pub async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    let mut agreed = None;
    let shaking = Arc::clone(&shared);
    #[expect(clippy::result_large_err, reason = "the signature is tungstenite's")]
    let shake = |request: &Request, response: Response| {
        let model = check::model(request.uri()).unwrap_or_default();
        let (number, fault) = shaking.begun(model);
        let scripted = match fault {
            Fault::Refuse(status) => Some((status, "scripted", "refused by the test".to_owned())),
            _ => None,
        };
        if let Some((status, code, message)) =
            scripted.or_else(|| check::handshake(request, &shaking.key))
        {
            shaking.change(|state| state.seen[number].refused = Some(message.clone()));
            return Err(refusal(status, code, &message));
        }
        let is_retired = request.headers().contains_key("openai-beta");
        agreed = Some((number, if is_retired { Fault::Retired } else { fault }));
        Ok(response)
    };
    let socket = tokio_tungstenite::accept_hdr_async(stream, shake).await;
    let Some((number, fault)) = agreed else { return };
    let ended = match socket {
        Ok(socket) => talk::Talk::new(socket, Arc::clone(&shared), (number, fault)).serve().await,
        Err(error) => error.to_string(),
    };
    shared.change(|state| state.seen[number].ended = Some(ended));
}

/// A refused handshake in OpenAI's shape.
fn refusal(status: u16, code: &str, message: &str) -> ErrorResponse {
    let kind = "invalid_request_error";
    let error = json!({"message": message, "type": kind, "param": null, "code": code});
    let text = json!({ "error": error }).to_string();
    let answer = http::Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .header("content-length", text.len().to_string())
        .header("connection", "close");
    answer.body(Some(text)).expect("a response")
}
