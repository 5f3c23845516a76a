//! Messages sent to the service, as JSON: one entry function each.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::schema::reduced;
use crate::{
    domain::{Calling, ToolSpec},
    provider::{SpeechItem, SpeechSetup},
};

/// Most samples per message: 64 KiB.
const SAMPLES: usize = (64 << 10) / size_of::<i16>();

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallResult {
    pub id: String,
    pub name: String,
    pub output: String,
    pub calling: Calling,
}

/// Sets up a session for `model`, with our own turn detection.
pub fn setup(setup: &SpeechSetup, model: &str) -> String {
    let model = match model.starts_with("models/") {
        true => model.to_owned(),
        false => format!("models/{model}"),
    };
    let mut generation = json!({
        "responseModalities": ["AUDIO"],
        "maxOutputTokens": setup.max_tokens.max(1),
    });
    if let Some(voice) = &setup.voice {
        let voice = json!({"prebuiltVoiceConfig": {"voiceName": voice}});
        generation["speechConfig"] = json!({"voiceConfig": voice});
    }
    let mut message = json!({
        "model": model,
        "generationConfig": generation,
        "realtimeInputConfig": {"automaticActivityDetection": {"disabled": true}},
        "outputAudioTranscription": {},
    });
    if !setup.instructions.is_empty() {
        message["systemInstruction"] = json!({"parts": [{"text": setup.instructions}]});
    }
    if !setup.tools.is_empty() {
        let declared: Value = setup.tools.iter().map(declared).collect();
        message["tools"] = json!([{"functionDeclarations": declared}]);
    }
    json!({"setup": message}).to_string()
}

fn declared(tool: &ToolSpec) -> Value {
    let behavior = if tool.calling == Calling::Waits { "BLOCKING" } else { "NON_BLOCKING" };
    json!({"name": &*tool.name, "description": &*tool.description,
        "parametersJsonSchema": reduced(&tool.parameters), "behavior": behavior})
}

pub fn begin() -> String {
    json!({"realtimeInput": {"activityStart": {}}}).to_string()
}

/// Samples at 16 kHz, split into messages.
pub fn sound(samples: &[i16]) -> impl Iterator<Item = String> {
    samples.chunks(SAMPLES).map(|piece| {
        let bytes: Vec<u8> = piece.iter().flat_map(|sample| sample.to_le_bytes()).collect();
        let audio = json!({"mimeType": "audio/pcm;rate=16000", "data": STANDARD.encode(bytes)});
        json!({"realtimeInput": {"audio": audio}}).to_string()
    })
}

/// Ends an utterance; the service answers it.
pub fn end() -> String {
    json!({"realtimeInput": {"activityEnd": {}}}).to_string()
}

pub fn text<'i>(items: impl IntoIterator<Item = &'i SpeechItem>) -> String {
    let turn = |item: &SpeechItem| {
        let (role, text) = match item {
            SpeechItem::Said(text) => ("user", text),
            SpeechItem::Answered(text) => ("model", text),
        };
        json!({"role": role, "parts": [{"text": text}]})
    };
    content(items.into_iter().map(turn).collect(), false)
}

/// Asks for an answer to the text items so far.
pub fn answer() -> String {
    content(json!([]), true)
}

/// Stops the running answer: any text does, even none.
pub fn stop() -> String {
    content(json!([]), false)
}

fn content(turns: Value, is_over: bool) -> String {
    json!({"clientContent": {"turns": turns, "turnComplete": is_over}}).to_string()
}

