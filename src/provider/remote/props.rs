//! Props of the clients' tests: requests to chat models, and a server whose answer never ends.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::Notify,
    time::sleep,
};

use crate::{
    domain::{Calling, Message, ToolChoice, ToolSpec},
    provider::{Attempts, ChatRequest},
};

pub fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        identity: format!("dice-roller.{name}").into(),
        description: "rolls".into(),
        parameters: Arc::new(json!({"type": "object", "properties": {}})),
        calling: Calling::Waits,
    }
}

pub fn request(messages: Vec<Message>, tools: &[ToolSpec]) -> ChatRequest {
    ChatRequest {
        messages,
        tools: tools.into(),
        tool_choice: ToolChoice::Auto,
        max_tokens: 50,
        facts: Arc::default(),
        attempts: Attempts::default(),
    }
}

pub fn asks() -> ChatRequest {
    let messages = vec![Message::System("You are Bartok.".into()), Message::User("roll".into())];
    ChatRequest { max_tokens: 100, ..request(messages, &[spec("roll"), spec("look")]) }
}

/// Starts a server that answers one request with `begun`, notifies, and then sends `piece` once in
/// `each`, or nothing, forever.
pub async fn endless(
    begun: &'static str,
    piece: &'static [u8],
    each: Option<Duration>,
) -> (SocketAddr, Arc<Notify>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let has_begun = Arc::new(Notify::new());
    let tells = Arc::clone(&has_begun);
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 4_096]).await;
        stream.write_all(begun.as_bytes()).await.unwrap();
        tells.notify_one();
        if let Some(each) = each {
            while stream.write_all(piece).await.is_ok() {
                sleep(each).await;
            }
        }
        std::future::pending::<()>().await;
    });
    (address, has_begun)
}
