//! An answer on its way: the part sent until it ends, is cancelled, or the client has left.
//!
//! Entry functions: [`Talk::begin`], [`Talk::step`], [`Talk::cancel`], [`Talk::settle`].

use std::{collections::VecDeque, time::Duration};

use futures::SinkExt;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::{
    check::Item,
    plan::{Out, plan},
    talk::Talk,
};
use crate::support::voice_models::{
    Fault, Usage,
    bill::{sound_tokens, text_tokens},
};

/// Tokens of a second of sound that is heard.
const HEARD: u64 = 10;
/// Tokens of a second of sound that is spoken.
const SPOKEN: u64 = 20;
/// Pause before 100 ms of sound: 50 times faster than real time.
const PACE: Duration = Duration::from_millis(2);

/// An answer that is being made.
pub struct Running {
    id: String,
    number: usize,
    plan: VecDeque<Out>,
    is_counted: bool,
    /// True if it minds the longest answer allowed.
    is_bounded: bool,
    /// Tokens read.
    input: Usage,
    written: usize,
    spoken_ms: u64,
    /// Items that are whole.
    output: Vec<Value>,
    /// The item that is being made.
    open: Option<Value>,
}

impl Running {
    fn usage(&self) -> Usage {
        Usage {
            text_out: text_tokens(self.written),
            audio_out: sound_tokens(self.spoken_ms, SPOKEN),
            ..self.input
        }
    }

    /// True if anything is left to be sent.
    pub fn plays(&self) -> bool {
        !self.plan.is_empty()
    }

    /// Delay of the next piece.
    pub fn pace(&self) -> Option<Duration> {
        self.plan.front()?.is_sound().then_some(PACE)
    }
}

/// Tokens as `response.done` has them.
fn told_as(usage: &Usage) -> Value {
    let (input, output) = (usage.text_in + usage.audio_in, usage.text_out + usage.audio_out);
    json!({
        "total_tokens": input + output, "input_tokens": input, "output_tokens": output,
        "input_token_details": {
            "text_tokens": usage.text_in, "audio_tokens": usage.audio_in, "image_tokens": 0,
            "cached_tokens": usage.text_cached + usage.audio_cached,
            "cached_tokens_details": {"text_tokens": usage.text_cached,
                "audio_tokens": usage.audio_cached, "image_tokens": 0},
        },
        "output_token_details": {"text_tokens": usage.text_out, "audio_tokens": usage.audio_out},
    })
}

impl Talk {
    /// Begins to answer.
    pub async fn begin(&mut self) {
        let (number, answer) = self.shared.next_answer();
        self.note(|seen| seen.answers += 1);
        let id = format!("resp_{number}");
        let mut plan = plan(&answer, number, &id);
        // The transcript comes before the answer, in the middle of it, or after it.
        if number % 3 == 2
            && let Some(event) = self.transcript.take()
        {
            plan.insert(plan.len() / 2, Out::Event(event));
        }
        let is_bounded = !plan.iter().any(|out| matches!(out, Out::Forever(_)));
        let input = self.input();
        let created = json!({"type": "response.created", "response": {"id": id,
            "object": "realtime.response", "status": "in_progress", "status_details": null,
            "output": [], "usage": null, "conversation_id": "conv_1", "metadata": null}});
        self.running = Some(Running {
            id,
            number,
            plan,
            is_counted: answer.is_counted,
            is_bounded,
            input,
            written: 0,
            spoken_ms: 0,
            output: Vec::new(),
            open: None,
        });
        self.known.is_answering = true;
        self.say(created).await;
    }

    /// Input of an answer: the whole conversation, of which the cache has what was read before.
    fn input(&mut self) -> Usage {
        let known = &self.known;
        let tools = if known.tools.is_null() { 0 } else { known.tools.to_string().len() };
        let said: usize = known.items.iter().map(|item| item.text.len()).sum();
        let sound = |item: &Item| {
            let rate = if item.is_answer { SPOKEN } else { HEARD };
            sound_tokens(item.sound_ms, rate)
        };
        let text_in = text_tokens(known.instructions.len() + tools + said);
        let audio_in = known.items.iter().map(sound).sum();
        let usage = Usage {
            text_in,
            audio_in,
            text_cached: self.read.text_in.min(text_in),
            audio_cached: self.read.audio_in.min(audio_in),
            ..Usage::default()
        };
        self.read = usage;
        usage
    }

    /// Sends the next piece.
    pub async fn step(&mut self) {
        let Some(running) = &mut self.running else { return };
        let Some(out) = running.plan.pop_front() else { return };
        match out {
            Out::Forever(out) => {
                let again = match &*out {
                    Out::Sound(item, event, ms) => Out::Sound(item.clone(), event.clone(), *ms),
                    Out::Words(item, event, words) => {
                        Out::Words(item.clone(), event.clone(), words.clone())
                    }
                    _ => return,
                };
                running.plan.push_front(Out::Forever(out));
                self.send(again).await;
            }
            out => self.send(out).await,
        }
    }

