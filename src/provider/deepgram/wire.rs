//! Messages of the service, as far as they matter here.
//!
//! Entry type: [`Said`]. New kinds and values come without notice: unknown ones keep their name,
//! and missing members count as empty.

use serde_json::Value;

/// Longest stored name of an unknown kind, in characters.
const NAME_MAX: usize = 40;

#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    Results(Results),
    /// The service heard a pause.
    UtteranceEnd,
    Turn(TurnInfo),
    Connected,
    /// Last message of a closing socket.
    Metadata,
    /// New names are accepted.
    Configured,
    /// New names are refused, with the error's code.
    NotConfigured(String),
    Warning(String),
    /// The service gives up.
    Error {
        code: String,
        text: String,
    },
    /// A known kind without use here.
    Known,
    Unknown(String),
    /// Not JSON, or not an object with a type.
    Garbled,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Text of this part of the sound.
    pub transcript: String,
    /// Final: the next result follows it.
    pub is_final: bool,
    /// Answers a `Finalize`.
    pub from_finalize: bool,
    /// Sound heard so far, in seconds since the socket was opened.
    pub until: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TurnInfo {
    pub event: TurnEvent,
    pub transcript: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEvent {
    Start,
    Update,
    EagerEnd,
    /// An early end was wrong.
    Resumed,
    End,
    Other(String),
}

impl Said {
    /// Parses a message, with its number where the service numbers them.
    pub fn read(message: &[u8]) -> (Self, Option<u64>) {
        let Ok(value) = serde_json::from_slice::<Value>(message) else {
            return (Self::Garbled, None);
        };
        let number = value.get("sequence_id").and_then(Value::as_u64);
        (Self::of(&value), number)
    }

    fn of(value: &Value) -> Self {
        let Some(kind) = value.get("type").and_then(Value::as_str) else { return Self::Garbled };
        match kind {
            "Results" => Self::Results(Results::of(value)),
            "UtteranceEnd" => Self::UtteranceEnd,
            "TurnInfo" => Self::Turn(TurnInfo::of(value)),
            "Connected" => Self::Connected,
            "Metadata" => Self::Metadata,
            "ConfigureSuccess" => Self::Configured,
            "ConfigureFailure" => Self::NotConfigured(name(value, "code")),
            "Warning" => Self::Warning(name(value, "code")),
            "SpeechStarted" => Self::Known,
            "Error" => {
                let code = ["code", "variant"].into_iter().find(|key| value.get(key).is_some());
                let text = text(value, "description");
                let text = if text.is_empty() { self::text(value, "message") } else { text };
                Self::Error { code: name(value, code.unwrap_or_default()), text }
            }
            other => Self::Unknown(short(other)),
        }
    }
}

impl Results {
    fn of(value: &Value) -> Self {
        let flag = |key| value.get(key).and_then(Value::as_bool).unwrap_or_default();
        let number = |key| value.get(key).and_then(Value::as_f64).unwrap_or_default();
        let transcript = value.pointer("/channel/alternatives/0/transcript");
        Self {
            transcript: transcript.and_then(Value::as_str).unwrap_or_default().trim().to_owned(),
            is_final: flag("is_final") || flag("speech_final") || flag("from_finalize"),
            from_finalize: flag("from_finalize"),
            until: number("start") + number("duration"),
        }
    }
}

impl TurnInfo {
    fn of(value: &Value) -> Self {
        let event = match value.get("event").and_then(Value::as_str).unwrap_or_default() {
            "StartOfTurn" => TurnEvent::Start,
            "Update" => TurnEvent::Update,
            "EagerEndOfTurn" => TurnEvent::EagerEnd,
            "TurnResumed" => TurnEvent::Resumed,
            "EndOfTurn" => TurnEvent::End,
            other => TurnEvent::Other(short(other)),
        };
        Self { event, transcript: text(value, "transcript").trim().to_owned() }
    }
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A short word under `key`.
fn name(value: &Value, key: &str) -> String {
    short(value.get(key).and_then(Value::as_str).unwrap_or_default())
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(NAME_MAX).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> Said {
        Said::read(value.to_string().as_bytes()).0
    }

    #[test]
    fn results_tolerate_extra_and_missing_fields() {
        let results = json!({"type": "Results", "start": 1.5, "duration": 0.5, "is_final": true,
            "speech_final": false, "new": {}, "channel": {"alternatives": [
                {"transcript": " well met ", "confidence": "high", "words": null}]}});
        let heard = Results {
            transcript: "well met".to_owned(),
            is_final: true,
            until: 2.0,
            ..Results::default()
        };
        assert_eq!(read(&results), Said::Results(heard));
        assert_eq!(read(&json!({"type": "Results"})), Said::Results(Results::default()));
    }

    #[test]
    fn turns_carry_numbers_and_unknown_event_names() {
        let turn = json!({"type": "TurnInfo", "sequence_id": 7, "event": "EagerEndOfTurn",
            "transcript": "well met", "trigger": "unheard-of"});
        let turn_info = TurnInfo { event: TurnEvent::EagerEnd, transcript: "well met".to_owned() };
        let (said, number) = Said::read(turn.to_string().as_bytes());
        assert_eq!((said, number), (Said::Turn(turn_info), Some(7)));
        let other = json!({"type": "TurnInfo", "event": "Whispered"});
        let event = TurnEvent::Other("Whispered".to_owned());
        let transcript = String::new();
        assert_eq!(read(&other), Said::Turn(TurnInfo { event, transcript }));
    }

    #[test]
    fn garbled_messages_differ_from_unknown_types() {
        assert_eq!(Said::read(b"\xff\xfe").0, Said::Garbled);
        assert_eq!(read(&json!(["Results"])), Said::Garbled);
        assert_eq!(read(&json!({"type": "Mood"})), Said::Unknown("Mood".to_owned()));
        let schema = json!({"type": "Error", "variant": "SchemaError", "message": "what?"});
        let error = Said::Error { code: "SchemaError".to_owned(), text: "what?".to_owned() };
        assert_eq!(read(&schema), error);
    }
}
