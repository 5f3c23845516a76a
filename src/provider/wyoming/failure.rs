//! Failures of a Wyoming service -> errors by kind, with the way out.
//!
//! Entry types: [`Peer`], [`Role`]. **Never**: says what was to be spoken.

use std::io;

use super::event::Malformed;
use crate::provider::{Error, Kind, bounds::Bound};

/// Longest quotation of a service's words, in characters.
const MAX_QUOTE: usize = 200;

/// Purpose of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It hears.
    Recogniser,
    /// It speaks.
    Voice,
}

impl Role {
    /// Its name in errors.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Recogniser => "recogniser",
            Self::Voice => "voice service",
        }
    }

    /// One that there is, and where it listens if nobody says otherwise.
    pub const fn example(self) -> &'static str {
        match self {
            Self::Recogniser => "such as wyoming-faster-whisper, at port 10300",
            Self::Voice => "such as wyoming-piper, at port 10200",
        }
    }
}

/// The service at an address; makes errors about it.
#[derive(Clone, Debug)]
pub struct Peer {
    /// "tcp://127.0.0.1:10300".
    address: String,
    role: Role,
}

impl Peer {
    /// The service at `address`.
    pub fn new(address: &str, role: Role) -> Self {
        Self { address: address.to_owned(), role }
    }

    /// Host and port.
    pub fn host(&self) -> &str {
        self.address.strip_prefix("tcp://").unwrap_or(&self.address)
    }

    /// The purpose of the service.
    pub const fn role(&self) -> Role {
        self.role
    }

    /// An error of `kind`: what happened at this service and the way out.
    pub fn error(&self, kind: Kind, what: &str, way_out: &str) -> Error {
        Error::new(kind, format!("'{}': {what} ({way_out})", self.address))
    }

    /// Error for a service that cannot be reached.
    pub fn no_connection(&self, error: &io::Error) -> Error {
        if error.kind() == io::ErrorKind::ConnectionRefused {
            let (noun, example) = (self.role.noun(), self.role.example());
            let way_out = format!("start the {noun} there, {example}, or correct base_url");
            return self.error(Kind::Unreachable, "nothing listens there", &way_out);
        }
        self.error(Kind::Unreachable, "no connection", "check base_url and the network")
    }

    /// No answer in time.
    pub fn slow(&self) -> Error {
        let way_out = "is its model still loading? raise first_byte_timeout_ms";
        self.error(Kind::Timeout, "no answer in time", way_out)
    }

    /// It takes nothing in.
    pub fn full(&self) -> Error {
        let way_out = "look at the service's log, or raise idle_timeout_ms";
        self.error(Kind::Timeout, "it stopped accepting data", way_out)
    }

    /// It sends more than `bound`.
    pub fn flooding(&self, bound: Bound) -> Error {
        let what = format!("it sends more than {bound}");
        self.error(Kind::Protocol, &what, "look at the service's log")
    }

    /// The connection ended before `what`.
    pub fn interrupted(&self, what: &str) -> Error {
        let what = format!("the connection ended before {what}");
        self.error(Kind::Interrupted, &what, "try again, or look at the service's log")
    }

    /// Error for bytes that are no event.
    pub fn malformed(&self, malformed: &Malformed) -> Error {
        let what = format!("it sends {malformed}");
        self.error(Kind::Protocol, &what, "is this a Wyoming service? check base_url")
    }

    /// It says that something has failed; of what was `sent` nothing is repeated.
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
