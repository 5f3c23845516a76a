//! A program outside, which calls tools of a running Glyphoxa over its listener.
//!
//! Entry type: [`Caller`].

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use serde_json::{Value, json};

use super::program::Place;

/// Longest wait for an answer.
const BOUND: Duration = Duration::from_secs(120);

/// A program with a token.
#[derive(Clone)]
pub struct Caller {
    port: u16,
    token: String,
}

impl Caller {
    /// Makes a game master's token at `place`; `owner` are options of `glyphoxa token create`.
    pub fn new(place: &Place, port: u16, owner: &[&str]) -> Self {
        Self::with_role("dm", place, port, owner)
    }

    /// Like [`Self::new`], for a token of any role.
    pub fn with_role(role: &str, place: &Place, port: u16, owner: &[&str]) -> Self {
        let made = place.run(&[&["token", "create", "--role", role], owner].concat()).ends_with(0);
        Self { port, token: made.stdout.trim().to_owned() }
    }

    /// Calls a tool; its structured result.
    #[track_caller]
    pub fn calls(&self, tool: &str, arguments: &Value) -> Value {
        let answer = self.asks("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = &answer["structuredContent"];
        assert!(result.is_object(), "{tool}: {answer}");
        result.clone()
    }

    /// Result of a request.
    #[track_caller]
    pub fn asks(&self, method: &str, params: &Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let (body, port, token) = (message.to_string(), self.port, &self.token);
        // HTTP/1.0: the answer comes in one piece.
        let request = format!(
            "POST /mcp HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2025-11-25\r\nContent-Length: {}\r\n\r\n{body}",
            body.len(),
        );
        let mut socket = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        socket.set_read_timeout(Some(BOUND)).expect("a bound");
        socket.write_all(request.as_bytes()).expect("it reads");
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).expect("it answers");
        let answer = String::from_utf8(answer).expect("text");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        assert_eq!(head.split(' ').nth(1), Some("200"), "{answer}");
        // Events begin with a word.
        let body = body.find('{').and_then(|at| body.get(at..)).unwrap_or_default();
        let first = serde_json::Deserializer::from_str(body).into_iter::<Value>().next();
        let mut answer = first.expect("an answer").expect("JSON");
        assert!(answer["result"].is_object(), "{method}: {answer}");
        answer["result"].take()
    }
}
