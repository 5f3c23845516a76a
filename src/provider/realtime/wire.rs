//! Events of the service, as far as they matter here.
//!
//! Entry type: [`Said`]. New kinds and values appear without notice: an unknown kind keeps its
//! name, and missing members are empty. Events are parsed into a document only below the bound of
//! events; sound, which may be larger, and ignored kinds are read without one.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::Value;

use super::usage;
use crate::provider::{SpeechUsage, bounds::EVENT, speech_to_speech::answer::Called};

/// Longest name kept of an unknown kind, in characters.
const NAME_MAX: usize = 40;
/// Longest id of a response, item or call, in bytes; a longer one makes the event garbled.
const ID_MAX: usize = 256;

/// Kinds that are parsed into a document; the last four hold words.
const READ: [&str; 10] = [
    "response.created",
    "response.output_item.added",
    "response.function_call_arguments.done",
    "response.output_item.done",
    "response.done",
    "error",
    "response.output_audio_transcript.delta",
    "response.audio_transcript.delta",
    "response.output_text.delta",
    "response.text.delta",
];

#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    Created,
    Updated,
    /// An answer begins; id of its response.
    Begun(Option<String>),
    Audio {
        at: Part,
        /// 16-bit little-endian samples at 24 kHz; a sample may be split between events.
        bytes: Vec<u8>,
    },
    Words {
        at: Part,
        delta: String,
    },
    /// A call begins in the answer with this id.
    Calling(Option<String>),
    /// A call with complete arguments. It counts only if its answer completes.
    Call {
        response: Option<String>,
        call: Called,
    },
    Ended(Box<Ended>),
    Error(Complaint),
    Oversized(String),
    /// An ignored kind.
    Known,
    /// An unknown kind, by name.
    Unknown(String),
    /// Not a JSON object with a type, or an unusable one.
    Garbled,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub response: Option<String>,
    pub item: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ended {
    pub response: Option<String>,
    /// "completed", "cancelled", "incomplete", "failed".
    pub status: String,
    pub reason: String,
    pub error: Complaint,
    pub calls: Vec<Called>,
    pub usage: Option<SpeechUsage>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Complaint {
    /// Such as "invalid_request_error".
    pub kind: String,
    /// Such as "session_expired".
    pub code: String,
    /// Unchanged and of any length.
    pub message: String,
    /// Our id of the event that caused it.
    pub about: Option<String>,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Sound<'a> {
    #[serde(borrow, default)]
    response_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    item_id: Cow<'a, str>,
    #[serde(borrow)]
    delta: Cow<'a, str>,
}

impl Said {
    pub fn read(message: &[u8]) -> Self {
        // serde would read a list as the fields of an event, in order.
        if !message.trim_ascii_start().starts_with(b"{") {
            return Self::Garbled;
        }
        let Ok(head) = serde_json::from_slice::<Head<'_>>(message) else { return Self::Garbled };
        let kind = &*head.kind;
        match kind {
            "session.created" => Self::Created,
            "session.updated" => Self::Updated,
            "response.output_audio.delta" | "response.audio.delta" => {
                Self::audio(message).unwrap_or(Self::Garbled)
            }
            kind if !READ.contains(&kind) => {
                if is_known(kind) {
                    Self::Known
                } else {
                    Self::Unknown(short(kind))
                }
            }
            kind if EVENT.check(message.len()).is_err() => Self::Oversized(kind.to_owned()),
            kind => {
                let value = serde_json::from_slice(message).ok();
                value.and_then(|value| Self::of(kind, &value)).unwrap_or(Self::Garbled)
            }
        }
    }

    fn audio(message: &[u8]) -> Option<Self> {
        let sound: Sound<'_> = serde_json::from_slice(message).ok()?;
        let response = match sound.response_id {
            Some(response) => Some(checked(&response)?),
            None => None,
        };
        let at = Part { response, item: checked(&sound.item_id)? };
        Some(Self::Audio { at, bytes: STANDARD.decode(&*sound.delta).ok()? })
    }

    /// Reads an event of a kind in [`READ`].
    fn of(kind: &str, value: &Value) -> Option<Self> {
        Some(match kind {
            "response.created" => Self::Begun(id(value, "/response/id")?),
            "response.output_item.added" => match value.get("item").filter(|item| is_call(item)) {
                Some(_) => Self::Calling(id(value, "/response_id")?),
                None => Self::Known,
            },
            "response.function_call_arguments.done" => Self::call(value, value)?,
            "response.output_item.done" => match value.get("item").filter(|item| is_call(item)) {
                Some(item) => Self::call(value, item)?,
                None => Self::Known,
            },
            "response.done" => Self::Ended(Box::new(Ended::of(value.get("response")?)?)),
            "error" => Self::Error(Complaint::of(value.get("error").unwrap_or(value))),
            _ => {
                let item = id(value, "/item_id")?.unwrap_or_default();
                let at = Part { response: id(value, "/response_id")?, item };
                Self::Words { at, delta: text(value, "/delta") }
            }
        })
    }

    fn call(value: &Value, call: &Value) -> Option<Self> {
        let response = id(value, "/response_id")?;
        Some(Self::Call { response, call: called(call)? })
    }
}

fn called(value: &Value) -> Option<Called> {
    Some(Called {
        id: id(value, "/call_id")?.unwrap_or_default(),
        name: text(value, "/name"),
        arguments: text(value, "/arguments"),
    })
}

impl Ended {
    fn of(response: &Value) -> Option<Self> {
        let items = response.get("output").and_then(Value::as_array).map(Vec::as_slice);
        let items = items.unwrap_or_default();
        let mut error = response.pointer("/status_details/error");
        if error.is_some_and(Value::is_null) {
            error = None;
        }
        Some(Self {
            response: id(response, "/id")?,
            status: name(response, "/status"),
            reason: name(response, "/status_details/reason"),
            error: error.map(Complaint::of).unwrap_or_default(),
            calls: items.iter().filter(|item| is_call(item)).filter_map(called).collect(),
            usage: response.get("usage").and_then(usage::read),
        })
    }
}

impl Complaint {
    /// Reads an error object; a bare text is its message.
    pub fn of(value: &Value) -> Self {
        let message = match value {
            Value::String(message) => message.clone(),
            _ => text(value, "/message"),
        };
        let about = value.pointer("/event_id").and_then(Value::as_str).map(short);
        Self { kind: name(value, "/type"), code: name(value, "/code"), message, about }
    }

    pub fn is_expiry(&self) -> bool {
        self.code == "session_expired"
    }

    /// Its code, else its type; may be empty.
    pub fn label(&self) -> &str {
        if self.code.is_empty() { &self.kind } else { &self.code }
    }
}

/// Kinds without news: acknowledgements, and copies of complete parts.
fn is_known(kind: &str) -> bool {
    let families = [
        "conversation.item.",
        "conversation.created",
        "input_audio_buffer.",
        "output_audio_buffer.",
        "rate_limits.",
        "response.output_item.",
        "response.content_part.",
        "response.output_audio.",
        "response.audio.",
        "response.output_audio_transcript.",
        "response.audio_transcript.",
        "response.output_text.",
        "response.text.",
        "response.function_call_arguments.",
    ];
    families.iter().any(|family| kind.starts_with(family))
}

fn is_call(item: &Value) -> bool {
    item.get("type").and_then(Value::as_str) == Some("function_call")
}

fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn name(value: &Value, pointer: &str) -> String {
    short(value.pointer(pointer).and_then(Value::as_str).unwrap_or_default())
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(NAME_MAX).collect()
}

/// The id at `pointer`; `None`: too long.
#[expect(clippy::option_option, reason = "a missing id is taken, a false one is not")]
fn id(value: &Value, pointer: &str) -> Option<Option<String>> {
    match value.pointer(pointer).and_then(Value::as_str) {
        Some(id) => checked(id).map(Some),
        None => Some(None),
    }
}

fn checked(id: &str) -> Option<String> {
    (id.len() <= ID_MAX).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> Said {
        Said::read(value.to_string().as_bytes())
    }

    fn place(response: &str, item: &str) -> Part {
        Part { response: Some(response.to_owned()), item: item.to_owned() }
    }

    #[test]
    fn sound_is_read_beside_unknown_members() {
        let event = json!({"type": "response.output_audio.delta", "event_id": "e1",
            "response_id": "r1", "item_id": "i1", "delta": "AQACAAM=", "new": {"a": [1, null]}});
        let bytes = vec![1, 0, 2, 0, 3];
        assert_eq!(read(&event), Said::Audio { at: place("r1", "i1"), bytes });
        let bare = json!({"type": "response.output_audio.delta", "delta": ""});
        assert_eq!(read(&bare), Said::Audio { at: Part::default(), bytes: vec![] });
        let no_base64 = json!({"type": "response.output_audio.delta", "delta": "?"});
        assert_eq!(read(&no_base64), Said::Garbled);
    }

    #[test]
    fn words_are_read_in_both_forms() {
        for kind in ["response.output_audio_transcript.delta", "response.output_text.delta"] {
            let event =
                json!({"type": kind, "response_id": "r", "item_id": "i", "delta": "Well met"});
            let delta = "Well met".to_owned();
            assert_eq!(read(&event), Said::Words { at: place("r", "i"), delta });
        }
    }

    #[test]
    fn calls_are_read_in_both_forms() {
        let call = Called {
            id: "c1".to_owned(),
            name: "roll".to_owned(),
            arguments: "{\"sides\":20}".to_owned(),
        };
        let wanted = Said::Call { response: Some("r".to_owned()), call };
        let done = json!({"type": "response.function_call_arguments.done", "response_id": "r",
            "call_id": "c1", "name": "roll", "arguments": "{\"sides\":20}"});
        assert_eq!(read(&done), wanted);
        let item = json!({"type": "response.output_item.done", "response_id": "r", "item": {
            "type": "function_call", "call_id": "c1", "name": "roll", "arguments": "{\"sides\":20}"}});
        assert_eq!(read(&item), wanted);
        let message = json!({"type": "response.output_item.done", "item": {"type": "message"}});
        assert_eq!(read(&message), Said::Known);
    }

    #[test]
    fn end_is_read_with_reason_and_calls() {
        let event = json!({"type": "response.done", "response": {"id": "r", "status": "incomplete",
            "status_details": {"type": "incomplete", "reason": "content_filter", "error": null},
            "output": [{"type": "message"}, {"type": "function_call", "call_id": "c"}],
            "usage": null}});
        let wanted = Ended {
            response: Some("r".to_owned()),
            status: "incomplete".to_owned(),
            reason: "content_filter".to_owned(),
            calls: vec![Called { id: "c".to_owned(), ..Called::default() }],
            ..Ended::default()
        };
        assert_eq!(read(&event), Said::Ended(Box::new(wanted)));
        let bare = json!({"type": "response.done", "response": {}});
        assert_eq!(read(&bare), Said::Ended(Box::default()));
    }

    #[test]
    fn error_keeps_what_it_is_about() {
        let event = json!({"type": "error", "event_id": "theirs", "error": {
            "type": "invalid_request_error", "code": null, "message": "no", "event_id": "answer_1"}});
        let Said::Error(said) = read(&event) else { panic!("no error") };
        assert_eq!((said.label(), said.message.as_str()), ("invalid_request_error", "no"));
        assert_eq!(said.about.as_deref(), Some("answer_1"));
        assert!(!said.is_expiry());
    }

    #[test]
    fn unknown_kinds_differ_from_no_event() {
        assert_eq!(
            read(&json!({"type": "mood.changed"})),
            Said::Unknown("mood.changed".to_owned())
        );
        assert_eq!(read(&json!({"type": "rate_limits.updated"})), Said::Known);
        assert_eq!(read(&json!({"type": 7})), Said::Garbled);
        assert_eq!(read(&json!(["session.created"])), Said::Garbled);
        assert_eq!(Said::read(b"\xff\xfe"), Said::Garbled);
    }

    #[test]
    fn event_over_the_bound_is_not_read() {
        let long = "x".repeat(1 << 20);
        let event = json!({"type": "response.output_text.delta", "delta": &long});
        assert_eq!(read(&event), Said::Oversized("response.output_text.delta".to_owned()));
        let sound = json!({"type": "response.output_audio.delta", "delta": "AAAA".repeat(300_000)});
        assert!(matches!(read(&sound), Said::Audio { bytes, .. } if bytes.len() == 900_000));
        let updated = json!({"type": "session.updated", "session": {"instructions": long}});
        assert_eq!(read(&updated), Said::Updated);
        let long_id = json!({"type": "response.created", "response": {"id": "x".repeat(257)}});
        assert_eq!(read(&long_id), Said::Garbled);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Said::read(&bytes);
        }
    }
}
