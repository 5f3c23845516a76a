//! The members of a message that has text spoken, and what the service refuses in them.

use serde_json::{Map, Value};

use super::{BARKEEP, OLDER};

/// Status and code of a refusal.
pub type Refusal = (u16, Option<&'static str>, &'static str);

const MEMBERS: &[&str] = &[
    "context_id",
    "model_id",
    "transcript",
    "voice",
    "language",
    "output_format",
    "continue",
    "duration",
    "flush",
    "max_buffer_delay_ms",
    "add_timestamps",
    "add_phoneme_timestamps",
    "use_normalized_timestamps",
    "pronunciation_dict_id",
    "generation_config",
];
/// Members that may differ within a context.
const OWN: [&str; 4] = ["transcript", "continue", "duration", "flush"];
const MODELS: [&str; 4] = ["sonic-3.6", "sonic-3.5", "sonic-3", "sonic-latest"];
const ENDED: [&str; 2] = ["sonic-2", "sonic-turbo"];
const ENCODINGS: [&str; 4] = ["pcm_s16le", "pcm_f32le", "pcm_mulaw", "pcm_alaw"];
const RATES: [u64; 6] = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000];

/// Words of the service's emotions.
const EMOTIONS: &str = "neutral happy excited enthusiastic elated euphoric triumphant amazed surprised flirtatious \
                        curious content peaceful serene calm grateful affectionate trust sympathetic anticipation \
                        mysterious angry mad outraged frustrated agitated threatened disgusted contempt envious \
                        sarcastic ironic sad dejected melancholic disappointed hurt guilty bored tired rejected \
                        nostalgic wistful apologetic hesitant insecure confused resigned anxious panicked alarmed \
                        scared proud confident distant skeptical contemplative determined";

/// One input of a context.
pub struct Input {
    pub text: String,
    pub continues: bool,
    pub flushes: bool,
    /// The service waits for more text.
    pub waits: bool,
    /// What all inputs of the context have in common.
    pub common: Map<String, Value>,
}

const fn invalid(what: &'static str) -> Refusal {
    (400, None, what)
}

/// Reads an input in this version of the API.
pub fn read(message: &Map<String, Value>, version: &str) -> Result<Input, Refusal> {
    if message.keys().any(|key| !MEMBERS.contains(&key.as_str())) {
        return Err(invalid("unknown member"));
    }
    let text = message.get("transcript").and_then(Value::as_str).ok_or(invalid("no transcript"))?;
    model(message)?;
    voice(message.get("voice").unwrap_or(&Value::Null), version)?;
    output(message.get("output_format").unwrap_or(&Value::Null))?;
    let language = message.get("language");
    if language.is_some_and(|it| it.as_str().is_none_or(|code| code.len() != 2)) {
        return Err(invalid("invalid language"));
    }
    manner(message.get("generation_config"))?;
    let delay = message.get("max_buffer_delay_ms").map_or(Some(3_000), Value::as_u64);
    let delay = delay.filter(|it| *it <= 5_000).ok_or(invalid("invalid max_buffer_delay_ms"))?;
    let flag = |name: &str| message.get(name).and_then(Value::as_bool).unwrap_or_default();
    let is_common = |(key, _): &(&String, &Value)| !OWN.contains(&key.as_str());
    let common = message.iter().filter(is_common).map(|(key, it)| (key.clone(), it.clone()));
    Ok(Input {
        text: text.to_owned(),
        continues: flag("continue"),
        flushes: flag("flush"),
        waits: delay > 0,
        common: common.collect(),
    })
}

/// Speed and emotion.
fn manner(config: Option<&Value>) -> Result<(), Refusal> {
    let member = |name: &str| config.and_then(|it| it.get(name));
    if member("speed").is_some_and(|it| it.as_f64().is_none_or(|it| !(0.6..=1.5).contains(&it))) {
        return Err(invalid("invalid speed"));
    }
    let is_unknown = |word: &str| !EMOTIONS.split(' ').any(|it| it == word);
    if member("emotion").is_some_and(|it| it.as_str().is_none_or(is_unknown)) {
        return Err(invalid("invalid emotion"));
    }
    Ok(())
}

fn model(message: &Map<String, Value>) -> Result<(), Refusal> {
    match message.get("model_id").and_then(Value::as_str) {
        None => Err(invalid("no model_id")),
        Some(model) if ENDED.contains(&model) => {
            Err((410, Some("model_sunsetted"), "it has ended"))
        }
        Some(model) if !MODELS.contains(&model) => {
            Err((404, Some("model_not_found"), "no such model"))
        }
        Some(_) => Ok(()),
    }
}

fn voice(voice: &Value, version: &str) -> Result<(), Refusal> {
    let id = voice.get("id").and_then(Value::as_str);
    let has_mode = voice.get("mode").and_then(Value::as_str) == Some("id");
    let id = match version == OLDER {
        true => id.filter(|_| has_mode),
        false => voice.as_str().or(id.filter(|_| voice.get("mode").is_none())),
    };
    match id {
        Some(BARKEEP) => Ok(()),
        Some(_) => Err((404, Some("voice_not_found"), "no such voice")),
        None => Err(invalid("invalid voice")),
    }
}

fn output(format: &Value) -> Result<(), Refusal> {
    let text = |name: &str| format.get(name).and_then(Value::as_str).unwrap_or_default();
    let rate = format.get("sample_rate").and_then(Value::as_u64).unwrap_or_default();
    if text("container") != "raw"
        || !ENCODINGS.contains(&text("encoding"))
        || !RATES.contains(&rate)
    {
        return Err(invalid("invalid output_format"));
    }
    // Others would sound as noise in tests.
    if text("encoding") != "pcm_s16le" || rate != 24_000 {
        return Err(invalid("this counterpart sends pcm_s16le at 24000 Hz"));
    }
    Ok(())
}