/// Adds results of calls. With `is_awaited` the service answers in any case.
pub fn results(results: &[CallResult], is_awaited: bool) -> String {
    let is_silent = results.iter().all(|it| it.calling == Calling::Records);
    let responses: Value = results
        .iter()
        .map(|it| {
            let mut response =
                json!({"id": it.id, "name": it.name, "response": {"output": it.output}});
            let scheduling = match it.calling {
                Calling::Waits => return response,
                Calling::Records if is_awaited && is_silent => "WHEN_IDLE",
                Calling::Records => "SILENT",
                Calling::Late => "WHEN_IDLE",
                Calling::Urgent => "INTERRUPT",
            };
            response["scheduling"] = json!(scheduling);
            response
        })
        .collect();
    json!({"toolResponse": {"functionResponses": responses}}).to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn value(order: &str) -> Value {
        serde_json::from_str(order).unwrap()
    }

    fn tool(name: &str, calling: Calling) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            identity: format!("dice.{name}").into(),
            description: "Rolls dice.".into(),
            parameters: Arc::new(json!({"$schema": "x", "type": "object"})),
            calling,
        }
    }

    fn plain(voice: Option<&str>, tools: &[ToolSpec]) -> SpeechSetup {
        SpeechSetup {
            instructions: "You are Bartok.".to_owned(),
            voice: voice.map(str::to_owned),
            tools: tools.into(),
            max_tokens: 0,
            before: Vec::new(),
        }
    }

    #[test]
    fn setup_leaves_turns_to_us() {
        let order = value(&setup(&plain(Some("Puck"), &[]), "gemini-3.8-live"));
        let voice = json!({"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Puck"}}});
        let wanted = json!({"setup": {"model": "models/gemini-3.8-live",
            "generationConfig": {"responseModalities": ["AUDIO"], "maxOutputTokens": 1,
                "speechConfig": voice},
            "realtimeInputConfig": {"automaticActivityDetection": {"disabled": true}},
            "outputAudioTranscription": {},
            "systemInstruction": {"parts": [{"text": "You are Bartok."}]}}});
        assert_eq!(order, wanted);
        let named = value(&setup(&plain(None, &[]), "models/x"));
        assert_eq!(named["setup"]["model"], "models/x");
    }

    #[test]
    fn behavior_is_said_of_every_tool() {
        let tools = [tool("roll", Calling::Waits), tool("note", Calling::Records)];
        let order = value(&setup(&plain(None, &tools), "m"));
        let declared = &order["setup"]["tools"][0]["functionDeclarations"];
        assert_eq!(
            declared[0],
            json!({"name": "roll", "description": "Rolls dice.", "behavior": "BLOCKING",
                "parametersJsonSchema": {"type": "object"}})
        );
        assert_eq!(declared[1]["behavior"], "NON_BLOCKING");
    }

    #[test]
    fn results_say_when_they_are_spoken_of() {
        let result = |id: &str, calling| CallResult {
            id: id.to_owned(),
            name: "roll".to_owned(),
            output: "7".to_owned(),
            calling,
        };
        let all = [
            result("c1", Calling::Waits),
            result("c2", Calling::Records),
            result("c3", Calling::Late),
            result("c4", Calling::Urgent),
        ];
        let order = value(&results(&all, true));
        let responses = order["toolResponse"]["functionResponses"].as_array().unwrap().clone();
        let response = json!({"id": "c1", "name": "roll", "response": {"output": "7"}});
        assert_eq!(responses[0], response);
        let scheduling = responses.iter().map(|it| it["scheduling"].as_str());
        let wanted = [None, Some("SILENT"), Some("WHEN_IDLE"), Some("INTERRUPT")];
        assert_eq!(scheduling.collect::<Vec<_>>(), wanted);
        let alone = value(&results(&all[1..2], true));
        let scheduling = &alone["toolResponse"]["functionResponses"][0]["scheduling"];
        assert_eq!(scheduling, "WHEN_IDLE", "an answer is awaited");
    }

    #[test]
    fn sound_is_cut_at_64_kib() {
        let samples = vec![-2; SAMPLES + 1];
        let pieces: Vec<Value> = sound(&samples).map(|order| value(&order)).collect();
        let audio = |piece: &Value| piece["realtimeInput"]["audio"].clone();
        assert_eq!(audio(&pieces[0])["mimeType"], "audio/pcm;rate=16000");
        assert_eq!(audio(&pieces[1])["data"], "/v8=");
        assert_eq!((pieces.len(), sound(&[]).count()), (2, 0));
    }

    #[test]
    fn items_have_role_of_their_speaker() {
        let items =
            [SpeechItem::Said("Hail!".to_owned()), SpeechItem::Answered("Well.".to_owned())];
        let turns = json!([{"role": "user", "parts": [{"text": "Hail!"}]},
            {"role": "model", "parts": [{"text": "Well."}]}]);
        let wanted = json!({"clientContent": {"turns": turns, "turnComplete": false}});
        assert_eq!(value(&text(&items)), wanted);
    }
}
