//! Messages of the service, as far as they matter here.
//!
//! Entry function: [`read`]. One message may contain several items, which are returned in the order
//! to handle them. Unknown members are ignored, and missing ones are empty.

use std::{borrow::Cow, collections::BTreeMap, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

use super::usage;
use crate::provider::{SpeechUsage, bounds::EVENT, speech_to_speech::answer::Called};

/// Longest name kept of an unknown kind, in characters.
const NAME_MAX: usize = 40;
/// Longest call id, in bytes; a longer one makes the message garbled.
const ID_MAX: usize = 256;
const KNOWN: [&str; 5] = [
    "serverContent",
    "sessionResumptionUpdate",
    "voiceActivity",
    "voiceActivityDetectionSignal",
    "usageMetadata",
];

#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    Ready,
    /// 16-bit little-endian samples at 24 kHz; a sample may be split between messages.
    Audio(Vec<u8>),
    /// Words of the answer, and whether they are the last.
    Words(String, bool),
    Usage(SpeechUsage),
    Calls(Vec<Called>),
    /// Results of these calls are no longer wanted.
    CallsCancelled(Vec<String>),
    Interrupted,
    /// The answer is complete.
    Generated,
    /// The model's turn is over; the reason, if it failed.
    TurnOver(String),
    /// The connection ends, after this time if given.
    GoingAway(Option<Duration>),
    Oversized(&'static str),
    /// An unknown kind, by name.
    Unknown(String),
    /// Data other than sound at 24 kHz, by MIME type.
    OtherData(String),
    /// Not a JSON object, or an unusable one.
    Garbled,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message<'a> {
    setup_complete: Option<IgnoredAny>,
    #[serde(borrow)]
    server_content: Option<Content<'a>>,
    usage_metadata: Option<Value>,
    tool_call: Option<ToolCall>,
    tool_call_cancellation: Option<Cancellation>,
    go_away: Option<GoAway>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content<'a> {
    #[serde(borrow)]
    model_turn: Option<ModelTurn<'a>>,
    output_transcription: Option<Transcription>,
    interrupted: Option<bool>,
    generation_complete: Option<bool>,
    turn_complete: Option<bool>,
    turn_complete_reason: Option<String>,
    interaction_status: Option<String>,
}

#[derive(Deserialize)]
struct ModelTurn<'a> {
    #[serde(borrow)]
    parts: Option<Vec<Part<'a>>>,
}

/// A part of an answer. Its text is ignored: a thought, or a copy of the words.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    inline_data: Option<Blob<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Blob<'a> {
    #[serde(borrow)]
    mime_type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Transcription {
    text: Option<String>,
    finished: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolCall {
    function_calls: Option<Vec<FunctionCall>>,
}

#[derive(Deserialize)]
struct FunctionCall {
    id: Option<String>,
    name: Option<String>,
    args: Option<Value>,
}

#[derive(Deserialize)]
struct Cancellation {
    ids: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GoAway {
    time_left: Option<String>,
}

pub fn read(message: &[u8]) -> Vec<Said> {
    // serde would read a list as the fields of a message, in order.
    if !message.trim_ascii_start().starts_with(b"{") {
        return vec![Said::Garbled];
    }
    let Ok(read) = serde_json::from_slice::<Message<'_>>(message) else {
        return vec![Said::Garbled];
    };
    let said = read.said(message.len());
    if said.is_empty() { unknown(message) } else { said }
}

impl Message<'_> {
    fn said(self, length: usize) -> Vec<Said> {
        let mut said = Vec::new();
        said.extend(self.setup_complete.map(|_| Said::Ready));
        let content = self.server_content.map(|content| content.said(&mut said));
        if let Some(calls) = self.tool_call {
            let calls = calls.function_calls.unwrap_or_default();
            said.push(match EVENT.check(length) {
                Ok(()) => called(calls).map_or(Said::Garbled, Said::Calls),
                Err(_) => Said::Oversized("toolCall"),
            });
        }
        if let Some(ids) = self.tool_call_cancellation.and_then(|it| it.ids) {
            said.push(Said::CallsCancelled(ids));
        }
        // Usage comes after the calls, last of a round.
        said.extend(self.usage_metadata.as_ref().and_then(usage::read).map(Said::Usage));
        said.extend(content.into_iter().flatten());
        if let Some(going) = self.go_away {
            said.push(Said::GoingAway(going.time_left.as_deref().and_then(seconds)));
        }
        said
    }
}

impl Content<'_> {
    /// Adds sound and words to `said`; returns the ends, which come last.
    fn said(self, said: &mut Vec<Said>) -> Vec<Said> {
        let parts = self.model_turn.and_then(|turn| turn.parts).unwrap_or_default();
        said.extend(parts.into_iter().filter_map(|part| part.inline_data).map(Blob::said));
        if let Some(words) = self.output_transcription {
            let is_last = words.finished.unwrap_or_default();
            said.push(Said::Words(words.text.unwrap_or_default(), is_last));
        }
        let mut ends = Vec::new();
        if self.interrupted == Some(true) {
            ends.push(Said::Interrupted);
        }
        // Some models end several turns before they have finished.
        let status = self.interaction_status.unwrap_or_default();
        let goes_on = status == "IN_PROGRESS";
        if self.generation_complete == Some(true) && !goes_on {
            ends.push(Said::Generated);
        }
        if (self.turn_complete == Some(true) && !goes_on) || status == "IDLE" {
            ends.push(Said::TurnOver(short(&self.turn_complete_reason.unwrap_or_default())));
        }
        ends
    }
}

