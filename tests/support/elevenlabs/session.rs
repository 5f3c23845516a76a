//! One multi-context socket: what it takes, and what it says.

use base64::{Engine, engine::general_purpose::STANDARD};
use futures::{SinkExt, StreamExt};
use serde_json::{Map, Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::{Asked, CHARACTER, ElevenLabs, Fault, GEORGE, Socket};

/// Characters a chunk.
const CHUNK: usize = 10;
/// Contexts a socket.
const CONTEXTS: usize = 5;
/// Samples of a character at 24 kHz.
const SAMPLES: usize = 24 * CHARACTER;

const QUERY: &[&str] = &[
    "model_id",
    "language_code",
    "enable_logging",
    "enable_ssml_parsing",
    "output_format",
    "inactivity_timeout",
    "sync_alignment",
    "auto_mode",
    "apply_text_normalization",
    "seed",
];
const MODELS: &[&str] = &["eleven_flash_v2_5", "eleven_turbo_v2_5", "eleven_multilingual_v2"];

/// The voice of a handshake, or its refusal.
pub fn asked(asked: &Asked) -> Result<String, (u16, &'static str)> {
    let voice = asked.path.strip_prefix("/v1/text-to-speech/");
    let voice = voice.and_then(|it| it.strip_suffix("/multi-stream-input"));
    let voice = voice.filter(|it| !it.is_empty() && !it.contains('/')).ok_or((404, "not_found"))?;
    if asked.query.iter().any(|(key, _)| !QUERY.contains(&key.as_str())) {
        return Err((422, "unknown_parameter"));
    }
    let model = asked.value("model_id").unwrap_or("eleven_turbo_v2_5");
    if !MODELS.contains(&model) {
        return Err((400, "model_not_found"));
    }
    if asked.value("language_code").is_some() && !model.ends_with("v2_5") {
        return Err((400, "unsupported_language"));
    }
    // Others would be sent as MP3.
    if asked.value("output_format") != Some("pcm_24000") {
        return Err((400, "invalid_output_format"));
    }
    let seconds = asked.value("inactivity_timeout").unwrap_or("20").parse::<u32>();
    if !seconds.is_ok_and(|it| (1..=180).contains(&it)) {
        return Err((422, "invalid_inactivity_timeout"));
    }
    Ok(voice.to_owned())
}

pub struct Session {
    socket: Socket<ElevenLabs>,
    contexts: Vec<Context>,
    /// Contexts so far.
    opened: usize,
    /// Chunks so far.
    sent: usize,
}

struct Context {
    id: String,
    /// Not yet flushed.
    text: String,
}

/// How a socket ended.
type Ended = Option<String>;

impl Session {
    pub fn new(socket: Socket<ElevenLabs>) -> Self {
        Self { socket, contexts: Vec::new(), opened: 0, sent: 0 }
    }

    /// Serves the socket, and records how it ended.
    pub async fn serve(mut self, voice: &str) {
        let ended = self.talk(voice).await;
        self.socket.note(|seen| seen.ended = Some(ended));
    }

    async fn talk(&mut self, voice: &str) -> String {
        while let Some(message) = self.socket.stream.next().await {
            let text = match message {
                Ok(Message::Text(text)) => text,
                Ok(Message::Close(_)) => return "closed by the client".to_owned(),
                Ok(Message::Binary(_)) => return self.refuse("invalid_message").await,
                Ok(_) => continue,
                Err(error) => return error.to_string(),
            };
            let Ok(Value::Object(message)) = serde_json::from_str(&text) else {
                return self.refuse("invalid_message").await;
            };
            let noted = Value::Object(message.clone());
            self.socket.note(|seen| seen.messages.push(noted));
            if voice != GEORGE {
                return self.refuse("voice_id_does_not_exist").await;
            }
            if let Some(ended) = self.take(&message).await {
                return ended;
            }
        }
        "closed by the client".to_owned()
    }

    async fn take(&mut self, message: &Map<String, Value>) -> Ended {
        let known = ["text", "context_id", "voice_settings", "flush", "close_context"];
        if message.keys().any(|key| !known.contains(&key.as_str())) {
            return Some(self.refuse("invalid_message").await);
        }
        let Some(id) = message.get("context_id").and_then(Value::as_str) else {
            return Some(self.refuse("invalid_context").await);
        };
        let at = self.contexts.iter().position(|context| context.id == id);
        if message.get("close_context") == Some(&json!(true)) {
            return match at {
                Some(at) => self.close_context(at).await,
                None => Some(self.refuse("invalid_context").await),
            };
        }
        let Some(text) = message.get("text").and_then(Value::as_str) else {
            return Some(self.refuse("invalid_message").await);
        };
        let Some(at) = at else { return self.open(id, text, message).await };
        if message.contains_key("voice_settings") {
            return Some(self.refuse("invalid_voice_settings").await);
        }
        self.contexts[at].text.push_str(text);
        if message.get("flush") == Some(&json!(true)) {
            let text = std::mem::take(&mut self.contexts[at].text);
            return self.speak(id, &text).await;
        }
        None
    }

    async fn open(&mut self, id: &str, text: &str, message: &Map<String, Value>) -> Ended {
        if text != " " {
            return Some(self.refuse("invalid_first_message").await);
        }
        let speed = message.get("voice_settings").and_then(|it| it.get("speed"));
        if speed.is_some_and(|it| it.as_f64().is_none_or(|it| !(0.7..=1.2).contains(&it))) {
            return Some(self.refuse("invalid_voice_settings").await);
        }
        if self.contexts.len() == CONTEXTS {
            return Some(self.refuse("max_active_conversations").await);
        }
        self.opened += 1;
        if matches!(self.socket.fault, Fault::Gone) && self.opened > 1 {
            return Some("gone".to_owned());
        }
        self.contexts.push(Context { id: id.to_owned(), text: String::new() });
        None
    }

    async fn close_context(&mut self, at: usize) -> Ended {
        let Context { id, text } = self.contexts.remove(at);
        let ended = self.speak(&id, &text).await;
        if matches!(self.socket.fault, Fault::Late(_)) {
            self.chunk(&id, "late").await;
        }
        if matches!(self.socket.fault, Fault::Hold(_) | Fault::Late(_)) {
            self.socket.fault = Fault::None;
        }
        self.say(json!({"isFinal": true, "audio": null, "contextId": id})).await;
        ended
    }

    async fn speak(&mut self, id: &str, text: &str) -> Ended {
        if text.trim().is_empty() {
            return None;
        }
        if let Fault::Error(label) = self.socket.fault {
            return Some(self.refuse(label).await);
        }
        let characters = text.trim().chars().count();
        self.socket.note(|seen| seen.billed += characters);
        let characters: Vec<char> = text.chars().collect();
        for chunk in characters.chunks(CHUNK) {
            match self.socket.fault {
                Fault::Cut(after) if self.sent >= after => return Some("cut".to_owned()),
                Fault::Close(after, frame) if self.sent >= after => {
                    self.socket.close_and_drain(frame).await;
                    return Some("closed".to_owned());
                }
                Fault::Hold(after) | Fault::Late(after) if self.sent >= after => return None,
                _ => self.chunk(id, &chunk.iter().collect::<String>()).await,
            }
        }
        if matches!(self.socket.fault, Fault::Expire) {
            let label = "input_timeout_exceeded";
            self.say(json!({"message": "expired", "error": label, "code": 1008})).await;
            return Some(label.to_owned());
        }
        None
    }

    async fn chunk(&mut self, id: &str, text: &str) {
        let chars: Vec<String> = text.chars().map(String::from).collect();
        let begins: Vec<usize> = (0..chars.len()).map(|at| at * CHARACTER).collect();
        let alignment = json!({
            "chars": chars, "charStartTimesMs": begins, "charDurationsMs": vec![CHARACTER; begins.len()],
        });
        let peak = if matches!(self.socket.fault, Fault::Mute) { 0 } else { 8_000_i16 };
        let sample = |at: usize| if (at / 60).is_multiple_of(2) { peak } else { -peak };
        let sound = (0..begins.len() * SAMPLES).flat_map(|at| sample(at).to_le_bytes());
        let audio = STANDARD.encode(sound.collect::<Vec<u8>>());
        self.sent += 1;
        self.say(json!({
            "audio": audio, "alignment": alignment, "normalizedAlignment": alignment,
            "contextId": id,
        }))
        .await;
    }

    /// Sends a message, and much else where that is its fault.
    async fn say(&mut self, message: Value) {
        let text = message.to_string();
        if matches!(self.socket.fault, Fault::Strange) {
            let strange = json!({"mood": {"of": "the service"}, "contextId": message["contextId"]});
            let _ = self.socket.stream.send(Message::text(strange.to_string())).await;
            let _ = self.socket.stream.send(Message::text("[]")).await;
            for _ in 0..200 {
                let _ = self.socket.stream.send(Message::Ping(Vec::new().into())).await;
            }
            let _ = self.socket.stream.send(Message::binary(text.into_bytes())).await;
        } else {
            let _ = self.socket.stream.send(Message::text(text)).await;
        }
    }

    /// Says what is wrong, and closes the socket.
    async fn refuse(&mut self, label: &str) -> String {
        self.socket.note(|seen| seen.refused = Some(label.to_owned()));
        self.say(json!({"message": "refused", "error": label, "code": 1008})).await;
        self.socket.close_and_drain(Some((1008, label))).await;
        label.to_owned()
    }
}
