//! Failures of a Wyoming service -> errors by kind, with the fix.
//!
//! Entry types: [`Peer`], [`Role`]. **Never**: repeats the text that was to be spoken.

use std::io;

use super::event::Malformed;
use crate::provider::{Error, Kind, bounds::Bound};

/// Longest quotation of a service's message, in characters.
const MAX_QUOTE: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Recogniser,
    Voice,
}

impl Role {
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Recogniser => "recogniser",
            Self::Voice => "voice service",
        }
    }

    pub const fn example(self) -> &'static str {
        match self {
            Self::Recogniser => "such as wyoming-faster-whisper, at port 10300",
            Self::Voice => "such as wyoming-piper, at port 10200",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Peer {
    /// "tcp://127.0.0.1:10300".
    address: String,
    role: Role,
}

impl Peer {
    pub fn new(address: &str, role: Role) -> Self {
        Self { address: address.to_owned(), role }
    }

    pub fn host(&self) -> &str {
        self.address.strip_prefix("tcp://").unwrap_or(&self.address)
    }

    pub const fn role(&self) -> Role {
        self.role
    }

    pub fn error(&self, kind: Kind, what: &str, way_out: &str) -> Error {
        Error::new(kind, format!("'{}': {what} ({way_out})", self.address))
    }

    pub fn no_connection(&self, error: &io::Error) -> Error {
        if error.kind() == io::ErrorKind::ConnectionRefused {
            let (noun, example) = (self.role.noun(), self.role.example());
            let way_out = format!("start the {noun} there, {example}, or correct base_url");
            return self.error(Kind::Unreachable, "nothing listens there", &way_out);
        }
        self.error(Kind::Unreachable, "no connection", "check base_url and the network")
    }

    pub fn slow(&self) -> Error {
        let way_out = "is its model still loading? raise first_byte_timeout_ms";
        self.error(Kind::Timeout, "no answer in time", way_out)
    }

    /// The service does not read what is sent.
    pub fn full(&self) -> Error {
        let way_out = "look at the service's log, or raise idle_timeout_ms";
        self.error(Kind::Timeout, "it stopped accepting data", way_out)
    }

    pub fn flooding(&self, bound: Bound) -> Error {
        let what = format!("it sends more than {bound}");
        self.error(Kind::Protocol, &what, "look at the service's log")
    }

    pub fn interrupted(&self, what: &str) -> Error {
        let what = format!("the connection ended before {what}");
        self.error(Kind::Interrupted, &what, "try again, or look at the service's log")
    }

    pub fn malformed(&self, malformed: &Malformed) -> Error {
        let what = format!("it sends {malformed}");
        self.error(Kind::Protocol, &what, "is this a Wyoming service? check base_url")
    }

    /// The service's own error; repeats nothing of what was `sent`.
    pub fn failed(&self, text: &str, sent: &str) -> Error {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (mut text, sent) = (one_line(text), one_line(sent));
        if sent.chars().count() > 3 {
            text = text.replace(&sent, "…");
        }
        let quote: String = text.replace('"', "'").chars().take(MAX_QUOTE).collect();
        let what = match quote.is_empty() {
            true => "the service failed".to_owned(),
            false => format!("the service failed: \"{quote}\""),
        };
        self.error(Kind::Unavailable, &what, "look at the service's log")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_do_not_repeat_spoken_text() {
        let peer = Peer::new("tcp://127.0.0.1:10200", Role::Voice);
        let error =
            peer.failed("cannot say 'The  signet\nis mine.' \"now\"", "The signet is mine.");
        assert_eq!(
            error.to_string(),
            "'tcp://127.0.0.1:10200': the service failed: \"cannot say '…' 'now'\" (look at the \
             service's log)"
        );
        assert!(peer.failed(&"x".repeat(10_000), "").to_string().len() < 300);
    }
}
