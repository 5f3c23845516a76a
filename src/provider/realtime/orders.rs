//! Events sent to the service, as JSON: one entry function each.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::options::takes_parallel_calls;
use crate::{
    domain::{ToolChoice, ToolSpec},
    provider::{SpeechItem, SpeechItemId, SpeechSetup},
};

/// Longest answer the service accepts in a setup, in tokens.
const TOKENS_MAX: u32 = 4_096;
/// Most samples per message: 64 KiB.
const SAMPLES: usize = (64 << 10) / size_of::<i16>();

/// Sets up a session without the service's turn detection and transcription.
pub fn setup(setup: &SpeechSetup, model: &str) -> String {
    let format = json!({"type": "audio/pcm", "rate": 24_000});
    let mut output = json!({"format": format});
    if let Some(voice) = &setup.voice {
        output["voice"] = json!(voice);
    }
    let mut session = json!({
        "type": "realtime",
        "output_modalities": ["audio"],
        "instructions": setup.instructions,
        "audio": {
            "input": {
                "format": format,
                "turn_detection": null,
                "transcription": null,
                "noise_reduction": null,
            },
            "output": output,
        },
        "tools": declared(&setup.tools),
        "tool_choice": "auto",
        "max_output_tokens": setup.max_tokens.clamp(1, TOKENS_MAX),
    });
    if takes_parallel_calls(model) {
        session["parallel_tool_calls"] = json!(true);
    }
    json!({"type": "session.update", "session": session}).to_string()
}

pub fn tools(tools: &[ToolSpec]) -> String {
    let session = json!({"type": "realtime", "tools": declared(tools)});
    json!({"type": "session.update", "session": session}).to_string()
}

fn declared(tools: &[ToolSpec]) -> Value {
    tools
        .iter()
        .map(|tool| {
            json!({"type": "function", "name": &*tool.name, "description": &*tool.description,
                "parameters": &*tool.parameters})
        })
        .collect()
}

/// Appends samples at 24 kHz, split into messages.
pub fn sound(samples: &[i16]) -> impl Iterator<Item = String> {
    samples.chunks(SAMPLES).map(|piece| {
        let bytes: Vec<u8> = piece.iter().flat_map(|sample| sample.to_le_bytes()).collect();
        let audio = STANDARD.encode(bytes);
        json!({"type": "input_audio_buffer.append", "audio": audio}).to_string()
    })
}

/// Turns the sound so far into an utterance.
pub fn commit() -> String {
    json!({"type": "input_audio_buffer.commit"}).to_string()
}

/// Discards the sound so far.
pub fn clear() -> String {
    json!({"type": "input_audio_buffer.clear"}).to_string()
}

pub fn text(item: &SpeechItem) -> String {
    let (role, kind, text) = match item {
        SpeechItem::Said(text) => ("user", "input_text", text),
        SpeechItem::Answered(text) => ("assistant", "output_text", text),
    };
    let item = json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    json!({"type": "conversation.item.create", "item": item}).to_string()
}

pub fn result(call: &str, output: &str) -> String {
    let item = json!({"type": "function_call_output", "call_id": call, "output": output});
    json!({"type": "conversation.item.create", "item": item}).to_string()
}

/// Asks for an answer; errors about it quote `name`.
pub fn answer(name: &str, choice: &ToolChoice) -> String {
    let choice = match choice {
        ToolChoice::Auto => None,
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Named(tool) => Some(json!({"type": "function", "name": tool})),
    };
    let mut order = json!({"type": "response.create", "event_id": name});
    if let Some(choice) = choice {
        order["response"] = json!({"tool_choice": choice});
    }
    order.to_string()
}

/// Stops the running answer `name`; errors about it quote [`stop_of`] that name.
pub fn cancel(name: &str) -> String {
    json!({"type": "response.cancel", "event_id": stop_of(name)}).to_string()
}

pub fn stop_of(name: &str) -> String {
    format!("stop_{name}")
}

/// Stops an answer that was not requested.
pub fn cancel_unasked(response: &str) -> String {
    json!({"type": "response.cancel", "response_id": response}).to_string()
}

