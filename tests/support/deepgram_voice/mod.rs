//! A loopback Deepgram that speaks, for tests: `/v1/speak` (Aura), `/v2/speak` (Flux TTS) and
//! `GET /v1/models`.
//!
//! Entry types: [`DeepgramVoiceServer`], [`Fault`]. A sentence is a tone as long as its text. It
//! runs on a thread of its own, so paused time in a test does not touch it.
//! **Never**: takes what the real service would refuse (`query.rs`, `aura.rs`, `flux.rs`).

mod aura;
mod flux;
mod line;
mod query;

use serde_json::{Value, json};

use super::{
    deepgram::{Refused, refusal},
    socket_server::{Asked, Refusal, Service, Socket, SocketServer},
};
use line::Line;
use query::VOICES;

/// A running service; it ends when dropped.
pub type DeepgramVoiceServer = SocketServer<DeepgramVoice>;

/// The protocol.
#[derive(Default)]
pub struct DeepgramVoice;

/// One handshake, and what came after it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// "/v2/speak".
    pub path: String,
    /// Parameters of the query, in order.
    pub query: Vec<(String, String)>,
    /// Reason for its refusal.
    pub refused: Option<String>,
    /// Orders, as they came.
    pub orders: Vec<Value>,
    /// Characters that are billed.
    pub billed: usize,
    /// Sentences that were cancelled.
    pub cancelled: usize,
    /// Reason for its end, once it has ended.
    pub ended: Option<String>,
}

impl Seen {
    /// The first value of `key`.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == key).map(|(_, it)| it.as_str())
    }

    /// Texts that came to be spoken.
    pub fn texts(&self) -> Vec<&str> {
        let spoken = self.orders.iter().filter(|order| order["type"] == "Speak");
        spoken.filter_map(|order| order["text"].as_str()).collect()
    }

    /// Orders of this type.
    pub fn ordered(&self, kind: &str) -> usize {
        self.orders.iter().filter(|order| order["type"] == kind).count()
    }
}

/// Fault of one socket. Those of a sentence come after half of its sound.
#[derive(Clone, Debug, Default)]
pub enum Fault {
    /// Nothing does.
    #[default]
    None,
    /// The handshake is answered by this status, these headers and this body.
    Refuse(u16, Vec<(&'static str, &'static str)>, Value),
    /// A sentence is not gone on with until it is cancelled.
    Stall,
    /// The connection is gone.
    Cut,
    /// It is closed: with a code and a reason, or without.
    Close(Option<(u16, &'static str)>),
    /// It gives up with an `Error` of this code.
    Error(&'static str),
    /// Unknown messages come beside its own.
    Strange,
}

impl Service for DeepgramVoice {
    type Seen = Seen;
    type Fault = Fault;
    type Agreed = Asked;

    fn answer(asked: &Asked, key: &str) -> Option<(&'static str, Value)> {
        asked.path.starts_with("/v1/models").then(|| list(asked, key))
    }

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
        let mut line = Line { socket };
        let ended = match query::is_flux(&asked) {
            true => flux::serve(&mut line, &asked).await,
            false => aura::serve(&mut line, &asked).await,
        };
        line.socket.note(|seen| seen.ended = Some(ended));
    }
}

/// Answers the question for voices. The real list has no Flux.
fn list(asked: &Asked, key: &str) -> (&'static str, Value) {
    let token = format!("Token {key}");
    if asked.header("authorization").is_some_and(|it| it.eq_ignore_ascii_case(&token)) {
        ("200 OK", models())
    } else {
        let message = "Invalid credentials.";
        ("401 Unauthorized", json!({"err_code": "INVALID_AUTH", "err_msg": message}))
    }
}

fn models() -> Value {
    let aura = VOICES.iter().filter(|name| name.starts_with("aura"));
    let tts = aura.map(|name| {
        let language = &name[name.len() - 2..];
        json!({
            "name": name.split('-').nth(2), "canonical_name": name, "architecture": "aura-2",
            "languages": [language, format!("{language}-XX")], "version": "2026-01-01.0",
            "uuid": "u-1",
            "metadata": {"accent": "American", "age": "Adult", "tags": ["feminine", "clear"],
                "use_cases": ["Casual chat"]},
        })
    });
    json!({"stt": [{"name": "general", "canonical_name": "nova-3"}], "tts": tts.collect::<Vec<_>>()})
}
