//! The DevTools socket of a browser: requests by session, and mistakes that its pages report.
//!
//! Entry type: [`DevTools`]. One request at a time; what a page reports is read with the next answer.

use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{net::TcpStream, runtime::Runtime, time};
use tokio_tungstenite::{WebSocketStream, client_async, tungstenite::Message};

use super::BOUND;

/// Pause between two looks at a page.
const PAUSE: Duration = Duration::from_millis(30);

type Socket = WebSocketStream<TcpStream>;

/// The open socket.
pub struct DevTools {
    runtime: Runtime,
    socket: Socket,
    requests: u64,
    mistakes: Vec<String>,
}

impl DevTools {
    /// Connects to the browser that listens on `port`, at the `path` it wrote down.
    pub fn connect(runtime: Runtime, port: u16, path: &str) -> Self {
        let socket = runtime.block_on(async {
            let stream = TcpStream::connect(("127.0.0.1", port)).await.expect("it listens");
            let url = format!("ws://127.0.0.1:{port}{path}");
            let (socket, _) = client_async(url, stream).await.expect("a DevTools socket");
            socket
        });
        Self { runtime, socket, requests: 0, mistakes: Vec::new() }
    }

    /// Calls a method, in a page if `session` names one.
    ///
    /// # Errors
    /// What the browser says against it, or that it does not answer.
    pub fn call(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: &Value,
    ) -> Result<Value, String> {
        self.requests += 1;
        let mut request = json!({ "id": self.requests, "method": method, "params": params });
        if let Some(session) = session {
            request["sessionId"] = json!(session);
        }
        let Self { runtime, socket, mistakes, .. } = self;
        let answer = runtime
            .block_on(async { time::timeout(BOUND, exchange(socket, mistakes, &request)).await });
        match answer {
            Ok(answer) => answer.map_err(|error| format!("{method}: {error}")),
            Err(_) => Err(format!("{method}: no answer after {BOUND:?}")),
        }
    }

    /// Waits for the time between two looks.
    pub fn pause(&self) {
        pause(&self.runtime);
    }

    /// Exceptions and errors of all pages since the last call.
    pub fn mistakes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.mistakes)
    }
}

/// Waits for the time between two looks.
pub fn pause(runtime: &Runtime) {
    runtime.block_on(async { time::sleep(PAUSE).await });
}

/// Sends a request and reads up to its answer.
async fn exchange(
    socket: &mut Socket,
    mistakes: &mut Vec<String>,
    request: &Value,
) -> Result<Value, String> {
    let sent = socket.send(Message::text(request.to_string())).await;
    sent.map_err(|error| error.to_string())?;
    while let Some(received) = socket.next().await {
        let Message::Text(text) = received.map_err(|error| error.to_string())? else { continue };
        let mut received: Value = serde_json::from_str(&text).map_err(|it| it.to_string())?;
        if received["id"] == request["id"] {
            return match received.get("error") {
                Some(error) => Err(error.to_string()),
                None => Ok(received["result"].take()),
            };
        }
        mistakes.extend(mistake(&received));
    }
    Err("the browser has closed".to_owned())
}

/// The mistake that an event reports.
fn mistake(event: &Value) -> Option<String> {
    let params = &event["params"];
    let is_error = |level: &Value| level == "error";
    match event["method"].as_str()? {
        "Runtime.exceptionThrown" => Some(params["exceptionDetails"].to_string()),
        "Runtime.consoleAPICalled" if is_error(&params["type"]) => Some(params["args"].to_string()),
        "Log.entryAdded" if is_error(&params["entry"]["level"]) => {
            Some(params["entry"].to_string())
        }
        _ => None,
    }
}