    async fn send(&mut self, out: Out) {
        let Some(running) = &mut self.running else { return };
        match out {
            Out::Event(event) => self.say(event).await,
            Out::Sound(item, event, ms) => {
                running.spoken_ms += ms;
                let (usage, is_bounded) = (running.usage(), running.is_bounded);
                let most = self.known.max_tokens.filter(|_| is_bounded);
                self.known.has_spoken = true;
                if let Some(item) = self.item(&item) {
                    item.sound_ms += ms;
                }
                self.say(event).await;
                if most.is_some_and(|most| usage.audio_out + usage.text_out >= most) {
                    self.finish("incomplete", Some("max_output_tokens")).await;
                }
            }
            Out::Words(item, event, words) => {
                running.written += words.len();
                if let Some(item) = self.item(&item) {
                    item.text.push_str(&words);
                }
                self.say(event).await;
            }
            Out::Begins(item, is_answer) => {
                running.open = Some(item.clone());
                let id = item["id"].as_str().unwrap_or_default().to_owned();
                self.known.items.push(Item { id, is_answer, ..Item::default() });
                self.say(json!({"type": "conversation.item.added", "item": item})).await;
            }
            Out::Whole(item) => {
                running.open = None;
                running.output.push(item.clone());
                self.say(json!({"type": "conversation.item.done", "item": item})).await;
            }
            Out::Calls(id) => self.known.calls.push((id, false)),
            Out::Frame(text, is_binary) => self.frame(text, is_binary).await,
            Out::Done(status, reason) => self.finish(status, reason).await,
            Out::Cut => self.ended = Some("cut".to_owned()),
            Out::Expired => self.expire().await,
            Out::Forever(_) => {}
        }
    }

    async fn frame(&mut self, text: String, is_binary: bool) {
        let message =
            if is_binary { Message::binary(text.into_bytes()) } else { Message::text(text) };
        let _ = self.socket.send(Message::Ping(Vec::new().into())).await;
        let _ = self.socket.send(message).await;
    }

    /// An item by its name.
    fn item(&mut self, id: &str) -> Option<&mut Item> {
        self.known.items.iter_mut().find(|item| item.id == id)
    }

    /// Stops answering, as ordered; a piece that was on its way still comes.
    pub async fn cancel(&mut self) {
        let Some(running) = &mut self.running else { return };
        let on_its_way = match running.plan.front() {
            Some(Out::Sound(..)) => running.plan.pop_front(),
            _ => None,
        };
        running.plan.clear();
        if let Some(out) = on_its_way {
            self.send(out).await;
        }
        self.finish("cancelled", Some("client_cancelled")).await;
    }

    async fn finish(&mut self, status: &str, reason: Option<&str>) {
        let Some(mut running) = self.running.take() else { return };
        self.known.is_answering = false;
        if let Some(item) = running.open.take() {
            let item = self.break_off(&running, item).await;
            running.output.push(item);
        }
        let usage = running.usage();
        self.shared.change(|state| state.billed.push(usage));
        let told = if running.is_counted { usage } else { Usage::default() };
        let details = match (status, reason) {
            ("completed", _) => Value::Null,
            ("failed", _) => json!({"type": "failed", "error": {"type": "server_error",
                "code": "internal_error"}}),
            _ => json!({"type": status, "reason": reason}),
        };
        let response = json!({"id": running.id, "object": "realtime.response", "status": status,
            "status_details": details, "output": running.output, "usage": told_as(&told),
            "conversation_id": "conv_1", "metadata": null, "output_modalities": ["audio"]});
        self.say(json!({"type": "response.done", "response": response})).await;
        self.say(json!({"type": "rate_limits.updated", "rate_limits": [{"name": "tokens",
            "limit": 100_000, "remaining": 90_000, "reset_seconds": 1.5}]}))
            .await;
        if running.number % 3 == 1
            && let Some(event) = self.transcript.take()
        {
            self.say(event).await;
        }
        match self.fault {
            Fault::Expires if status == "completed" => self.expire().await,
            Fault::Closes if status == "completed" => {
                let _ = self.socket.close(None).await;
                self.ended = Some("closed".to_owned());
            }
            _ => {}
        }
    }

    /// Ends an item that is not whole, as if it were; the item as it stands.
    async fn break_off(&mut self, running: &Running, mut item: Value) -> Value {
        let id = item["id"].as_str().unwrap_or_default().to_owned();
        let said = self.item(&id).map(|item| item.text.clone()).unwrap_or_default();
        let (response, index) = (&running.id, running.output.len());
        item["status"] = json!("incomplete");
        let mut about = json!({"response_id": response, "item_id": id, "output_index": index});
        let endings = if item["type"] == "message" {
            about["content_index"] = json!(0);
            let part = json!({"type": "audio", "transcript": said});
            item["content"] = json!([{"type": "output_audio", "transcript": said}]);
            vec![
                ("response.output_audio.done", json!({})),
                ("response.output_audio_transcript.done", json!({ "transcript": said })),
                ("response.content_part.done", json!({ "part": part })),
            ]
        } else {
            item["arguments"] = json!(said);
            let call = json!({"call_id": item["call_id"], "name": item["name"], "arguments": said});
            vec![("response.function_call_arguments.done", call)]
        };
        for (kind, mut event) in endings {
            event["type"] = json!(kind);
            for (key, value) in about.as_object().into_iter().flatten() {
                event[key] = value.clone();
            }
            self.say(event).await;
        }
        self.say(json!({"type": "response.output_item.done", "response_id": response,
            "output_index": index, "item": item}))
            .await;
        item
    }

    /// Bills the sent part of an answer whose client no longer waits.
    pub fn settle(&mut self) {
        if let Some(running) = self.running.take() {
            let usage = running.usage();
            self.shared.change(|state| state.billed.push(usage));
        }
    }
}
