//! Errors about a speech-to-speech service, by kind, with the fix.
//!
//! Entry type: [`Peer`], which logs each oddity once. **Never**: a key in a message; a service's
//! own codes, which its client reads.

use std::time::Duration;

use reqwest::{StatusCode, header::HeaderMap};
use serde_json::Value;
use tokio_tungstenite::tungstenite::{self, protocol::CloseFrame};

use super::Options;
use crate::{
    domain::Secret,
    provider::{
        Error, Kind,
        bounds::{Bound, EVENT},
        remote::{begun, quotable, retry_after, shown_address, without_key},
        sockets::{NotOpened, Noted},
    },
};

/// Reads a service's reason for closing the socket.
type Closing = fn(&Peer, &CloseFrame) -> Error;

#[derive(Debug, Default)]
pub struct Told {
    /// Set if the service's code is known.
    pub kind: Option<Kind>,
    pub is_unpaid: bool,
    pub message: String,
}

#[derive(Debug)]
pub struct Peer {
    address: String,
    model: String,
    key: Option<Secret>,
    closing: Closing,
    noted: Noted,
}

impl Peer {
    /// `closing` reads the service's reason for closing a socket.
    pub fn new(options: &Options, closing: Closing) -> Self {
        let address = shown_address(&options.base_url);
        let (model, key) = (options.model.clone(), options.api_key.clone());
        Self { address, model, key, closing, noted: Noted::default() }
    }

    pub fn notes(&self, what: &str) {
        if self.noted.is_new(what) {
            tracing::warn!(what, "the voice model sends something unexpected; it is ignored");
        }
    }

    pub fn error(&self, kind: Kind, what: &str, fix: &str) -> Error {
        let (address, model) = (&self.address, &self.model);
        Error::new(kind, format!("\"{address}\", model \"{model}\": {what} ({fix})"))
    }

    /// Error for a socket that could not be opened; `reads` parses the service's error.
    pub fn not_opened(&self, why: &NotOpened, reads: fn(&Value) -> Told) -> Error {
        why.error(
            |(kind, what, fix)| self.error(kind, what, fix),
            |status, headers, body| {
                let json: Value = serde_json::from_slice(body).unwrap_or_default();
                self.refusal(status, headers, &reads(json.get("error").unwrap_or(&json)))
            },
        )
    }

    /// Error for a handshake answered by `status`.
    fn refusal(&self, status: StatusCode, headers: &HeaderMap, told: &Told) -> Error {
        let (what, fix) = match status.as_u16() {
            401 | 403 => ("the key was refused", "check api_key"),
            // Google's answer to a wrong key.
            400 if told.kind == Some(Kind::Unauthorized) => {
                ("the key was refused", "check api_key")
            }
            402 => ("the account has no credit", "check the account's plan and billing"),
            404 => (
                "not found",
                "check model and base_url (with /v1 for openai-realtime, without a version for gemini-live)",
            ),
            408 | 504 => ("the service gave up waiting", "try again"),
            429 if told.is_unpaid => {
                ("the account has no credit", "check the account's plan and billing")
            }
            429 => ("too many requests", "wait, or raise the account's limit"),
            300..400 => ("it redirects elsewhere", "write the address it redirects to as base_url"),
            400..500 => ("the request was refused", "check model and base_url"),
            500..600 => ("the service failed", "try again"),
            _ => ("not a WebSocket endpoint", "check base_url"),
        };
        let kind = match status.as_u16() {
            401..=403 => Kind::Unauthorized,
            408 | 504 => Kind::Timeout,
            429 if matches!(told.kind, Some(Kind::Crowded { .. })) => {
                Kind::Crowded { retry_after: retry_after(headers) }
            }
            429 => Kind::RateLimited { retry_after: retry_after(headers) },
            400..500 => told.kind.unwrap_or(Kind::InvalidRequest),
            500..600 => Kind::Unavailable,
            _ => Kind::Protocol,
        };
        let quote = self.quoted(&told.message);
        self.error(kind, &format!("{what} with status {}{quote}", status.as_u16()), fix)
    }

    /// No connection, or no answer to the setup, in time.
    pub fn slow(&self) -> Error {
        self.error(Kind::Timeout, "no answer in time", "try again, or raise first_byte_timeout_ms")
    }

    pub fn stuck(&self, waited: Duration) -> Error {
        let what = format!("it has taken nothing for {} s", waited.as_secs());
        self.error(Kind::Timeout, &what, "check the network, and speak again")
    }

    pub fn unstopped(&self, waited: Duration) -> Error {
        let seconds = waited.as_secs();
        let what = format!("a cancelled answer has not ended within {seconds} s");
        self.error(Kind::Timeout, &what, "speak again")
    }

    /// More than `most` events are queued.
    pub fn flooding(&self, most: usize) -> Error {
        let what = format!("it sends more than {most} events that nobody takes");
        self.error(Kind::Protocol, &what, "check base_url and model")
    }

    pub fn interrupted(&self) -> Error {
        self.error(Kind::Interrupted, "the connection broke off", "speak again")
    }

    pub fn closed(&self, frame: Option<&CloseFrame>) -> Error {
        frame.map_or_else(|| self.interrupted(), |frame| (self.closing)(self, frame))
    }

    /// Error of this `kind` for a closed socket.
    pub fn closed_as(&self, kind: Kind, frame: &CloseFrame, fix: &str) -> Error {
        let (code, quote) = (u16::from(frame.code), self.quoted(frame.reason.as_str()));
        self.error(kind, &format!("the service closed the connection ({code}){quote}"), fix)
    }

    pub fn broken(&self, error: &tungstenite::Error) -> Error {
        match error {
            tungstenite::Error::Capacity(_) => {
                let what = "a message exceeds the limit of 4 MiB";
                self.error(Kind::Protocol, what, "check base_url and model")
            }
            tungstenite::Error::Utf8 => {
                self.error(Kind::Protocol, "a message is not UTF-8", "please report this")
            }
            _ => self.interrupted(),
        }
    }

    /// Error for a message of type `kind` that exceeds the limit.
    pub fn oversized(&self, kind: &str) -> Error {
        let what = format!("an event \"{kind}\" exceeds the limit of {EVENT}");
        self.error(Kind::Protocol, &what, "check base_url and model")
    }

    /// The service's `message`, safe to print: one short line without the key.
    pub fn quote(&self, message: &str) -> String {
        quotable(&without_key(begun(message), self.key.as_ref()))
    }

    /// Like [`Self::quote`], after a colon; empty for an empty message.
    pub fn quoted(&self, message: &str) -> String {
        match self.quote(message) {
            quote if quote.is_empty() => quote,
            quote => format!(": \"{quote}\""),
        }
    }
}

/// Reason for an answer that exceeds `bound`.
pub fn exceeds(bound: Bound) -> String {
    format!("the answer exceeds the limit of {bound}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_of_megabytes_is_cut_before_the_search() {
        let peer = Peer::new(&Options::of_tests("http://127.0.0.1:9/v1/"), |peer, _| peer.slow());
        let long = format!("{}sk-very-secret{}", "x ".repeat(1020), "y".repeat(1 << 20));
        let quote = peer.quote(&long);
        assert!(quote.len() <= 800 && !quote.contains("very"), "{quote}");
        assert_eq!(begun(&"x".repeat(1 << 20)), "");
        assert!(!format!("{peer:?}").contains("very"));
    }
}
