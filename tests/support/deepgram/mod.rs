//! A loopback Deepgram for tests: `/v1/listen` (Nova) and `/v2/listen` (Flux).
//!
//! Entry types: [`DeepgramServer`], [`Fault`]. What is understood is scripted, and comes when the sound
//! does: a word for each piece of voice, the rest at the end. It runs on a thread of its own, so paused
//! time in a test does not touch it.
//! **Never**: takes what the real service would refuse (`query.rs`, `nova.rs`, `flux.rs`).

mod flux;
mod nova;
mod query;
mod sound;

use std::{collections::VecDeque, time::Duration};

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::socket_server::{Asked, Refusal, Service, Socket, SocketServer};
pub use query::Refused;

/// A socket without sound or a sign of life is closed after so long.
const QUIET: Duration = Duration::from_secs(10);

/// A running service; it ends when dropped.
pub type DeepgramServer = SocketServer<Deepgram>;

/// The protocol, and what is scripted of it.
#[derive(Default)]
pub struct Deepgram {
    /// Utterances still to be said, in segments between pauses.
    utterances: VecDeque<VecDeque<String>>,
    /// Ends of turns are held back.
    holds: bool,
}

/// One handshake, and what came after it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// "/v1/listen".
    pub path: String,
    /// Parameters of the query, in order.
    pub query: Vec<(String, String)>,
    /// Reason for its refusal.
    pub refused: Option<String>,
    /// Seconds of sound that came.
    pub seconds: f64,
    /// Messages of sound, by their bytes.
    pub messages: Vec<usize>,
    /// Orders, as they came.
    pub orders: Vec<Value>,
    /// Reason for its end, once it has ended.
    pub ended: Option<String>,
}

impl Seen {
    /// The values of `key`.
    pub fn values(&self, key: &str) -> Vec<&str> {
        self.query.iter().filter(|(known, _)| known == key).map(|(_, it)| it.as_str()).collect()
    }

    /// Orders of this type.
    pub fn ordered(&self, kind: &str) -> usize {
        self.orders.iter().filter(|order| order["type"] == kind).count()
    }
}

