//! One session, from its setup to its end.
//!
//! Entry type: [`Talk`]. What it answers is in `playing.rs`.

use std::{sync::Arc, time::Duration};

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{
    net::TcpStream,
    time::{Instant, sleep, sleep_until, timeout},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error, Message,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};

use super::{
    check::{self, Checked, Conversation, INVALID, Refusal, Stage, UNSAID},
    names::camel,
    playing::Running,
};
use crate::support::voice_models::{Fault, Seen, Shared};

/// Longest wait for a client that was asked to go.
const PARTING: Duration = Duration::from_secs(2);
/// Longest reason of a close, in bytes.
const REASON_MAX: usize = 123;
/// Least sound that is answered, in milliseconds.
const HEARD_MIN: u64 = 100;

/// An open session.
pub struct Talk {
    pub(super) socket: WebSocketStream<TcpStream>,
    pub(super) shared: Arc<Shared>,
    pub(super) fault: Fault,
    pub(super) known: Conversation,
    pub(super) running: Option<Running>,
    /// True if another answer follows as soon as there is time for it.
    pub(super) is_due: bool,
    /// Another answer follows as soon as nothing is being played.
    pub(super) is_patient: bool,
    /// End of the last answer's sound when played in real time.
    pub(super) played_at: Option<Instant>,
    /// The transcript of the last utterance, while it is not told.
    pub(super) transcript: Option<Value>,
    /// Time at which the connection closes, once that was announced.
    pub(super) leaves: Option<Instant>,
    /// Set when the connection is to end, and how.
    pub(super) ended: Option<String>,
    pub(super) number: usize,
    /// Start of the utterance.
    begun: Option<Instant>,
    /// Reason why its key is refused, sent when the first message has come.
    key: Checked,
}

impl Talk {
    /// A session on `socket`, by its number among the connections and its fault; whether its key is taken.
    pub fn new(
        socket: WebSocketStream<TcpStream>,
        shared: Arc<Shared>,
        (number, fault): (usize, Fault),
        key: Checked,
    ) -> Self {
        Self {
            socket,
            shared,
            fault,
            known: Conversation::default(),
            running: None,
            is_due: false,
            is_patient: false,
            played_at: None,
            transcript: None,
            leaves: None,
            ended: None,
            number,
            begun: None,
            key,
        }
    }

    /// Serves it; how it has ended.
    pub async fn serve(mut self) -> String {
        let ended = loop {
            if let Some(ended) = self.ended.take() {
                break ended;
            }
            let plays = self.running.as_ref().is_some_and(Running::plays);
            let pace = self.running.as_ref().and_then(Running::pace);
            let pause = async {
                match pace {
                    Some(pace) => sleep(pace).await,
                    None => tokio::task::yield_now().await,
                }
            };
            let (is_leaving, leaves) = (self.leaves.is_some(), self.leaves);
            let leave = sleep_until(leaves.unwrap_or_else(Instant::now));
            let idle_at = self.idle_at();
            let idle = sleep_until(idle_at.unwrap_or_else(Instant::now));
            tokio::select! {
                message = self.socket.next() => self.heard(message).await,
                () = pause, if plays => self.step().await,
                () = leave, if is_leaving => self.expire().await,
                () = idle, if idle_at.is_some() => {
                    self.is_patient = false;
                    self.begin().await;
                }
            }
        };
        self.settle();
        ended
    }

    /// Sends a message, unless it never says anything.
    pub async fn say(&mut self, message: Value) {
        self.begin_to_say(message).await;
        let _ = self.socket.flush().await;
    }

    /// Like [`Self::say`], on its way with the next message: nothing comes between them.
    pub async fn begin_to_say(&mut self, message: Value) {
        if self.fault != Fault::Mute {
            let _ = self.socket.feed(Message::binary(message.to_string().into_bytes())).await;
        }
    }

    /// Writes down what came.
    pub fn note(&self, note: impl FnOnce(&mut Seen)) {
        self.shared.change(|state| note(&mut state.seen[self.number]));
    }

