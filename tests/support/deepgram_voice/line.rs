//! One socket: its messages, the sound of its sentences, and its fault.

use std::{f64::consts::TAU, time::Duration};

use futures::{FutureExt, SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::{Asked, DeepgramVoice, Fault, Socket, query::speed};

/// Sound of a character, in seconds.
pub const CHARACTER: f64 = 0.06;
/// Seconds of one message of sound.
const PIECE: f64 = 0.2;
const PEAK: f64 = 6_000.0;
const HZ: f64 = 200.0;
/// A socket without a message is closed after so long.
const QUIET: Duration = Duration::from_secs(60);

pub struct Line {
    pub socket: Socket<DeepgramVoice>,
}

/// Message of a client.
pub enum Heard {
    /// JSON with a type.
    Order(Value),
    /// A message that is none.
    Nonsense,
    /// It has gone, and how.
    Gone(String),
    /// Nothing, for too long.
    Quiet,
}

/// A sentence on its way.
pub struct Sentence {
    pub text: String,
    sound: Vec<i16>,
    /// Samples of a message.
    piece: usize,
    sent: usize,
}

/// How a sentence goes on.
pub enum Played {
    More,
    Whole,
    /// Nothing is sent before it is cancelled.
    Stalled,
    Ended(String),
}

impl Sentence {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a sentence takes seconds"
    )]
    pub fn new(text: String, asked: &Asked) -> Self {
        let rate: f64 = asked.value("sample_rate").unwrap_or("24000").parse().expect("a rate");
        let seconds = text.chars().count() as f64 * CHARACTER / speed(asked).unwrap_or(1.0);
        let sample = |at: usize| ((at as f64 * HZ / rate * TAU).sin() * PEAK).round() as i16;
        let sound = (0..(seconds * rate).round() as usize).map(sample).collect();
        Self { text, sound, piece: (PIECE * rate) as usize, sent: 0 }
    }

    /// Milliseconds of sound that were sent.
    pub fn sent_ms(&self) -> u64 {
        let pieces = u64::try_from(self.sent / self.piece.max(1)).expect("small");
        pieces * 200
    }

    pub fn has_begun(&self) -> bool {
        self.sent > 0
    }
}

impl Line {
    /// The next message.
    pub async fn next(&mut self) -> Heard {
        tokio::time::timeout(QUIET, self.read()).await.unwrap_or(Heard::Quiet)
    }

    /// The next message, if it is there.
    pub fn now(&mut self) -> Option<Heard> {
        self.read().now_or_never()
    }

    async fn read(&mut self) -> Heard {
        loop {
            let text = match self.socket.stream.next().await {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Close(_))) | None => {
                    return Heard::Gone("closed by the client".to_owned());
                }
                Some(Ok(Message::Binary(_))) => return Heard::Nonsense,
                Some(Ok(_)) => continue,
                Some(Err(error)) => return Heard::Gone(error.to_string()),
            };
            let Ok(order) = serde_json::from_str::<Value>(&text) else { return Heard::Nonsense };
            let noted = order.clone();
            self.socket.note(|seen| seen.orders.push(noted));
            return match order["type"].is_string() {
                true => Heard::Order(order),
                false => Heard::Nonsense,
            };
        }
    }

    /// Says something, and much else where that is its fault.
    pub async fn say(&mut self, message: Value) {
        if matches!(self.socket.fault, Fault::Strange) {
            let strange = json!({"type": "Mood", "value": {"of": "the service"}}).to_string();
            let _ = self.socket.stream.send(Message::text(strange)).await;
            let _ = self.socket.stream.send(Message::text("[]")).await;
            let _ = self.socket.stream.send(Message::Ping(Vec::new().into())).await;
        }
        let _ = self.socket.stream.send(Message::text(message.to_string())).await;
    }

    /// Sends the next sound of `sentence`. Its first is billed.
    pub async fn play(&mut self, sentence: &mut Sentence) -> Played {
        let is_half = sentence.sent * 2 >= sentence.sound.len();
        if is_half && let Some(played) = self.fails().await {
            return played;
        }
        if sentence.sent == 0 {
            let characters = sentence.text.chars().count();
            self.socket.note(|seen| seen.billed += characters);
        }
        self.send(sentence).await;
        if sentence.sent < sentence.sound.len() { Played::More } else { Played::Whole }
    }

    async fn send(&mut self, sentence: &mut Sentence) {
        let end = (sentence.sent + sentence.piece).min(sentence.sound.len());
        let samples = &sentence.sound[sentence.sent..end];
        let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
        sentence.sent = end;
        if !bytes.is_empty() {
            let _ = self.socket.stream.send(Message::binary(bytes)).await;
        }
    }

    /// Cancels `sentence`, whose next sound is on its way already.
    pub async fn cancel(&mut self, mut sentence: Sentence) {
        self.send(&mut sentence).await;
        self.socket.note(|seen| seen.cancelled += 1);
        if matches!(self.socket.fault, Fault::Stall) {
            self.socket.fault = Fault::None;
        }
    }

    async fn fails(&mut self) -> Option<Played> {
        match self.socket.fault.clone() {
            Fault::Stall => Some(Played::Stalled),
            Fault::Cut => Some(Played::Ended("cut".to_owned())),
            Fault::Close(frame) => {
                self.socket.close(frame).await;
                Some(Played::Ended("closed".to_owned()))
            }
            Fault::Error(code) => Some(Played::Ended(self.give_up(code, 1011).await)),
            Fault::None | Fault::Refuse(..) | Fault::Strange => None,
        }
    }

    /// Ends with an `Error`.
    pub async fn give_up(&mut self, code: &str, close: u16) -> String {
        self.say(json!({"type": "Error", "code": code, "description": "a fault of tests"})).await;
        self.close(close, code).await
    }

    /// Closes with a code of the protocol and a reason.
    pub async fn close(&mut self, code: u16, reason: &str) -> String {
        self.socket.close(Some((code, reason))).await;
        format!("{code} {reason}")
    }
}
