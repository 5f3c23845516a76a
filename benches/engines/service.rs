//! A voice model's service on this machine, which keeps the times of the real one: it understands nothing,
//! follows its orders, and notes when something came or left.
//!
//! It has a thread and a runtime of its own. Each seat has a port of its own.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    runtime::{Builder, Runtime},
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    time::{sleep_until, timeout},
};
use tokio_tungstenite::{WebSocketStream, accept_async, tungstenite::Message};

use super::support::sound::tone;

/// From the order to answer to the first sound.
const FIRST: Duration = Duration::from_millis(500);
/// From the order to answer to a call.
const CALLED: Duration = Duration::from_millis(300);
/// Time between two pieces of sound, which have 100 ms each.
const PACE: Duration = Duration::from_millis(20);
/// Samples of a piece, at 24 kHz.
const PIECE: usize = 2_400;
/// Pieces of an answer.
const PIECES: u32 = 30;
/// Pieces before a cut.
const CUT_AFTER: u32 = 8;
/// Longest wait for something on the wire.
const GIVEN_UP: Duration = Duration::from_secs(10);
/// Beginning of a message with the result of a call.
const RESULT: &str = r#"{"type":"conversation.item.create","item":{"type":"function_call_output""#;

/// One answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Three seconds of speech.
    Say,
    /// A call of the dice.
    Call,
    /// Speech, in the middle of which the connection is cut.
    Cut,
}

/// Something that came or left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// A session was set up.
    Ready,
    /// An utterance was committed.
    Committed,
    /// The first sound of an answer left.
    Sound,
    /// The end of an answer with a call left.
    Called,
    /// The result of a call came.
    Result,
    /// An answer was cut off at the part that was heard.
    Truncated,
    /// The connection is gone.
    Cut,
}

/// All ports of the service.
pub struct Service {
    runtime: Runtime,
    /// A piece of sound, as it is sent.
    sound: Arc<str>,
}

/// The service of one seat.
pub struct Peer {
    /// Its address.
    pub base_url: String,
    answers: UnboundedSender<Answer>,
    wire: UnboundedReceiver<(Wire, Instant)>,
}

impl Service {
    /// A service without a port.
    pub fn new() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let sound: Vec<u8> = tone(PIECE, 24_000.0).into_iter().flat_map(i16::to_le_bytes).collect();
        Self { runtime: runtime.expect("a runtime"), sound: STANDARD.encode(sound).into() }
    }

    /// A port for a seat.
    pub fn peer(&self) -> Peer {
        let (answers, mut script) = mpsc::unbounded_channel();
        let (noted, wire) = mpsc::unbounded_channel();
        let sound = Arc::clone(&self.sound);
        let address = self.serve(async move |listener: TcpListener| {
            while let Some(socket) = accept(&listener).await {
                let (answers, noted, sound) = (&mut script, &noted, &*sound);
                let session = Session { socket, answers, noted, sound, ids: 0, running: None };
                session.serve().await;
            }
        });
        Peer { base_url: format!("http://{address}/v1"), answers, wire }
    }

    /// A port that gives every message back.
    pub fn echo(&self) -> SocketAddr {
        self.serve(async |listener: TcpListener| {
            while let Some(mut socket) = accept(&listener).await {
                tokio::spawn(async move {
                    while let Some(Ok(message)) = socket.next().await {
                        if socket.send(message).await.is_err() {
                            return;
                        }
                    }
                });
            }
        })
    }

    /// A message with a piece of sound.
    pub fn message(&self) -> String {
        sound(0, &self.sound).to_string()
    }

    /// Listens on a free port; `serve` takes its connections.
    fn serve<S>(&self, serve: impl FnOnce(TcpListener) -> S + Send + 'static) -> SocketAddr
    where
        S: Future<Output = ()> + Send + 'static,
    {
        let _inside = self.runtime.enter();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("a socket");
        let address = listener.local_addr().expect("an address");
        self.runtime.spawn(serve(TcpListener::from_std(listener).expect("a listener")));
        address
    }
}

/// The next connection; `None`: it is no WebSocket.
async fn accept(listener: &TcpListener) -> Option<WebSocketStream<TcpStream>> {
    let (stream, _) = listener.accept().await.ok()?;
    stream.set_nodelay(true).ok()?;
    accept_async(stream).await.ok()
}

impl Peer {
    /// Sets the next answers.
    pub fn answers(&self, answers: &[Answer]) {
        for answer in answers {
            self.answers.send(*answer).expect("the service runs");
        }
    }

    /// All that came and left since the last call, up to the first `last`.
    pub async fn until(&mut self, last: Wire) -> Vec<(Wire, Instant)> {
        let mut noted = Vec::new();
        loop {
            let next = timeout(GIVEN_UP, self.wire.recv()).await;
            let Ok(Some(next)) = next else { return noted };
            noted.push(next);
            if next.0 == last {
                return noted;
            }
        }
    }
}

