//! One socket: what it takes, and what it says.

use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use futures::{SinkExt, StreamExt};
use serde_json::{Map, Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::{
    CHARACTER, Cartesia, Fault, Socket,
    request::{self, Input, Refusal},
};

/// Characters a chunk.
const CHUNK: usize = 10;
/// Live contexts of the plan.
const CONTEXTS: usize = 5;
/// Samples of a character at 24 kHz.
const SAMPLES: usize = 24 * CHARACTER;
/// Time in which a context without a pause counts as live.
const LIVE: Duration = Duration::from_secs(1);
/// Life of a context after its last sound. The service's own is said to be one second or five; a busy
/// machine may need the rest.
const LIFE: Duration = Duration::from_secs(5);

pub struct Session {
    socket: Socket<Cartesia>,
    contexts: Vec<Context>,
    /// Names of contexts that have ended.
    ended: BTreeSet<String>,
    /// Chunks so far.
    sent: usize,
}

struct Context {
    id: String,
    common: Map<String, Value>,
    /// Not yet spoken.
    text: String,
    /// Characters that were.
    spoken: usize,
    flushes: usize,
    /// Time of its last sound.
    sounded: Option<Instant>,
}

impl Session {
    pub fn new(socket: Socket<Cartesia>) -> Self {
        Self { socket, contexts: Vec::new(), ended: BTreeSet::new(), sent: 0 }
    }

    pub async fn serve(mut self, version: &str) {
        while let Some(Ok(message)) = self.socket.stream.next().await {
            let text = match message {
                Message::Text(text) => text,
                Message::Close(_) => return,
                Message::Binary(_) => return self.breaks().await,
                _ => continue,
            };
            let Ok(Value::Object(message)) = serde_json::from_str(&text) else {
                return self.breaks().await;
            };
            let noted = Value::Object(message.clone());
            self.socket.note(|seen| seen.messages.push(noted));
            if self.take(&message, version).await.is_break() {
                return;
            }
        }
    }

    async fn take(&mut self, message: &Map<String, Value>, version: &str) -> ControlFlow<()> {
        let id = message.get("context_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        if id.is_empty() {
            return self.refuse(None, (400, None, "no context_id")).await;
        }
        if message.contains_key("cancel") {
            if message.len() != 2 || message["cancel"] != json!(true) {
                return self.refuse(Some(&id), (400, None, "invalid cancel")).await;
            }
            return self.cancel(&id).await;
        }
        let input = match request::read(message, version) {
            Ok(input) => input,
            Err(refusal) => return self.refuse(Some(&id), refusal).await,
        };
        match self.place(&id, &input) {
            Ok(at) => self.input(at, input).await,
            Err(refusal) => self.refuse(Some(&id), refusal).await,
        }
    }

    /// Index of the context of an input, perhaps a new one.
    fn place(&mut self, id: &str, input: &Input) -> Result<usize, Refusal> {
        if self.ended.contains(id) {
            return Err((400, None, "the context has ended"));
        }
        if let Some(at) = self.contexts.iter().position(|it| it.id == id) {
            let context = &self.contexts[at];
            if context.common != input.common {
                return Err((400, None, "a member differs within the context"));
            }
            if context.sounded.is_some_and(|it| it.elapsed() > LIFE) {
                return Err((400, None, "the context has expired"));
            }
            return Ok(at);
        }
        if !input.text.contains(char::is_alphanumeric) {
            return Err((400, None, "the transcript is empty"));
        }
        let is_live = |it: &&Context| it.sounded.is_none_or(|it| it.elapsed() < LIVE);
        if self.contexts.iter().filter(is_live).count() >= CONTEXTS {
            return Err((429, Some("concurrency_limited"), "too many contexts"));
        }
        self.contexts.push(Context {
            id: id.to_owned(),
            common: input.common.clone(),
            text: String::new(),
            spoken: 0,
            flushes: 0,
            sounded: None,
        });
        Ok(self.contexts.len() - 1)
    }

    async fn input(&mut self, at: usize, input: Input) -> ControlFlow<()> {
        let sent = self.sent;
        if matches!(self.socket.fault, Fault::Hold(after) | Fault::Late(after) if sent >= after) {
            return ControlFlow::Continue(());
        }
        self.contexts[at].text.push_str(&input.text);
        if input.waits && input.continues && !input.flushes {
            return ControlFlow::Continue(());
        }
        let text = std::mem::take(&mut self.contexts[at].text);
        if !text.trim().is_empty() {
            match self.speak(at, &text).await {
                Spoken::Whole => {}
                Spoken::Held => return ControlFlow::Continue(()),
                Spoken::Ended => return ControlFlow::Break(()),
            }
        }
        if !input.continues {
            let id = self.contexts.remove(at).id;
            self.say(json!({"type": "done", "context_id": id, "done": true, "status_code": 200}))
                .await;
            self.ended.insert(id);
        }
        ControlFlow::Continue(())
    }

    async fn cancel(&mut self, id: &str) -> ControlFlow<()> {
        let is_late = matches!(self.socket.fault, Fault::Late(_));
        if is_late && let Some(at) = self.contexts.iter().position(|it| it.id == id) {
            self.chunk(at, "late").await;
        }
        if matches!(self.socket.fault, Fault::Hold(_) | Fault::Late(_)) {
            self.socket.fault = Fault::None;
        }
        self.contexts.retain(|it| it.id != id);
        self.ended.insert(id.to_owned());
        if !is_late {
            self.say(json!({"type": "done", "context_id": id, "done": true, "status_code": 200}))
                .await;
        }
        ControlFlow::Continue(())
    }

    async fn speak(&mut self, at: usize, text: &str) -> Spoken {
        if let Fault::Error(status, code) = self.socket.fault {
            let id = self.contexts[at].id.clone();
            self.tell(Some(&id), (status, code, "refused")).await;
            return Spoken::Held;
        }
        let begins = self.contexts[at].spoken;
        let characters: Vec<char> = text.chars().collect();
        for chunk in characters.chunks(CHUNK) {
            match self.socket.fault {
                Fault::Cut(after) if self.sent >= after => return Spoken::Ended,
                Fault::Close(after, frame) if self.sent >= after => {
                    self.socket.close_and_drain(frame).await;
                    return Spoken::Ended;
                }
                Fault::Hold(after) | Fault::Late(after) if self.sent >= after => {
                    return Spoken::Held;
                }
                _ => self.chunk(at, &chunk.iter().collect::<String>()).await,
            }
        }
        self.times(at, &characters, begins).await;
        self.contexts[at].flushes += 1;
        let context = &self.contexts[at];
        let (id, flush) = (context.id.clone(), context.flushes);
        self.say(json!({"type": "flush_done", "context_id": id, "done": false, "flush_done": true,
            "flush_id": flush, "status_code": 206}))
            .await;
        Spoken::Whole
    }

    async fn chunk(&mut self, at: usize, text: &str) {
        let characters = text.chars().count();
        let sample = |at: usize| if (at / 60).is_multiple_of(2) { 8_000_i16 } else { -8_000 };
        let sound = (0..characters * SAMPLES).flat_map(|at| sample(at).to_le_bytes());
        let data = STANDARD.encode(sound.collect::<Vec<u8>>());
        let context = &mut self.contexts[at];
        context.spoken += characters;
        context.sounded = Some(Instant::now());
        let (id, flush) = (context.id.clone(), context.flushes + 1);
        self.sent += 1;
        self.say(json!({"type": "chunk", "context_id": id, "done": false, "status_code": 206,
            "data": data, "step_time": 1.5, "flush_id": flush}))
            .await;
    }

    /// Times of the words of a text that begins at this character of the context.
    async fn times(&mut self, at: usize, text: &[char], begins: usize) {
        if self.contexts[at].common.get("add_timestamps") != Some(&json!(true)) {
            return;
        }
        let seconds = |at: usize| ((begins + at) * CHARACTER) as f64 / 1_000.0;
        let (mut words, mut start, mut end) = (Vec::new(), Vec::new(), Vec::new());
        let mut from = 0;
        for word in text.split(|c| c.is_whitespace()) {
            if !word.is_empty() {
                words.push(word.iter().collect::<String>());
                start.push(seconds(from));
                end.push(seconds(from + word.len()));
            }
            from += word.len() + 1;
        }
        let id = self.contexts[at].id.clone();
        let times = json!({"words": words, "start": start, "end": end});
        self.say(json!({"type": "timestamps", "context_id": id, "done": false, "status_code": 206,
            "word_timestamps": times}))
            .await;
    }

    /// Sends a message, and much else where that is its fault.
    async fn say(&mut self, message: Value) {
        let text = message.to_string();
        if matches!(self.socket.fault, Fault::Strange) {
            let id = &message["context_id"];
            let phonemes = json!({"type": "phoneme_timestamps", "context_id": id, "done": false,
                "status_code": 206, "phoneme_timestamps": {"phonemes": ["a"], "start": [0], "end": [1]}});
            let strange = json!({"type": "mood", "context_id": id, "of": {"the": "service"}});
            for other in [phonemes.to_string(), strange.to_string(), "[]".to_owned()] {
                let _ = self.socket.stream.send(Message::text(other)).await;
            }
            let _ = self.socket.stream.send(Message::Ping(Vec::new().into())).await;
            let _ = self.socket.stream.send(Message::binary(text.into_bytes())).await;
        } else {
            let _ = self.socket.stream.send(Message::text(text)).await;
        }
    }

    /// Ends a context with an error; the socket stays open.
    async fn tell(&mut self, id: Option<&str>, (status, code, message): Refusal) {
        self.contexts.retain(|it| Some(it.id.as_str()) != id);
        self.ended.extend(id.map(str::to_owned));
        self.say(json!({"type": "error", "context_id": id, "done": true, "status_code": status,
            "error_code": code, "title": "Refused", "message": message, "request_id": "r-1"}))
            .await;
    }

    /// Notes and says what is wrong.
    async fn refuse(&mut self, id: Option<&str>, refusal: Refusal) -> ControlFlow<()> {
        let (_, _, message) = refusal;
        self.socket.note(|seen| seen.refused = Some(message.to_owned()));
        self.tell(id, refusal).await;
        ControlFlow::Continue(())
    }

    /// Ends for a message that cannot be read.
    async fn breaks(&mut self) {
        let _ = self.refuse(None, (400, None, "invalid message")).await;
        self.socket.close_and_drain(None).await;
    }
}

enum Spoken {
    Whole,
    /// The rest does not come.
    Held,
    /// So is the socket.
    Ended,
}
