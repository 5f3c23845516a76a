//! A service with a model, in errors and in the log.
//!
//! Entry type: [`Peer`], which logs each oddity once. **Never**: a key in a message.

use serde_json::Value;
use tokio_tungstenite::tungstenite::{self, Message, protocol::CloseFrame};

use super::{Options, SocketFailure, dialect::Refusal};
use crate::{
    domain::Secret,
    provider::{
        Error, Kind,
        bounds::VALUES,
        remote::{begun, quotable, shown_address, without_key},
        sockets::{Noted, Reason},
    },
};

#[derive(Debug)]
pub struct Peer {
    service: &'static str,
    address: String,
    model: String,
    key: Option<Secret>,
    noted: Noted,
}

impl Peer {
    /// `service` is its short name.
    pub fn new(service: &'static str, options: &Options) -> Self {
        let address = shown_address(&options.base_url);
        let (model, key) = (options.model.clone(), options.api_key.clone());
        Self { service, address, model, key, noted: Noted::default() }
    }

    pub fn notes(&self, what: &str) {
        if self.noted.is_new(what) {
            let service = self.service;
            tracing::warn!(service, what, "a voice service sent something unexpected; continuing");
        }
    }

    pub fn error(&self, kind: Kind, what: &str, fix: &str) -> Error {
        let (address, model) = (&self.address, &self.model);
        Error::new(kind, format!("'{address}', model '{model}': {what} ({fix})"))
    }

    pub fn reason(&self, (kind, what, fix): Reason) -> Error {
        self.error(kind, what, fix)
    }

    /// Error for a failed socket. The service phrases refused requests and its own closing.
    pub fn failure(
        &self,
        failure: SocketFailure<'_>,
        refusal: impl FnOnce(Refusal<'_>) -> Error,
        closed: impl FnOnce(&CloseFrame) -> Error,
    ) -> Error {
        match failure {
            SocketFailure::NotOpened(why) => why.error(
                |reason| self.reason(reason),
                |status, headers, body| refusal(Refusal { status, headers, body }),
            ),
            SocketFailure::Slow => self.slow(),
            SocketFailure::Silent => {
                let fix = "try again, or raise idle_timeout_ms";
                self.error(Kind::Timeout, "its sound has stopped", fix)
            }
            SocketFailure::Full(most) => {
                let what = format!("all {most} streams are in use");
                let kind = Kind::Crowded { retry_after: None };
                self.error(kind, &what, "raise max_streams, if the plan gives more")
            }
            SocketFailure::Closed(Some(frame)) => closed(frame),
            SocketFailure::Broken(tungstenite::Error::Capacity(_) | tungstenite::Error::Utf8) => {
                let what = "cannot read a message of the service";
                self.error(Kind::Protocol, what, "please report this")
            }
            SocketFailure::Closed(None) | SocketFailure::Broken(_) => {
                self.error(Kind::Interrupted, "the connection broke off", "try again")
            }
            SocketFailure::Flooding(bound) => {
                let what = format!("it sends more than {bound}");
                self.error(Kind::Protocol, &what, "try again, or check base_url")
            }
            SocketFailure::NoSound => {
                let what = "it sends no sound for a sentence";
                self.error(Kind::Protocol, what, "check model and the voice's voice_id")
            }
        }
    }

    pub fn slow(&self) -> Error {
        self.error(Kind::Timeout, "no answer in time", "try again, or raise first_byte_timeout_ms")
    }

    /// Error for sound that cannot be decoded.
    pub fn not_sound(&self) -> Error {
        self.error(Kind::Protocol, "its sound is not base64", "check base_url and model")
    }

    /// The service's `message` behind a colon, safe to print: one short line without the key.
    pub fn quoted(&self, message: &str) -> String {
        match quotable(&without_key(begun(message), self.key.as_ref())) {
            quote if quote.is_empty() => quote,
            quote => format!(": \"{quote}\""),
        }
    }

    /// The service's label in brackets, behind a blank; empty: there is none, or it has the key.
    pub fn labelled(&self, label: &str) -> String {
        let key = self.key.as_ref().map(|key| key.0.to_ascii_lowercase());
        let key = key.filter(|key| !key.is_empty());
        let has_key = key.is_some_and(|key| label.to_ascii_lowercase().contains(&key));
        if label.is_empty() || has_key { String::new() } else { format!(" ({})", quotable(label)) }
    }

    /// The JSON object of a message; `None`: it is something else.
    pub fn read(&self, message: &Message) -> Result<Option<Value>, Error> {
        let bytes = match message {
            Message::Text(text) => text.as_bytes(),
            Message::Binary(bytes) => bytes.as_ref(),
            _ => return Ok(None),
        };
        if VALUES.check_values(bytes).is_err() {
            let what = format!("a message exceeds the limit of {VALUES}");
            return Err(self.error(Kind::Protocol, &what, "check base_url and model"));
        }
        let json = serde_json::from_slice::<Value>(bytes).ok().filter(Value::is_object);
        if json.is_none() {
            self.notes("a message that is not a JSON object");
        }
        Ok(json)
    }
}