    /// Ends the session for its age, without a word before.
    pub async fn expire(&mut self) {
        self.close(1011, "Deadline expired before operation could complete.").await;
    }

    /// Closes with a code and as much of a reason as a close may have.
    pub async fn close(&mut self, code: u16, reason: &str) {
        let mut end = reason.len().min(REASON_MAX);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        let frame = CloseFrame { code: CloseCode::from(code), reason: reason[..end].into() };
        let _ = self.socket.close(Some(frame)).await;
        self.part().await;
        self.ended = Some(format!("{code}: {reason}"));
    }

    /// Reads what is still on its way, so that the close is not lost with it.
    pub async fn part(&mut self) {
        let rest = async { while let Some(Ok(_)) = self.socket.next().await {} };
        let _ = timeout(PARTING, rest).await;
    }

    async fn heard(&mut self, message: Option<Result<Message, Error>>) {
        let read = match message {
            Some(Ok(Message::Text(text))) => serde_json::from_str::<Value>(&text),
            Some(Ok(Message::Binary(bytes))) => serde_json::from_slice::<Value>(&bytes),
            Some(Ok(Message::Close(_))) | None => {
                self.ended = Some("closed by the client".to_owned());
                return;
            }
            Some(Ok(_)) => return,
            Some(Err(error)) => {
                self.ended = Some(error.to_string());
                return;
            }
        };
        match read {
            Ok(message) => self.take(camel(&message)).await,
            Err(error) => {
                let reason = format!("Invalid JSON payload received. {error}");
                self.refuse(Refusal { code: INVALID, reason }).await;
            }
        }
    }

    /// Carries out a message, or refuses it.
    async fn take(&mut self, message: Value) {
        let mut noted = message.clone();
        if let Some(data) = noted.pointer_mut("/realtimeInput/audio/data") {
            *data = json!("sound");
        }
        if let Err(Refusal { code, reason }) = std::mem::replace(&mut self.key, Ok(())) {
            self.note(|seen| seen.refused = Some(reason.clone()));
            return self.close(code, &reason).await;
        }
        self.note(|seen| seen.orders.push(noted));
        if let Err(refusal) = check::message(&message, &self.known) {
            return self.refuse(refusal).await;
        }
        if let Some(setup) = message.get("setup") {
            self.begin_session(setup).await;
        } else if let Some(content) = message.get("clientContent") {
            self.content(content).await;
        } else if let Some(input) = message.get("realtimeInput") {
            self.input(input).await;
        } else {
            self.results(&message["toolResponse"]).await;
        }
    }

    async fn refuse(&mut self, refusal: Refusal) {
        let Refusal { code, reason } = refusal;
        self.note(|seen| seen.mistakes.push(format!("{code}: {reason}")));
        self.close(code, &reason).await;
    }

    async fn begin_session(&mut self, setup: &Value) {
        if self.fault == Fault::RefuseSetup {
            return self.close(INVALID, UNSAID).await;
        }
        if let Some(handle) = setup["sessionResumption"]["handle"].as_str() {
            let earlier = self.shared.state().resumable.get(handle).cloned();
            let Some(earlier) = earlier else {
                self.note(|seen| seen.refused = Some(format!("the handle {handle}")));
                return self.close(INVALID, UNSAID).await;
            };
            self.known = earlier;
            self.note(|seen| seen.resumed = Some(handle.to_owned()));
        }
        self.known.setup = setup.clone();
        self.known.awaits_history = setup["historyConfig"]["initialHistoryInClientContent"] == true;
        let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
        let mode = |tool: &Value| tool["behavior"].as_str().unwrap_or_default().to_owned();
        let modes: Vec<_> = self.known.tools().map(|tool| (name(tool), mode(tool))).collect();
        let model = setup["model"].as_str().unwrap_or_default().trim_start_matches("models/");
        let voice = &setup["generationConfig"]["speechConfig"]["voiceConfig"];
        let voice = voice["prebuiltVoiceConfig"]["voiceName"].as_str();
        self.note(|seen| {
            model.clone_into(&mut seen.model);
            seen.instructions.extend(check::text(&setup["systemInstruction"]));
            seen.declared.push(modes.iter().map(|(name, _)| name.clone()).collect());
            seen.voice = voice.map(str::to_owned);
            seen.modes = modes;
        });
        self.say(json!({"setupComplete": {}})).await;
    }

