//! Mistakes in the first message of a session that the real service refuses.
//!
//! Entry function: [`check`]. Checked against the vendor's own client 3.6.1 and what it is reported to
//! refuse; whatever is refused closes the connection with a code and a reason.

use serde_json::Value;

use super::check::{Checked, INVALID, fields, one_of, refused};

/// Models that are there.
const MODELS: [&str; 1] = ["models/gemini-3.8-live"];
/// Voices of the models.
const VOICES: [&str; 30] = [
    "Zephyr",
    "Kore",
    "Orus",
    "Autonoe",
    "Umbriel",
    "Erinome",
    "Laomedeia",
    "Schedar",
    "Achird",
    "Sadachbia",
    "Puck",
    "Fenrir",
    "Aoede",
    "Enceladus",
    "Algieba",
    "Algenib",
    "Achernar",
    "Gacrux",
    "Zubenelgenubi",
    "Sadaltager",
    "Charon",
    "Leda",
    "Callirrhoe",
    "Iapetus",
    "Despina",
    "Rasalgethi",
    "Alnilam",
    "Pulcherrima",
    "Vindemiatrix",
    "Sulafat",
];
/// Fields of a setup.
const SETUP: [&str; 13] = [
    "model",
    "generationConfig",
    "systemInstruction",
    "tools",
    "realtimeInputConfig",
    "sessionResumption",
    "contextWindowCompression",
    "inputAudioTranscription",
    "outputAudioTranscription",
    "proactivity",
    "historyConfig",
    "safetySettings",
    "labels",
];
/// Fields of `generationConfig` that this model takes: it has no `thinkingConfig`.
const GENERATION: [&str; 9] = [
    "responseModalities",
    "speechConfig",
    "maxOutputTokens",
    "temperature",
    "topP",
    "topK",
    "seed",
    "candidateCount",
    "mediaResolution",
];
/// Fields of a transcription.
const TRANSCRIPTION: [&str; 4] =
    ["languageCodes", "languageHints", "customVocabulary", "adaptationPhrases"];
/// Names of a schema in `parameters`, which is not JSON Schema: it has no `additionalProperties`.
const SCHEMA: [&str; 23] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "default",
    "items",
    "minItems",
    "maxItems",
    "enum",
    "properties",
    "propertyOrdering",
    "required",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "any_of",
];

/// Checks a setup.
pub fn check(setup: &Value) -> Checked {
    fields(setup, "setup", &SETUP)?;
    model(&setup["model"])?;
    generation(&setup["generationConfig"])?;
    hearing(&setup["realtimeInputConfig"])?;
    for name in ["inputAudioTranscription", "outputAudioTranscription"] {
        fields(&setup[name], &format!("setup.{}", snake(name)), &TRANSCRIPTION)?;
    }
    let at = "setup.session_resumption";
    fields(&setup["sessionResumption"], at, &["handle"])?;
    let at = "setup.context_window_compression";
    fields(&setup["contextWindowCompression"], at, &["triggerTokens", "slidingWindow"])?;
    fields(&setup["historyConfig"], "setup.history_config", &["initialHistoryInClientContent"])?;
    if setup["proactivity"]["proactiveAudio"] == false {
        return refused(INVALID, "Proactive audio cannot be disabled for this model.");
    }
    let instruction = &setup["systemInstruction"];
    fields(instruction, "setup.system_instruction", &["parts", "role"])?;
    if !instruction.is_null() && super::check::text(instruction).is_none() {
        return refused(INVALID, "Request contains an invalid argument.");
    }
    match setup.get("tools").map(Value::as_array) {
        None => Ok(()),
        Some(None) => refused(INVALID, "Proto field is not repeating: 'setup.tools'."),
        Some(Some(tools)) => tools.iter().try_for_each(tool),
    }
}

fn snake(name: &str) -> String {
    let letter = |c: char| match c.is_ascii_uppercase() {
        true => format!("_{}", c.to_ascii_lowercase()),
        false => c.to_string(),
    };
    name.chars().map(letter).collect()
}

