//! Messages of the service, as far as they matter here.
//!
//! Entry type: [`Said`]. New kinds and codes come without notice: unknown ones keep their name, and
//! missing members count as empty.

use serde_json::Value;

use crate::provider::{Error, bounds::VALUES, deepgram::Peer};

/// Longest stored name of an unknown kind, in characters.
const NAME_MAX: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Aura: the sound of a flushed sentence is sent. Flux: only its text is taken.
    Flushed,
    /// Aura: all that was unspoken is dropped.
    Cleared,
    /// Flux: all sound of a sentence is sent.
    Whole,
    /// Flux: the sentence is cancelled, and its sound has ended.
    Interrupted,
    Warning(String),
    /// The service gives up.
    Error {
        code: String,
        text: String,
    },
    /// A known kind without use here.
    Known,
    Unknown(String),
    /// Not JSON, not an object with a type, or one with more than [`VALUES`].
    Garbled,
}

impl Said {
    pub fn read(message: &str) -> Self {
        if VALUES.check_values(message.as_bytes()).is_err() {
            return Self::Garbled;
        }
        let value: Value = serde_json::from_str(message).unwrap_or_default();
        let word = |key: &str| short(value.get(key).and_then(Value::as_str).unwrap_or_default());
        match value.get("type").and_then(Value::as_str) {
            Some("Flushed") => Self::Flushed,
            Some("Cleared") => Self::Cleared,
            Some("SpeechMetadata") => Self::Whole,
            Some("SpeechInterrupted") => Self::Interrupted,
            Some("Warning") => Self::Warning(word("code")),
            Some("Error") => {
                let text = value.get("description").and_then(Value::as_str);
                Self::Error { code: word("code"), text: text.unwrap_or_default().to_owned() }
            }
            Some("Metadata" | "Connected" | "SpeechStarted" | "SessionMetadata") => Self::Known,
            Some(other) => Self::Unknown(short(other)),
            None => Self::Garbled,
        }
    }

    /// Logs what has no use for a sentence; fails if the service gives up.
    pub fn settle(self, peer: &Peer) -> Result<(), Error> {
        match self {
            Self::Error { code, text } => return Err(peer.said(&code, &text)),
            Self::Warning(code) => peer.notes(&format!("warning {code}")),
            Self::Unknown(kind) => peer.notes(&format!("unknown message {kind}")),
            Self::Garbled => peer.notes("a message that is not a JSON object"),
            Self::Flushed | Self::Cleared | Self::Whole | Self::Interrupted | Self::Known => {}
        }
        Ok(())
    }
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(NAME_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Kind;

    #[test]
    fn unknown_messages_are_passed_over() {
        let peer = Peer::of_voices("http://127.0.0.1:9", None);
        let strange = ["[]", "x", r#"{"type":7}"#, r#"{"type":"Mood"}"#, r#"{"type":"Warning"}"#];
        for message in strange {
            assert!(Said::read(message).settle(&peer).is_ok(), "{message}");
        }
        assert_eq!(Said::read("[]"), Said::Garbled);
        let crowded = format!(r#"{{"type":"Flushed","of":[{}0]}}"#, "0,".repeat(VALUES.most()));
        assert_eq!(Said::read(&crowded), Said::Garbled);
        assert_eq!(Said::read(r#"{"type":"Mood\n"}"#), Said::Unknown("Mood".to_owned()));
        let error = Said::read(r#"{"type":"Error","code":"DATA-0002","description":"no"}"#);
        assert_eq!(error.settle(&peer).unwrap_err().kind(), Kind::InvalidRequest);
    }
}