    async fn content(&mut self, content: &Value) {
        self.interrupt().await;
        for turn in content["turns"].as_array().into_iter().flatten() {
            let role = if turn["role"] == "model" { "assistant" } else { "user" };
            let text = check::text(turn).unwrap_or_default();
            self.known.said += text.len();
            self.note(|seen| seen.items.push((role.to_owned(), text)));
        }
        if content["turnComplete"] == true && !std::mem::take(&mut self.known.awaits_history) {
            self.begin().await;
        }
    }

    async fn input(&mut self, input: &Value) {
        if input.get("activityStart").is_some() {
            if self.known.is_interrupted() {
                self.interrupt().await;
            }
            self.known.activity = Some(0);
        }
        if let Some(bytes) = check::decoded(&input["audio"]["data"]) {
            self.append(&bytes);
        }
        if input.get("activityEnd").is_some() {
            self.end_activity().await;
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        let Some(heard_ms) = &mut self.known.activity else {
            let mistake = "sound while the service listens for itself".to_owned();
            return self.note(|seen| seen.mistakes.push(mistake));
        };
        self.begun.get_or_insert_with(Instant::now);
        let samples = bytes.chunks_exact(2).map(|two| i16::from_le_bytes([two[0], two[1]]));
        // 16 samples are a millisecond.
        *heard_ms += samples.len() as u64 / 16;
        self.note(|seen| seen.sound.extend(samples));
    }

    async fn end_activity(&mut self) {
        let heard_ms = self.known.activity.take().unwrap_or_default();
        let took = self.begun.take().map_or(0.0, |at| at.elapsed().as_secs_f64());
        if heard_ms < HEARD_MIN {
            return;
        }
        self.known.heard_ms += heard_ms;
        self.note(|seen| {
            seen.committed.push(heard_ms as f64 / 1_000.0);
            seen.took.push(took);
        });
        if self.known.has("inputAudioTranscription") {
            let text = json!({"text": "the service's own mishearing", "finished": true});
            self.transcript = Some(json!({"serverContent": {"inputTranscription": text}}));
        }
        self.begin().await;
    }

    async fn results(&mut self, response: &Value) {
        let (mut is_due, mut is_patient, mut interrupts) = (false, true, false);
        for result in response["functionResponses"].as_array().into_iter().flatten() {
            let id = result["id"].as_str().unwrap_or_default().to_owned();
            let found = self.known.calls.iter_mut().find(|call| call.id == id);
            let Some(call) = found else { continue };
            if call.stage == Stage::Cancelled {
                self.note(|seen| seen.late.push(id));
                continue;
            }
            if result["willContinue"] != true {
                call.stage = Stage::Answered;
            }
            let scheduling = result["scheduling"].as_str().unwrap_or("WHEN_IDLE");
            is_due |= call.is_blocking || scheduling != "SILENT";
            is_patient &= !call.is_blocking && scheduling != "INTERRUPT";
            interrupts |= !call.is_blocking && scheduling == "INTERRUPT";
            let (output, when) = (result["response"].to_string(), scheduling.to_owned());
            self.known.said += output.len();
            self.note(|seen| {
                seen.scheduled.push((id.clone(), when));
                seen.results.push((id, output));
            });
        }
        if interrupts {
            self.interrupt().await;
        }
        if is_due && self.known.awaited().next().is_none() {
            self.end_late().await;
            match is_patient {
                true => self.begin_when_idle().await,
                false => self.begin().await,
            }
        }
    }
}