fn model(model: &Value) -> Checked {
    match model.as_str() {
        Some(name) if MODELS.contains(&name) => Ok(()),
        Some(name) => {
            let reason = format!(
                "{name} is not found for API version v1beta, or is not supported for \
                 bidiGenerateContent. Call ListModels to see the list of available models."
            );
            refused(1008, reason)
        }
        None => refused(INVALID, "Request contains an invalid argument."),
    }
}

fn generation(config: &Value) -> Checked {
    fields(config, "setup.generation_config", &GENERATION)?;
    let modalities = &config["responseModalities"];
    if !modalities.is_null() && *modalities != serde_json::json!(["AUDIO"]) {
        return refused(INVALID, "Cannot extract voices from a non-audio request.");
    }
    if config
        .get("maxOutputTokens")
        .is_some_and(|most| !most.as_u64().is_some_and(|most| (1..=65_536).contains(&most)))
    {
        return refused(INVALID, "Request contains an invalid argument.");
    }
    let speech = &config["speechConfig"];
    let at = "setup.generation_config.speech_config";
    fields(speech, at, &["voiceConfig", "languageCode"])?;
    fields(&speech["voiceConfig"], at, &["prebuiltVoiceConfig"])?;
    let voice = &speech["voiceConfig"]["prebuiltVoiceConfig"];
    fields(voice, at, &["voiceName"])?;
    match &voice["voiceName"] {
        Value::Null => Ok(()),
        name if name.as_str().is_some_and(|name| VOICES.contains(&name)) => Ok(()),
        name => {
            let reason =
                format!("Requested voice api_name {name} is not available for this model.");
            refused(INVALID, reason)
        }
    }
}

fn hearing(config: &Value) -> Checked {
    let at = "setup.realtime_input_config";
    fields(config, at, &["automaticActivityDetection", "activityHandling", "turnCoverage"])?;
    let detection = [
        "disabled",
        "startOfSpeechSensitivity",
        "endOfSpeechSensitivity",
        "prefixPaddingMs",
        "silenceDurationMs",
    ];
    fields(&config["automaticActivityDetection"], at, &detection)?;
    one_of(&config["activityHandling"], at, &["START_OF_ACTIVITY_INTERRUPTS", "NO_INTERRUPTION"])?;
    let coverage = [
        "TURN_INCLUDES_ONLY_ACTIVITY",
        "TURN_INCLUDES_ALL_INPUT",
        "TURN_INCLUDES_AUDIO_ACTIVITY_AND_ALL_VIDEO",
    ];
    one_of(&config["turnCoverage"], at, &coverage)
}

fn tool(tool: &Value) -> Checked {
    fields(tool, "setup.tools[0]", &["functionDeclarations"])?;
    tool["functionDeclarations"].as_array().into_iter().flatten().try_for_each(declaration)
}

fn declaration(declared: &Value) -> Checked {
    let at = "setup.tools[0].function_declarations[0]";
    let known = [
        "name",
        "description",
        "parameters",
        "parametersJsonSchema",
        "response",
        "responseJsonSchema",
        "behavior",
    ];
    fields(declared, at, &known)?;
    let name = declared["name"].as_str().unwrap_or_default();
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !begins || name.len() > 64 || !name.chars().all(fits) {
        return refused(INVALID, format!("Invalid function name '{name}'."));
    }
    one_of(&declared["behavior"], at, &["BLOCKING", "NON_BLOCKING"])?;
    if declared.get("parameters").is_some() && declared.get("parametersJsonSchema").is_some() {
        return refused(INVALID, "parameters and parameters_json_schema are both set.");
    }
    schema(&declared["parameters"], &format!("{at}.parameters"))
}

fn schema(of: &Value, at: &str) -> Checked {
    fields(of, at, &SCHEMA)?;
    let properties = of["properties"].as_object().into_iter().flatten().map(|(_, it)| it);
    let choices = of["anyOf"].as_array().into_iter().flatten();
    let items = of.get("items").into_iter();
    properties.chain(choices).chain(items).try_for_each(|of| schema(of, at))
}
