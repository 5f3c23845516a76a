//! One session, from its first event to its end.
//!
//! Entry type: [`Talk`]. What it answers is in `playing.rs`.

use std::{sync::Arc, time::Instant};

use base64::{Engine, engine::general_purpose::STANDARD};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error, Message,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};

use super::{
    check::{self, Conversation, Item, Refusal},
    playing::Running,
};
use crate::support::voice_models::{Fault, Seen, Shared, Usage, answer::SPOKEN_RATE as RATE};

/// An open session.
pub struct Talk {
    pub(super) socket: WebSocketStream<TcpStream>,
    pub(super) shared: Arc<Shared>,
    pub(super) fault: Fault,
    pub(super) known: Conversation,
    pub(super) running: Option<Running>,
    /// Input of the answer before.
    pub(super) read: Usage,
    /// Event with a transcript that is not sent yet.
    pub(super) transcript: Option<Value>,
    /// Set when the connection is to end, and how.
    pub(super) ended: Option<String>,
    number: usize,
    /// Arrival of the first sound that is not committed.
    appended_at: Option<Instant>,
    /// Events so far, and items.
    count: u64,
}

impl Talk {
    /// A session on `socket`, by its number among the connections and its fault.
    pub fn new(
        socket: WebSocketStream<TcpStream>,
        shared: Arc<Shared>,
        (number, fault): (usize, Fault),
    ) -> Self {
        Self {
            socket,
            shared,
            fault,
            known: Conversation::default(),
            running: None,
            read: Usage::default(),
            transcript: None,
            ended: None,
            number,
            appended_at: None,
            count: 0,
        }
    }

    /// Serves it; how it has ended.
    pub async fn serve(mut self) -> String {
        if self.fault == Fault::Retired {
            let (code, message) = (
                "beta_api_shape_disabled",
                "The Realtime Beta API is no longer supported. Please use /v1/realtime for the GA API.",
            );
            self.close(code, message, (4000, &format!("invalid_request_error.{code}"))).await;
            return code.to_owned();
        }
        self.say(json!({"type": "session.created", "session": self.session()})).await;
        let ended = loop {
            if let Some(ended) = self.ended.take() {
                break ended;
            }
            let plays = self.running.as_ref().is_some_and(Running::plays);
            let pace = self.running.as_ref().and_then(Running::pace);
            let pause = async {
                match pace {
                    Some(pace) => tokio::time::sleep(pace).await,
                    None => tokio::task::yield_now().await,
                }
            };
            tokio::select! {
                message = self.socket.next() => self.heard(message).await,
                () = pause, if plays => self.step().await,
            }
        };
        self.settle();
        ended
    }

    /// Sends an event, unless it never says anything.
    pub async fn say(&mut self, mut event: Value) {
        if self.fault == Fault::Mute {
            return;
        }
        self.count += 1;
        event["event_id"] = json!(format!("event_{}", self.count));
        let _ = self.socket.send(Message::text(event.to_string())).await;
    }

    /// Writes down what came.
    pub fn note(&self, note: impl FnOnce(&mut Seen)) {
        self.shared.change(|state| note(&mut state.seen[self.number]));
    }

    /// Ends the session for its age.
    pub async fn expire(&mut self) {
        let message = "Your session hit the maximum duration of 60 minutes.";
        self.close("session_expired", message, (1001, message)).await;
        self.ended = Some("expired".to_owned());
    }

    /// Says what is wrong, and closes with a code and a reason.
    async fn close(&mut self, code: &str, message: &str, (number, reason): (u16, &str)) {
        let error = json!({"type": "invalid_request_error", "code": code,
            "message": message, "param": null, "event_id": null});
        self.say(json!({"type": "error", "error": error})).await;
        let frame = CloseFrame { code: CloseCode::from(number), reason: reason.into() };
        let _ = self.socket.close(Some(frame)).await;
    }