/// Errors about [`truncate`] quote this name.
pub const CUT: &str = "cut";

/// Cuts an answer off after `played` milliseconds.
pub fn truncate(item: &SpeechItemId, played: u64) -> String {
    json!({"type": "conversation.item.truncate", "item_id": item.0, "content_index": 0,
        "audio_end_ms": played, "event_id": CUT})
    .to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::domain::Calling;

    fn value(order: &str) -> Value {
        serde_json::from_str(order).unwrap()
    }

    fn plain_setup(voice: Option<&str>, max_tokens: u32) -> SpeechSetup {
        SpeechSetup {
            instructions: "You are Bartok.".to_owned(),
            voice: voice.map(str::to_owned),
            tools: Arc::from([ToolSpec {
                name: "roll".into(),
                identity: "dice.roll".into(),
                description: "Rolls dice.".into(),
                parameters: Arc::new(json!({"type": "object"})),
                calling: Calling::Waits,
            }]),
            max_tokens,
            before: Vec::new(),
        }
    }

    #[test]
    fn setup_leaves_turns_to_us() {
        let order = value(&setup(&plain_setup(Some("cedar"), 9_000), "gpt-realtime-2.1"));
        let format = json!({"type": "audio/pcm", "rate": 24_000});
        let wanted = json!({"type": "session.update", "session": {
            "type": "realtime", "output_modalities": ["audio"], "instructions": "You are Bartok.",
            "audio": {
                "input": {"format": format, "turn_detection": null, "transcription": null,
                    "noise_reduction": null},
                "output": {"format": format, "voice": "cedar"}},
            "tools": [{"type": "function", "name": "roll", "description": "Rolls dice.",
                "parameters": {"type": "object"}}],
            "tool_choice": "auto", "max_output_tokens": 4096, "parallel_tool_calls": true}});
        assert_eq!(order, wanted);
    }

    #[test]
    fn setup_omits_what_the_model_refuses() {
        let order = value(&setup(&plain_setup(None, 0), "gpt-realtime-1.5"));
        assert_eq!(order.pointer("/session/audio/output/voice"), None);
        assert_eq!(order.pointer("/session/parallel_tool_calls"), None);
        assert_eq!(order.pointer("/session/max_output_tokens"), Some(&json!(1)));
    }

    #[test]
    fn sound_is_cut_at_64_kib() {
        let samples = vec![-2; SAMPLES + 1];
        let pieces: Vec<Value> = sound(&samples).map(|order| value(&order)).collect();
        let bytes = |piece: &Value| STANDARD.decode(piece["audio"].as_str().unwrap()).unwrap();
        assert_eq!(pieces.iter().map(|piece| bytes(piece).len()).collect::<Vec<_>>(), [65_536, 2]);
        assert_eq!(bytes(&pieces[1]), [0xfe, 0xff]);
        assert_eq!(sound(&[]).count(), 0);
    }

    #[test]
    fn items_have_the_content_of_their_role() {
        let said = value(&text(&SpeechItem::Said("Hail!".to_owned())));
        assert_eq!(said["item"]["role"], "user");
        assert_eq!(said["item"]["content"], json!([{"type": "input_text", "text": "Hail!"}]));
        let answered = value(&text(&SpeechItem::Answered("Well met.".to_owned())));
        assert_eq!(answered["item"]["role"], "assistant");
        assert_eq!(answered["item"]["content"][0]["type"], "output_text");
    }

    #[test]
    fn answer_names_a_choice_unless_it_is_auto() {
        let plain = value(&answer("answer_1", &ToolChoice::Auto));
        assert_eq!(plain, json!({"type": "response.create", "event_id": "answer_1"}));
        let named = value(&answer("answer_2", &ToolChoice::Named("roll".to_owned())));
        let choice = json!({"type": "function", "name": "roll"});
        assert_eq!(named["response"], json!({"tool_choice": choice}));
        let none = value(&answer("answer_3", &ToolChoice::None));
        assert_eq!(none["response"]["tool_choice"], "none");
    }
}
