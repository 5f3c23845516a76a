//! JSON-RPC over a child's standard streams, one message per line, as an `rmcp` transport. If an
//! answer is unusable (too long, not JSON, or no answer to discovery) it answers in the server's
//! place.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rmcp::{
    RoleClient,
    model::{ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt},
    sync::Mutex,
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::unusable::{KEPT, PARTS, answered, parts};

/// Longest message of a server in bytes.
const LONGEST: usize = 8 * 1024 * 1024;
/// Longest wait for the answer to discovery; servers of old revisions may stay silent.
const PROBE: Duration = Duration::from_secs(3);

pub struct StdioTransport<R, W> {
    name: Arc<str>,
    read: R,
    write: Arc<Mutex<Option<W>>>,
    line: IncomingLine,
    /// Id of the discovery request.
    asked: Option<RequestId>,
    /// Deadline for its answer, until it comes.
    until: Option<Instant>,
    /// The deadline has passed.
    given_up: bool,
    /// `None`: no deadline.
    probe: Option<Duration>,
    /// Set if the answer came after the deadline.
    late: Arc<AtomicBool>,
    lost: CancellationToken,
}

impl<R, W> StdioTransport<R, W> {
    /// `lost` is cancelled when the streams end.
    pub fn new(name: Arc<str>, read: R, write: W, lost: CancellationToken) -> Self {
        Self {
            name,
            read,
            write: Arc::new(Mutex::new(Some(write))),
            line: IncomingLine::default(),
            asked: None,
            until: None,
            given_up: false,
            probe: Some(PROBE),
            late: Arc::default(),
            lost,
        }
    }

    /// Waits for discovery without a deadline of its own.
    pub fn patient(self) -> Self {
        Self { probe: None, ..self }
    }

    /// Flag set when the server turns out to speak the new revision, but starts slower than we
    /// wait.
    pub fn late(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.late)
    }
}

impl<R, W> Transport<RoleClient> for StdioTransport<R, W>
where
    R: AsyncBufRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let TxJsonRpcMessage::<RoleClient>::Request(request) = &message {
            match &request.request {
                ClientRequest::DiscoverRequest(_) => {
                    self.asked = Some(request.id.clone());
                    self.until = self.probe.map(|wait| Instant::now() + wait);
                }
                ClientRequest::InitializeRequest(_) => self.given_up = self.asked.is_some(),
                _ => {}
            }
        }
        let write = Arc::clone(&self.write);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            let Some(write) = write.as_mut() else {
                return Err(io::Error::from(io::ErrorKind::NotConnected));
            };
            write.write_all(&line).await?;
            write.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let read = self.line.read(&mut self.read);
            let read = match self.until {
                None => read.await,
                Some(until) => match timeout_at(until, read).await {
                    Ok(read) => read,
                    Err(_) => return self.give_up(),
                },
            };
            match read {
                Ok(true) => {}
                Ok(false) | Err(_) => {
                    self.lost.cancel();
                    return None;
                }
            }
            let message = self.line.message(&self.name);
            self.line.clear();
            let Some(message) = message else { continue };
            let (id, is_answer) = match &message {
                ServerJsonRpcMessage::Response(response) => (Some(&response.id), true),
                ServerJsonRpcMessage::Error(error) => (error.id.as_ref(), false),
                _ => (None, false),
            };
            if id.is_some() && id == self.asked.as_ref() {
                if self.given_up {
                    self.late.fetch_or(is_answer, Ordering::Relaxed);
                    continue;
                }
                self.until = None;
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.write.lock().await.take();
        self.lost.cancel();
        Ok(())
    }
}

impl<R, W> StdioTransport<R, W> {
    /// The error a server of an old revision would have answered to discovery; `None`: not waiting
    /// for it.
    fn give_up(&mut self) -> Option<ServerJsonRpcMessage> {
        self.until = None;
        self.given_up = true;
        let id = self.asked.clone()?;
        let error = ErrorData::new(
            rmcp::model::ErrorCode::METHOD_NOT_FOUND,
            "no answer to server/discover",
            None,
        );
        Some(ServerJsonRpcMessage::error(error, Some(id)))
    }
}

#[derive(Default)]
struct IncomingLine {
    /// The line, or the head of one that is too long.
    bytes: Vec<u8>,
    tail: Vec<u8>,
    /// Length so far.
    length: usize,
}

