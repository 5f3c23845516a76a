//! A loopback Cartesia for tests: the socket of Sonic, and the list of voices.
//!
//! Entry types: [`CartesiaServer`], [`Fault`]. Each character sounds for 60 ms; sound comes at once, in chunks,
//! before the times of its words. It runs on a thread of its own, so paused time in a test does not touch it.
//! **Never**: takes what the real service would refuse (`request.rs`, `session.rs`).

mod request;
mod session;
mod voices;

use serde_json::{Value, json};

use super::socket_server::{Asked, Refusal, Service, Socket, SocketServer};
use session::Session;

/// A voice of the service.
pub const BARKEEP: &str = "a0e99841-438c-4a64-b679-ae501e7d6091";
/// Sound of a character, in milliseconds.
pub const CHARACTER: usize = 60;
/// Version in which a voice has a mode.
const OLDER: &str = "2026-03-01";
const NEWER: &str = "2026-08-14";

/// A running service; it ends when dropped.
pub type CartesiaServer = SocketServer<Cartesia>;

/// The protocol.
#[derive(Default)]
pub struct Cartesia;

/// One handshake, and what came after it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Reason for its refusal, or for that of a message.
    pub refused: Option<String>,
    /// As they came.
    pub messages: Vec<Value>,
}

impl Seen {
    /// Texts to be spoken.
    pub fn said(&self) -> Vec<&str> {
        let texts = self.messages.iter().filter_map(|it| it["transcript"].as_str());
        texts.filter(|text| !text.is_empty()).collect()
    }

    /// Contexts that were cancelled.
    pub fn cancelled(&self) -> usize {
        self.messages.iter().filter(|it| it["cancel"] == true).count()
    }
}

/// Fault of one socket.
#[derive(Clone, Debug, Default)]
pub enum Fault {
    #[default]
    None,
    /// The handshake is answered by this status, these headers and this body.
    Refuse(u16, Vec<(&'static str, &'static str)>, Value),
    /// The connection is gone after this number of chunks.
    Cut(usize),
    /// Closed after this number of chunks: with a code and a reason, or without.
    Close(usize, Option<(u16, &'static str)>),
    /// Nothing comes after this number of chunks until the context is cancelled, which is confirmed.
    Hold(usize),
    /// Like [`Fault::Hold`], but a cancelled context sounds once more, and its end is not confirmed.
    Late(usize),
    /// An error with this status and this code in place of sound.
    Error(u16, Option<&'static str>),
    /// Phonemes that were not asked for, and many unknown messages, in text and binary frames.
    Strange,
}

impl Service for Cartesia {
    type Seen = Seen;
    type Fault = Fault;
    /// The version.
    type Agreed = String;

    fn answer(asked: &Asked, key: &str) -> Option<(&'static str, Value)> {
        asked.path.starts_with("/voices").then(|| voices::answer(asked, key))
    }

    fn handshake(asked: Asked, key: &str) -> (Seen, Result<String, Refusal>) {
        let refused = |(status, message)| Refusal::new(status, error(None, message));
        (Seen::default(), version(&asked, key).map_err(refused))
    }

    fn scripted(fault: &Fault) -> Option<Refusal> {
        let Fault::Refuse(status, headers, body) = fault else { return None };
        Some(Refusal::scripted(*status, headers, body))
    }

    fn refused(seen: &mut Seen) -> &mut Option<String> {
        &mut seen.refused
    }

    async fn serve(socket: Socket<Self>, version: String) {
        Session::new(socket).serve(&version).await;
    }
}

/// The version of a handshake, or its refusal.
fn version(asked: &Asked, key: &str) -> Result<String, (u16, &'static str)> {
    let bearer = asked.header("authorization").and_then(|it| it.strip_prefix("Bearer "));
    if asked.path != "/tts/websocket" {
        return Err((404, "not found"));
    }
    if ![bearer, asked.header("x-api-key")].contains(&Some(key)) {
        return Err((401, "Invalid API key"));
    }
    let version = asked.value("cartesia_version").or_else(|| asked.header("cartesia-version"));
    let version = version.ok_or((400, "Cartesia-Version is missing"))?;
    if [OLDER, NEWER].contains(&version) {
        Ok(version.to_owned())
    } else {
        Err((400, "no such version"))
    }
}

/// Body of a refusal.
fn error(code: Option<&str>, message: &str) -> Value {
    json!({"title": "Refused", "message": message, "error_code": code, "request_id": "r-1"})
}