impl Blob<'_> {
    fn said(self) -> Said {
        let told = self.mime_type.unwrap_or_default();
        // A space may precede the rate.
        let kind: String = told.split_whitespace().collect();
        if !["", "audio/pcm", "audio/pcm;rate=24000"].contains(&kind.as_str()) {
            return Said::OtherData(short(&told));
        }
        STANDARD.decode(&*self.data).map_or(Said::Garbled, Said::Audio)
    }
}

fn called(calls: Vec<FunctionCall>) -> Option<Vec<Called>> {
    let called = |call: FunctionCall| {
        let id = call.id.unwrap_or_default();
        (id.len() <= ID_MAX).then(|| Called {
            id,
            name: call.name.unwrap_or_default(),
            arguments: call.args.map_or_else(|| "{}".to_owned(), |args| args.to_string()),
        })
    };
    calls.into_iter().map(called).collect()
}

/// Parses a duration such as "9.5s".
fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.strip_suffix('s')?.parse().ok()?).ok()
}

fn unknown(message: &[u8]) -> Vec<Said> {
    let members = serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(message);
    let names = members.unwrap_or_default().into_keys();
    let names = names.filter(|name| !KNOWN.contains(&name.as_str()));
    names.map(|name| Said::Unknown(short(&name))).collect()
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(NAME_MAX).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn of(value: &Value) -> Vec<Said> {
        read(value.to_string().as_bytes())
    }

    #[test]
    fn message_with_several_keys_is_read_in_order() {
        let message = json!({"serverContent": {"turnComplete": true, "generationComplete": true,
                "outputTranscription": {"text": "Well met", "finished": true},
                "modelTurn": {"role": "model", "parts": [{"text": "hm", "thought": true},
                {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": "AQACAAM="}}]}},
            "usageMetadata": {"promptTokenCount": 3}, "new": {"a": 1}});
        let usage = SpeechUsage { text_in: 3, ..SpeechUsage::default() };
        let wanted = [
            Said::Audio(vec![1, 0, 2, 0, 3]),
            Said::Words("Well met".to_owned(), true),
            Said::Usage(usage),
            Said::Generated,
            Said::TurnOver(String::new()),
        ];
        assert_eq!(of(&message), wanted);
    }

    #[test]
    fn calls_and_their_cancellation_are_read() {
        let call = json!({"toolCall": {"functionCalls": [{"id": "c1", "name": "roll",
            "args": {"sides": 20}}, {"id": "c2", "name": "look"}]}});
        let called = |id: &str, name: &str, arguments: &str| Called {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        };
        let calls = vec![called("c1", "roll", "{\"sides\":20}"), called("c2", "look", "{}")];
        assert_eq!(of(&call), [Said::Calls(calls)]);
        let billed = json!({"usageMetadata": {}, "toolCall": {"functionCalls": []}});
        assert_eq!(of(&billed), [Said::Calls(Vec::new()), Said::Usage(SpeechUsage::default())]);
        let cancelled = json!({"toolCallCancellation": {"ids": ["c1"]}});
        assert_eq!(of(&cancelled), [Said::CallsCancelled(vec!["c1".to_owned()])]);
    }

    #[test]
    fn ends_of_turns_in_progress_are_none() {
        let content = |value: Value| of(&json!({"serverContent": value}));
        let going = json!({"turnComplete": true, "interactionStatus": "IN_PROGRESS"});
        assert_eq!(content(going), []);
        let idle = json!({"interactionStatus": "IDLE"});
        assert_eq!(content(idle), [Said::TurnOver(String::new())]);
        let stopped = json!({"interrupted": true});
        assert_eq!(content(stopped), [Said::Interrupted]);
    }

    #[test]
    fn time_left_is_a_number_of_seconds() {
        let left = |text: &str| of(&json!({"goAway": {"timeLeft": text}}));
        assert_eq!(left("9.5s"), [Said::GoingAway(Some(Duration::from_millis(9_500)))]);
        assert_eq!(left("soon"), [Said::GoingAway(None)]);
        assert_eq!(of(&json!({"goAway": {}})), [Said::GoingAway(None)]);
    }

    #[test]
    fn unknown_kinds_differ_from_no_message() {
        assert_eq!(of(&json!({"mood": {}})), [Said::Unknown("mood".to_owned())]);
        assert_eq!(of(&json!({"sessionResumptionUpdate": {"newHandle": ""}})), []);
        assert_eq!(of(&json!({"setupComplete": {}})), [Said::Ready]);
        assert_eq!(of(&json!([{}])), [Said::Garbled]);
        assert_eq!(read(b"\xff\xfe"), [Said::Garbled]);
    }

    #[test]
    fn data_is_sound_only_at_24_khz() {
        let data = |kind: &str| {
            of(&json!({"serverContent": {"modelTurn": {"parts": [{"inlineData":
                {"mimeType": kind, "data": "AQA="}}]}}}))
        };
        for kind in ["", "audio/pcm", "audio/pcm;rate=24000", "audio/pcm; rate=24000"] {
            assert_eq!(data(kind), [Said::Audio(vec![1, 0])], "{kind}");
        }
        for kind in ["video/mp4", "audio/pcm;rate=16000"] {
            assert_eq!(data(kind), [Said::OtherData(kind.to_owned())]);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }
    }
}
