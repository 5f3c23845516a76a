//! A client by hand: unlike `support::outside::Caller` it keeps its connection open, and speaks the revision
//! without a handshake, so that a call is a request and its answer and no more.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

use serde_json::{Value, json};

/// Revision of the protocol that is spoken.
const REVISION: &str = "2026-07-28";
/// Longest wait for an answer.
const BOUND: Duration = Duration::from_secs(60);

/// A connected client.
pub struct Caller {
    connection: BufReader<TcpStream>,
    port: u16,
    token: String,
    requests: u64,
}

impl Caller {
    /// Connects to the server at this port.
    pub fn new(port: u16, token: &str) -> Self {
        let connection = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        connection.set_nodelay(true).expect("a socket");
        connection.set_read_timeout(Some(BOUND)).expect("a socket");
        let connection = BufReader::new(connection);
        Self { connection, port, token: token.to_owned(), requests: 0 }
    }

    /// Result of a tool that makes no error.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.requests += 1;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientInfo": { "name": "tests", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let message = json!({
            "jsonrpc": "2.0",
            "id": self.requests,
            "method": "tools/call",
            "params": { "name": tool, "arguments": arguments, "_meta": meta },
        });
        let message = message.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\
             Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
             MCP-Protocol-Version: {REVISION}\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n\
             Content-Length: {}\r\n\r\n{message}",
            self.port,
            self.token,
            message.len()
        );
        self.connection.get_mut().write_all(request.as_bytes()).expect("it reads");
        let (head, body) = self.answer();
        assert!(head.starts_with("http/1.1 200"), "{head}\n{body}");
        let answer = message_in(&body);
        let result = &answer["result"];
        assert!(result.is_object(), "{tool}: {answer:#}");
        assert_ne!(result["isError"], true, "{result:#}");
        result.clone()
    }

    /// A line of the answer's head, without its end.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.connection.read_line(&mut line).expect("it answers");
        line.trim_end().to_owned()
    }

    /// The next `length` bytes.
    fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.connection.read_exact(&mut bytes).expect("it answers");
        bytes
    }

    /// Head in lower case, and body.
    fn answer(&mut self) -> (String, String) {
        let head: Vec<String> = std::iter::from_fn(|| Some(self.line()))
            .take_while(|line| !line.is_empty())
            .map(|line| line.to_lowercase())
            .collect();
        let length = head.iter().find_map(|line| line.strip_prefix("content-length: "));
        let body = match length {
            Some(length) => self.bytes(length.parse().expect("a length")),
            None => self.pieces(),
        };
        (head.join("\n"), String::from_utf8(body).expect("text"))
    }

    /// A body that comes in pieces.
    fn pieces(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let length = usize::from_str_radix(&self.line(), 16).expect("a length");
            body.extend(self.bytes(length));
            assert_eq!(self.line(), "");
            if length == 0 {
                return body;
            }
        }
    }
}

/// The answer in a body: JSON, or the last message of a stream of events.
fn message_in(body: &str) -> Value {
    let mut events = body.lines().filter_map(|line| line.strip_prefix("data:"));
    let last = events.rfind(|data| !data.trim().is_empty());
    serde_json::from_str(last.unwrap_or(body)).expect("JSON")
}