    async fn heard(&mut self, message: Option<Result<Message, Error>>) {
        match message {
            Some(Ok(Message::Text(text))) => match serde_json::from_str::<Value>(&text) {
                Ok(order) => self.take(order).await,
                Err(error) => self.note(|seen| seen.mistakes.push(format!("no JSON: {error}"))),
            },
            Some(Ok(Message::Binary(_))) => {
                self.note(|seen| seen.mistakes.push("a binary message".to_owned()));
            }
            Some(Ok(Message::Close(_))) | None => {
                self.ended = Some("closed by the client".to_owned());
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => self.ended = Some(error.to_string()),
        }
    }

    /// Carries out an order, or refuses it.
    async fn take(&mut self, order: Value) {
        let mut noted = order.clone();
        if let Some(audio) = noted.get_mut("audio") {
            *audio = json!("sound");
        }
        self.note(|seen| seen.orders.push(noted));
        if let Err(refusal) = check::order(&order, &self.known) {
            // A client that cancels cannot know that the answer has just ended.
            if refusal.code != "response_cancel_not_active" {
                let mistake = format!("{}: {}", refusal.code, refusal.message);
                self.note(|seen| seen.mistakes.push(mistake));
            }
            return self.refuse(&order, &refusal).await;
        }
        match order["type"].as_str().unwrap_or_default() {
            "session.update" => self.update(&order).await,
            "input_audio_buffer.append" => self.append(&order),
            "input_audio_buffer.commit" => self.commit().await,
            "input_audio_buffer.clear" => {
                self.known.waiting_ms = 0;
                self.appended_at = None;
                self.note(|seen| seen.cleared += 1);
                self.say(json!({"type": "input_audio_buffer.cleared"})).await;
            }
            "conversation.item.create" => self.create(&order["item"]).await,
            "conversation.item.truncate" => self.truncate(&order).await,
            "conversation.item.delete" => {
                self.known.items.retain(|item| order["item_id"] != item.id.as_str());
                let id = &order["item_id"];
                self.say(json!({"type": "conversation.item.deleted", "item_id": id})).await;
            }
            "response.create" => self.begin().await,
            "response.cancel" => {
                self.note(|seen| seen.cancels += 1);
                self.cancel().await;
            }
            _ => {}
        }
    }

    async fn refuse(&mut self, order: &Value, refusal: &Refusal) {
        let error = json!({"type": "invalid_request_error", "code": refusal.code,
            "message": refusal.message, "param": null, "event_id": order["event_id"]});
        self.say(json!({"type": "error", "error": error})).await;
    }

    async fn update(&mut self, order: &Value) {
        if self.fault == Fault::RefuseSetup {
            self.fault = Fault::None;
            let message = "The model does not support these settings.".to_owned();
            return self.refuse(order, &Refusal { code: "invalid_value", message }).await;
        }
        let session = &order["session"];
        if let Some(text) = session["instructions"].as_str() {
            text.clone_into(&mut self.known.instructions);
            self.note(|seen| seen.instructions.push(text.to_owned()));
        }
        if let Some(tools) = session["tools"].as_array() {
            let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
            let names = tools.iter().map(name).collect();
            self.known.tools = session["tools"].clone();
            self.note(|seen| seen.declared.push(names));
        }
        if let Some(most) = session.get("max_output_tokens") {
            self.known.max_tokens = most.as_u64();
        }
        let (input, output) = (&session["audio"]["input"], &session["audio"]["output"]);
        if let Some(turns) = input.get("turn_detection") {
            self.known.is_manual = turns.is_null();
        }
        if let Some(transcription) = input.get("transcription") {
            self.known.transcription = transcription.clone();
        }
        if let Some(voice) = output.get("voice") {
            self.known.voice = voice.clone();
            let voice = voice.as_str().map(str::to_owned);
            self.note(|seen| seen.voice = voice);
        }
        self.say(json!({"type": "session.updated", "session": self.session()})).await;
    }

    fn append(&mut self, order: &Value) {
        if !self.known.is_manual {
            self.note(|seen| seen.mistakes.push("sound while turn detection is on".to_owned()));
        }
        let bytes = STANDARD.decode(order["audio"].as_str().unwrap_or_default());
        let bytes = bytes.unwrap_or_default();
        self.appended_at.get_or_insert_with(Instant::now);
        self.known.waiting_ms += bytes.len() as u64 * 1_000 / (u64::from(RATE) * 2);
        let samples = bytes.chunks_exact(2).map(|two| i16::from_le_bytes([two[0], two[1]]));
        self.note(|seen| seen.sound.extend(samples));
    }

    async fn commit(&mut self) {
        let (id, sound_ms) = (self.name(), std::mem::take(&mut self.known.waiting_ms));
        let took = self.appended_at.take().map_or(0.0, |at| at.elapsed().as_secs_f64());
        self.note(|seen| {
            seen.committed.push(sound_ms as f64 / 1_000.0);
            seen.took.push(took);
        });
        let previous = self.known.items.last().map(|item| item.id.clone());
        self.known.items.push(Item { id: id.clone(), sound_ms, ..Item::default() });
        self.say(json!({"type": "input_audio_buffer.committed", "item_id": id,
            "previous_item_id": previous}))
            .await;
        let item = json!({"id": id, "object": "realtime.item", "type": "message",
            "status": "completed", "role": "user",
            "content": [{"type": "input_audio", "transcript": null}]});
        self.added(&item).await;
        if !self.known.transcription.is_null() {
            let event = json!({"type": "conversation.item.input_audio_transcription.completed",
                "item_id": id, "content_index": 0, "transcript": "the service's own mishearing",
                "usage": {"type": "tokens", "total_tokens": 0, "input_tokens": 0,
                    "output_tokens": 0}});
            if self.shared.state().answered.is_multiple_of(3) {
                self.say(event).await;
            } else {
                self.transcript = Some(event);
            }
        }
    }

    async fn create(&mut self, item: &Value) {
        let id = item["id"].as_str().map_or_else(|| self.name(), str::to_owned);
        let mut known = Item { id: id.clone(), ..Item::default() };
        let call = item["call_id"].as_str().unwrap_or_default().to_owned();
        match item["type"].as_str() {
            Some("function_call_output") => {
                item["output"].as_str().unwrap_or_default().clone_into(&mut known.text);
                let result = (call.clone(), known.text.clone());
                self.note(|seen| seen.results.push(result));
                let calls = self.known.calls.iter_mut();
                calls
                    .filter(|(id, _)| *id == call)
                    .for_each(|(_, is_answered)| *is_answered = true);
            }
            Some("function_call") => self.known.calls.push((call, false)),
            _ => {
                let parts = item["content"].as_array().into_iter().flatten();
                known.text = parts.filter_map(|part| part["text"].as_str()).collect();
                let role = item["role"].as_str().unwrap_or_default().to_owned();
                let written = (role, known.text.clone());
                self.note(|seen| seen.items.push(written));
            }
        }
        self.known.items.push(known);
        let mut item = item.clone();
        item["id"] = json!(id);
        item["status"] = json!("completed");
        self.added(&item).await;
    }

    /// Says that an item is there, and whole.
    async fn added(&mut self, item: &Value) {
        self.say(json!({"type": "conversation.item.added", "item": item})).await;
        self.say(json!({"type": "conversation.item.done", "item": item})).await;
    }

    /// Cuts an answer off; its transcript goes with the sound.
    async fn truncate(&mut self, order: &Value) {
        let id = order["item_id"].as_str().unwrap_or_default().to_owned();
        let end = order["audio_end_ms"].as_u64().unwrap_or_default();
        if let Some(item) = self.known.items.iter_mut().find(|item| item.id == id) {
            item.text.clear();
            item.sound_ms = end;
        }
        self.note(|seen| seen.truncations.push((id.clone(), end)));
        self.say(json!({"type": "conversation.item.truncated", "item_id": id,
            "content_index": 0, "audio_end_ms": end}))
            .await;
    }

    /// A new name of an item.
    fn name(&mut self) -> String {
        self.count += 1;
        format!("item_s{}_{}", self.number, self.count)
    }

    /// The session object.
    fn session(&self) -> Value {
        let turns = match self.known.is_manual {
            true => Value::Null,
            false => json!({"type": "server_vad", "threshold": 0.5, "create_response": true}),
        };
        let format = json!({"type": "audio/pcm", "rate": RATE});
        let tools = if self.known.tools.is_null() { json!([]) } else { self.known.tools.clone() };
        let most = self.known.max_tokens.map_or_else(|| json!("inf"), |most| json!(most));
        let model = self.shared.state().seen[self.number].model.clone();
        json!({
            "id": format!("sess_{}", self.number), "object": "realtime.session",
            "type": "realtime", "model": model, "expires_at": 4_102_444_800_u64,
            "output_modalities": ["audio"], "instructions": self.known.instructions,
            "audio": {
                "input": {"format": format, "transcription": self.known.transcription,
                    "noise_reduction": null, "turn_detection": turns},
                "output": {"format": format, "voice": self.known.voice, "speed": 1.0},
            },
            "tools": tools, "tool_choice": "auto", "truncation": "auto", "tracing": null,
            "max_output_tokens": most, "prompt": null, "include": null,
        })
    }
}