impl IncomingLine {
    /// Reads to the end of the line; false at the end of the stream. Cancel safe.
    async fn read(&mut self, from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<bool> {
        loop {
            let bytes = from.fill_buf().await?;
            if bytes.is_empty() {
                return Ok(false);
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            self.push(bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default());
            let used = end.map_or(bytes.len(), |end| end + 1);
            from.consume(used);
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        if self.length <= LONGEST {
            self.bytes.extend_from_slice(bytes);
            return;
        }
        if self.bytes.len() > KEPT {
            self.tail = self.bytes.split_off(KEPT);
            self.bytes.shrink_to_fit();
        }
        self.tail.extend_from_slice(bytes);
        let over = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..over);
        self.tail.shrink_to(4 * KEPT);
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(64 * 1024);
        self.tail = Vec::new();
        self.length = 0;
    }

    /// The message, or an error in place of an unusable answer.
    fn message(&self, server: &str) -> Option<ServerJsonRpcMessage> {
        let wrong = if self.length > LONGEST {
            format!("an answer of {} MiB (at most {} are read)", self.length >> 20, LONGEST >> 20)
        } else if self.bytes.trim_ascii().is_empty() {
            return None;
        } else if parts(&self.bytes) > PARTS {
            format!("an answer of more than {PARTS} values")
        } else {
            match serde_json::from_slice(self.bytes.trim_ascii()) {
                Ok(message) => return Some(message),
                Err(error) if error.is_data() => "an answer outside the protocol".to_owned(),
                Err(_) => "an answer that is not JSON".to_owned(),
            }
        };
        let answered = answered(&self.bytes).or_else(|| answered(&self.tail));
        tracing::debug!(server, length = self.length, answered, "unusable line of a server");
        let id = RequestId::Number(answered?);
        let error = ErrorData::internal_error(format!("the server sent {wrong}"), None);
        Some(ServerJsonRpcMessage::error(error, Some(id)))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    fn lines(text: Vec<u8>) -> StdioTransport<BufReader<io::Cursor<Vec<u8>>>, io::Cursor<Vec<u8>>> {
        let read = BufReader::new(io::Cursor::new(text));
        StdioTransport::new("s".into(), read, io::Cursor::default(), CancellationToken::new())
    }

    fn failed(message: Option<ServerJsonRpcMessage>) -> (Option<RequestId>, String) {
        match message {
            Some(ServerJsonRpcMessage::Error(error)) => (error.id, error.error.message.into()),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn noise_is_skipped_and_broken_answers_fail() {
        let text = "starting up...\n\n{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\n\
                    {\"id\": 8, \"jsonrpc\":\"2.0\"}\n{\"method\":\"x\",\"id\":9\n";
        let mut transport = lines(text.into());
        let (id, text) = failed(transport.receive().await);
        assert_eq!(id, Some(RequestId::Number(7)));
        assert_eq!(text, "the server sent an answer that is not JSON");
        assert_eq!(failed(transport.receive().await).0, Some(RequestId::Number(8)));
        assert!(transport.receive().await.is_none());
        assert!(transport.lost.is_cancelled());
    }

    #[tokio::test]
    async fn huge_answer_is_an_error_and_keeps_no_memory() {
        let mut text = b"{\"jsonrpc\":\"2.0\",\"result\":{\"content\":[{\"text\":\"".to_vec();
        text.resize(31 << 20, b'x');
        text.extend_from_slice(b"\"}]},\"id\":4}\n");
        let mut transport = lines(text);
        let (id, text) = failed(transport.receive().await);
        assert_eq!(id, Some(RequestId::Number(4)));
        assert_eq!(text, "the server sent an answer of 31 MiB (at most 8 are read)");
        assert!(transport.line.bytes.capacity() <= 64 * 1024);
    }

    #[tokio::test]
    async fn message_of_very_many_values_is_not_read() {
        let mut text = b"{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":[".to_vec();
        text.extend_from_slice("[],".repeat(600_000).as_bytes());
        text.extend_from_slice(b"1]}\n");
        let (id, text) = failed(lines(text).receive().await);
        assert_eq!(id, Some(RequestId::Number(4)));
        assert_eq!(text, "the server sent an answer of more than 500000 values");
        assert_eq!(parts(br#"{"a": "[,\",[", "b": [1, 2]}"#), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn unanswered_probe_fails_after_its_timeout() {
        let (_keep, silent) = tokio::io::duplex(64);
        let mut transport = StdioTransport::new(
            "s".into(),
            BufReader::new(silent),
            io::Cursor::new(Vec::new()),
            CancellationToken::new(),
        );
        transport.asked = Some(RequestId::Number(0));
        transport.until = Some(Instant::now() + PROBE);
        let before = Instant::now();
        assert_eq!(failed(transport.receive().await).0, Some(RequestId::Number(0)));
        assert_eq!(before.elapsed(), PROBE);
    }

    #[tokio::test]
    async fn late_answers_are_recorded_errors_are_not() {
        let late = |text: &str| {
            let mut transport = lines(format!("{text}\n").into_bytes());
            transport.asked = Some(RequestId::Number(0));
            transport.given_up = true;
            async move {
                assert!(transport.receive().await.is_none(), "nobody waits for it");
                transport.late().load(Ordering::Relaxed)
            }
        };
        let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"supportedVersions":["2026-07-28"]}}"#;
        assert!(late(answer).await);
        let error = r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"what?"}}"#;
        assert!(!late(error).await);
    }
}