/// Fault of one socket.
#[derive(Clone, Debug, Default)]
pub enum Fault {
    /// Nothing does.
    #[default]
    None,
    /// The handshake is answered by this status, these headers and this body.
    Refuse(u16, Vec<(&'static str, &'static str)>, Value),
    /// It takes sound and says nothing, from so many seconds of sound on.
    Stall(f64),
    /// The connection is gone after so many seconds of sound.
    Cut(f64),
    /// It is gone when the next utterance begins, a second or more after the first.
    Gone,
    /// It is closed after so many seconds of sound: with a code and a reason, or without.
    Close(f64, Option<(u16, &'static str)>),
    /// It gives up with an `Error` of this code.
    Error(f64, &'static str),
    /// Many unknown messages, in text and binary frames.
    Strange,
    /// Seconds of sound, a message, and how often it is then sent without a pause.
    Flood(f64, Value, usize),
}

impl DeepgramServer {
    /// The line of `providers` that hears with it.
    pub fn entry(&self) -> String {
        let (address, key) = (self.base_url(), &self.shared.key);
        format!(
            "  stt: {{ name: deepgram, base_url: \"{address}\", api_key: {key}, model: nova-3, \
             free: true }}\n"
        )
    }

    /// Adds an utterance, with a pause between two segments.
    pub fn says(&self, segments: &[&str]) {
        let segments = segments.iter().map(|it| (*it).to_owned()).collect();
        self.shared.state().script.utterances.push_back(segments);
    }

    /// Utterances of players, one after the other, without a pause in any.
    pub fn says_each(&self, utterances: &[&str]) {
        utterances.iter().for_each(|utterance| self.says(&[utterance]));
    }

    /// Holds ends of turns back, or lets them go.
    pub fn holds(&self, holds: bool) {
        self.shared.change(|state| state.script.holds = holds);
    }
}

impl Service for Deepgram {
    type Seen = Seen;
    type Fault = Fault;
    type Agreed = Asked;

    fn handshake(asked: Asked, key: &str) -> (Seen, Result<Asked, Refusal>) {
        let (path, query) = (asked.path.clone(), asked.query.clone());
        let refused = query::refused(&asked, key).map(refusal);
        (Seen { path, query, ..Seen::default() }, refused.map_or(Ok(asked), Err))
    }

    fn scripted(fault: &Fault) -> Option<Refusal> {
        let Fault::Refuse(status, headers, body) = fault else { return None };
        Some(Refusal::scripted(*status, headers, body))
    }

    fn refused(seen: &mut Seen) -> &mut Option<String> {
        &mut seen.refused
    }

    async fn serve(socket: Socket<Self>, asked: Asked) {
        let mut line = Line { socket, said: 0 };
        let ended = match asked.path.as_str() {
            "/v1/listen" => nova::serve(&mut line, asked).await,
            _ => flux::serve(&mut line, asked).await,
        };
        line.socket.note(|seen| seen.ended = Some(ended));
    }
}

/// A refused handshake in Deepgram's shape.
pub fn refusal((status, code, message): Refused) -> Refusal {
    let body = json!({"err_code": code, "err_msg": message, "request_id": "r-1"});
    Refusal { status, headers: vec![("dg-error", message)], body }
}

/// One socket.
struct Line {
    socket: Socket<Deepgram>,
    /// Messages so far.
    said: u64,
}

/// Message of a client.
enum Heard {
    /// 16-bit samples.
    Sound(Vec<i16>),
    /// JSON with a type.
    Order(Value),
    /// A text that is none.
    Nonsense,
    /// It has gone, or is to go, and how.
    Gone(String),
    /// Nothing, for too long.
    Quiet,
}

impl Line {
    /// The next message; `Quiet` if none comes until `until`.
    async fn next(&mut self, until: tokio::time::Instant) -> Heard {
        loop {
            let message = tokio::select! {
                message = self.socket.stream.next() => message,
                () = tokio::time::sleep_until(until) => return Heard::Quiet,
            };
            match message {
                Some(Ok(Message::Binary(bytes))) if bytes.is_empty() => {
                    return Heard::Gone("an empty message".to_owned());
                }
                Some(Ok(Message::Binary(bytes))) => {
                    let pairs = bytes.chunks_exact(2);
                    let samples: Vec<i16> =
                        pairs.map(|two| i16::from_le_bytes([two[0], two[1]])).collect();
                    self.socket.note(|seen| {
                        seen.seconds += samples.len() as f64 / 16_000.0;
                        seen.messages.push(bytes.len());
                    });
                    return Heard::Sound(samples);
                }
                Some(Ok(Message::Text(text))) => {
                    let Ok(order) = serde_json::from_str::<Value>(&text) else {
                        return Heard::Nonsense;
                    };
                    let noted = order.clone();
                    self.socket.note(|seen| seen.orders.push(noted));
                    return if order["type"].is_string() {
                        Heard::Order(order)
                    } else {
                        Heard::Nonsense
                    };
                }
                Some(Ok(Message::Close(_))) | None => {
                    return Heard::Gone("closed by the client".to_owned());
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Heard::Gone(error.to_string()),
            }
        }
    }

    /// Seconds of sound that came.
    fn seconds(&self) -> f64 {
        self.socket.seen(|seen| seen.seconds)
    }

    /// Applies the fault if it is due, and returns how the socket ended, if it did.
    async fn failed(&mut self) -> Option<String> {
        let seconds = self.seconds();
        match self.socket.fault.clone() {
            Fault::Cut(after) if seconds >= after => Some("cut".to_owned()),
            Fault::Close(after, frame) if seconds >= after => {
                self.socket.close(frame).await;
                Some("closed".to_owned())
            }
            Fault::Error(after, code) if seconds >= after => {
                let error =
                    json!({"type": "Error", "code": code, "description": "a fault of tests"});
                self.say(error).await;
                self.socket.close(None).await;
                Some("failed".to_owned())
            }
            Fault::Flood(after, message, count) if seconds >= after => {
                self.socket.fault = Fault::None;
                for _ in 0..count {
                    self.say(message.clone()).await;
                }
                None
            }
            _ => None,
        }
    }

    /// True if it says nothing any more.
    fn stalls(&self) -> bool {
        matches!(self.socket.fault, Fault::Stall(after) if self.seconds() >= after)
    }

    /// Says something, and much else where that is its fault.
    async fn say(&mut self, message: Value) {
        if self.stalls() {
            return;
        }
        let bytes = message.to_string();
        if matches!(self.socket.fault, Fault::Strange) {
            let strange = json!({"type": "Mood", "value": {"of": "the service"}}).to_string();
            let _ = self.socket.stream.send(Message::text(strange)).await;
            let _ = self.socket.stream.send(Message::text("[]")).await;
            let _ = self.socket.stream.send(Message::Ping(Vec::new().into())).await;
            let _ = self.socket.stream.send(Message::binary(bytes.into_bytes())).await;
        } else {
            let _ = self.socket.stream.send(Message::text(bytes)).await;
        }
        self.said += 1;
    }

    /// Closes with a code of the protocol and a reason.
    async fn close(&mut self, code: u16, reason: &str) -> String {
        self.socket.close(Some((code, reason))).await;
        format!("{code} {reason}")
    }

    /// The segments of the next utterance.
    fn utterance(&self) -> VecDeque<String> {
        self.socket.shared.change(|state| state.script.utterances.pop_front()).unwrap_or_default()
    }

    /// True if ends of turns are held back.
    fn holds(&self) -> bool {
        self.socket.shared.state().script.holds
    }
}
