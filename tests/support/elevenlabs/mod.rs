//! A loopback ElevenLabs for tests: the multi-context socket, and the account's voices.
//!
//! Entry types: [`ElevenLabsServer`], [`Fault`]. Each character sounds for 60 ms; sound comes at once, in
//! chunks with the times of their characters. It runs on a thread of its own, so paused time in a test does
//! not touch it. **Never**: takes what the real service would refuse (`session.rs`).

mod session;
mod voices;

use serde_json::{Value, json};

use super::socket_server::{Asked, Refusal, Service, Socket, SocketServer};
use session::Session;

/// A voice of the account.
pub const GEORGE: &str = "JBFqnCBsd6RMkjVDRZzb";
/// Sound of a character, in milliseconds.
pub const CHARACTER: usize = 60;

/// A running service; it ends when dropped.
pub type ElevenLabsServer = SocketServer<ElevenLabs>;

/// The protocol.
#[derive(Default)]
pub struct ElevenLabs;

/// One handshake, and what came after it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// "/v1/text-to-speech/VOICE/multi-stream-input".
    pub path: String,
    pub query: Vec<(String, String)>,
    /// Reason for its refusal, or for that of a message.
    pub refused: Option<String>,
    /// As they came.
    pub messages: Vec<Value>,
    /// Characters.
    pub billed: usize,
    /// Reason for its end, once it has ended.
    pub ended: Option<String>,
}

impl Seen {
    /// Texts to be spoken.
    pub fn said(&self) -> Vec<&str> {
        let texts = self.messages.iter().filter_map(|it| it["text"].as_str());
        texts.map(str::trim).filter(|text| !text.is_empty()).collect()
    }

    /// Contexts that were closed.
    pub fn closed(&self) -> usize {
        self.messages.iter().filter(|it| it["close_context"] == true).count()
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
    /// Nothing comes after this number of chunks until the context is closed.
    Hold(usize),
    /// Like [`Fault::Hold`], and a closed context sounds once more before it ends.
    Late(usize),
    /// An error frame with this label in place of sound.
    Error(&'static str),
    /// The connection is gone when a second context is opened.
    Gone,
    /// Gone once a text is spoken, with the error for a turn without further text.
    Expire,
    /// All sound is silence.
    Mute,
    /// Many pings and unknown messages, in text and binary frames.
    Strange,
}

impl Service for ElevenLabs {
    type Seen = Seen;
    type Fault = Fault;
    /// The voice.
    type Agreed = String;

    fn answer(asked: &Asked, key: &str) -> Option<(&'static str, Value)> {
        asked.path.starts_with("/v2/voices").then(|| voices::answer(asked, key))
    }

    fn handshake(asked: Asked, key: &str) -> (Seen, Result<String, Refusal>) {
        let judged = if asked.header("xi-api-key") == Some(key) {
            let refused = |(status, label)| Refusal::new(status, detail(label, "refused"));
            session::asked(&asked).map_err(refused)
        } else {
            Err(Refusal::new(401, detail("invalid_api_key", "Invalid API key")))
        };
        (Seen { path: asked.path, query: asked.query, ..Seen::default() }, judged)
    }

    fn scripted(fault: &Fault) -> Option<Refusal> {
        let Fault::Refuse(status, headers, body) = fault else { return None };
        Some(Refusal::scripted(*status, headers, body))
    }

    fn refused(seen: &mut Seen) -> &mut Option<String> {
        &mut seen.refused
    }

    async fn serve(socket: Socket<Self>, voice: String) {
        Session::new(socket).serve(&voice).await;
    }
}

fn detail(status: &str, message: &str) -> Value {
    json!({"detail": {"status": status, "message": message}})
}