/// One session.
struct Session<'s> {
    socket: WebSocketStream<TcpStream>,
    answers: &'s mut UnboundedReceiver<Answer>,
    noted: &'s UnboundedSender<(Wire, Instant)>,
    sound: &'s str,
    /// Ids so far; 0: it is not set up.
    ids: u64,
    running: Option<Running>,
}

/// An answer on its way.
struct Running {
    answer: Answer,
    begun: Instant,
    /// Pieces so far.
    sent: u32,
}

impl Running {
    /// Due time of the next piece.
    fn due(&self) -> Instant {
        match self.answer {
            Answer::Call => self.begun + CALLED,
            Answer::Say | Answer::Cut => self.begun + FIRST + PACE * self.sent,
        }
    }
}

impl Session<'_> {
    /// Serves it until its end.
    async fn serve(mut self) {
        self.say(json!({"type": "session.created", "session": {}})).await;
        loop {
            let due = self.running.as_ref().map(Running::due);
            let until = due.unwrap_or_else(Instant::now);
            tokio::select! {
                message = self.socket.next() => match message {
                    Some(Ok(Message::Text(order))) => self.take(&order).await,
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return,
                },
                () = sleep_until(until.into()), if due.is_some() => {
                    if !self.step().await {
                        return;
                    }
                }
            }
        }
    }

    /// Carries out one order; sound is not looked at.
    async fn take(&mut self, order: &str) {
        // `type` comes first.
        match order.split('"').nth(3).unwrap_or_default() {
            "session.update" => {
                self.say(json!({"type": "session.updated", "session": {}})).await;
                if self.ids == 0 {
                    self.ids = 1;
                    self.note(Wire::Ready);
                }
            }
            "input_audio_buffer.commit" => {
                self.note(Wire::Committed);
                self.say(json!({"type": "input_audio_buffer.committed"})).await;
            }
            "conversation.item.create" => {
                if order.starts_with(RESULT) {
                    self.note(Wire::Result);
                }
                self.say(json!({"type": "conversation.item.added", "item": {}})).await;
            }
            "conversation.item.truncate" => {
                self.note(Wire::Truncated);
                self.say(json!({"type": "conversation.item.truncated"})).await;
            }
            "response.create" => {
                let answer = self.answers.try_recv().unwrap_or(Answer::Say);
                self.ids += 1;
                self.running = Some(Running { answer, begun: Instant::now(), sent: 0 });
                let id = self.ids;
                let response = json!({"id": format!("r{id}"), "status": "in_progress"});
                self.say(json!({"type": "response.created", "response": response})).await;
            }
            "response.cancel" => self.done("cancelled").await,
            _ => {}
        }
    }

    /// Sends the next of the answer; false: the connection is cut.
    async fn step(&mut self) -> bool {
        let Some(running) = &mut self.running else { return true };
        let (answer, nth, id) = (running.answer, running.sent, self.ids);
        running.sent += 1;
        match answer {
            Answer::Call => {
                self.say(call(id)).await;
                self.note(Wire::Called);
                self.done("completed").await;
            }
            Answer::Cut if nth == CUT_AFTER => {
                self.note(Wire::Cut);
                return false;
            }
            _ if nth == PIECES => self.done("completed").await,
            Answer::Say | Answer::Cut => {
                self.say(word(id)).await;
                let sound = sound(id, self.sound);
                if nth == 0 {
                    self.note(Wire::Sound);
                }
                self.say(sound).await;
            }
        }
        true
    }

    /// Ends the answer, if there is one.
    async fn done(&mut self, status: &str) {
        if self.running.take().is_none() {
            return;
        }
        let id = self.ids;
        let usage = json!({
            "input_token_details": {"text_tokens": 600, "audio_tokens": 30},
            "output_token_details": {"text_tokens": 20, "audio_tokens": 60},
        });
        let response =
            json!({"id": format!("r{id}"), "status": status, "output": [], "usage": usage});
        self.say(json!({"type": "response.done", "response": response})).await;
    }

    /// Notes that something came, or is about to leave.
    fn note(&self, what: Wire) {
        // The seat may be gone.
        let _ = self.noted.send((what, Instant::now()));
    }

    /// Sends an event.
    async fn say(&mut self, event: Value) {
        // The client may be gone, which the next look at the socket tells.
        let _ = self.socket.send(Message::text(event.to_string())).await;
    }
}

/// A word of answer `id`.
fn word(id: u64) -> Value {
    json!({"type": "response.output_audio_transcript.delta", "response_id": format!("r{id}"),
        "item_id": format!("i{id}"), "output_index": 0, "content_index": 0, "delta": " hm"})
}

/// A piece of sound of answer `id`.
fn sound(id: u64, sound: &str) -> Value {
    json!({"type": "response.output_audio.delta", "response_id": format!("r{id}"),
        "item_id": format!("i{id}"), "output_index": 0, "content_index": 0, "delta": sound})
}

/// The call of answer `id`.
fn call(id: u64) -> Value {
    json!({"type": "response.function_call_arguments.done", "response_id": format!("r{id}"),
        "item_id": format!("i{id}"), "output_index": 0, "call_id": format!("c{id}"),
        "name": "roll", "arguments": "{\"expression\": \"2d6+3\"}"})
}
