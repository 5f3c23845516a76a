//! Refusals of the real service.
//!
//! Entry functions: [`handshake`], [`order`]; entry type: [`Conversation`], against which an order is
//! checked. Checked against the vendor's description of the protocol of 2026.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;
use tokio_tungstenite::tungstenite::{handshake::server::Request, http::Uri};

/// Most bytes of one `input_audio_buffer.append`, encoded.
const APPEND_MAX: usize = 15 * 1024 * 1024;
/// Least sound of an utterance, in milliseconds.
const COMMIT_MIN: u64 = 100;
/// Longest id.
const ID_MAX: usize = 32;
/// Voices that need no id.
const VOICES: [&str; 10] =
    ["alloy", "ash", "ballad", "coral", "echo", "sage", "shimmer", "verse", "marin", "cedar"];
/// Keys of a session.
const SESSION: [&str; 15] = [
    "type",
    "model",
    "output_modalities",
    "instructions",
    "audio",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning",
    "max_output_tokens",
    "truncation",
    "tracing",
    "prompt",
    "include",
    "metadata",
];
/// Keys of `response` in `response.create`.
const RESPONSE: [&str; 11] = [
    "conversation",
    "input",
    "instructions",
    "max_output_tokens",
    "metadata",
    "output_modalities",
    "audio",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning",
];

/// Reason for refusing an order.
#[derive(Debug)]
pub struct Refusal {
    /// "unknown_parameter".
    pub code: &'static str,
    /// For people.
    pub message: String,
}

/// State of a session.
#[derive(Debug, Default)]
pub struct Conversation {
    /// Instructions of the session.
    pub instructions: String,
    /// Tools of the session.
    pub tools: Value,
    /// Voice of the session.
    pub voice: Value,
    /// Most tokens of an answer; `None`: no bound.
    pub max_tokens: Option<u64>,
    /// True if turn detection was switched off.
    pub is_manual: bool,
    /// Settings for transcribing speech; null: it is not transcribed.
    pub transcription: Value,
    /// Milliseconds of sound that are not committed.
    pub waiting_ms: u64,
    /// Items, oldest first.
    pub items: Vec<Item>,
    /// Ids of calls that were made, and whether each has its result.
    pub calls: Vec<(String, bool)>,
    /// True if an answer is being made.
    pub is_answering: bool,
    /// True if any sound was sent.
    pub has_spoken: bool,
}

/// Something of a conversation.
#[derive(Clone, Debug, Default)]
pub struct Item {
    /// Its name.
    pub id: String,
    /// True if it is spoken by the model.
    pub is_answer: bool,
    /// Its words, or its call.
    pub text: String,
    /// Sound in it.
    pub sound_ms: u64,
}

type Checked = Result<(), Refusal>;

fn refused(code: &'static str, message: impl Into<String>) -> Checked {
    Err(Refusal { code, message: message.into() })
}

/// Model of a request.
pub fn model(uri: &Uri) -> Option<String> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(key, _)| *key == "model").map(|(_, value)| value.to_owned()).next()
}

/// Status, code and message with which a handshake is refused.
pub fn handshake(request: &Request, key: &str) -> Option<(u16, &'static str, String)> {
    let header = |name: &str| request.headers().get(name).and_then(|it| it.to_str().ok());
    let given = header("authorization").and_then(|it| it.strip_prefix("Bearer "));
    match given {
        None => return Some((401, "missing_api_key", "Missing bearer authentication".to_owned())),
        // The real one shows a part of it.
        Some(given) if given != key => {
            let message = format!("Incorrect API key provided: {given}.");
            return Some((401, "invalid_api_key", message));
        }
        Some(_) => {}
    }
    if request.uri().path() != "/v1/realtime" {
        let message = format!("Invalid URL (GET {})", request.uri().path());
        return Some((404, "unknown_url", message));
    }
    match model(request.uri()) {
        Some(model) if !model.is_empty() => None,
        _ => Some((400, "missing_model", "You must provide a model parameter".to_owned())),
    }
}

/// Checks an event of the client.
pub fn order(order: &Value, talk: &Conversation) -> Checked {
    let Some(kind) = order["type"].as_str() else {
        return refused("invalid_event", "The event has no type");
    };
    match kind {
        "session.update" => {
            keys(order, "event", &["session"])?;
            session(&order["session"], talk)
        }
        "input_audio_buffer.append" => append(order),
        "input_audio_buffer.commit" => {
            keys(order, "event", &[])?;
            let waiting = talk.waiting_ms;
            if waiting < COMMIT_MIN {
                let message = format!(
                    "buffer too small. Expected at least 100ms of audio, but buffer only has \
                     {waiting}ms of audio."
                );
                return refused("input_audio_buffer_commit_empty", message);
            }
            Ok(())
        }
        "input_audio_buffer.clear" => keys(order, "event", &[]),
        "conversation.item.create" => {
            keys(order, "event", &["item", "previous_item_id"])?;
            item(&order["item"], talk)
        }
        "conversation.item.truncate" => truncate(order, talk),
        "conversation.item.delete" | "conversation.item.retrieve" => {
            keys(order, "event", &["item_id"])?;
            known_item(order, talk).map(|_| ())
        }
        "response.create" => {
            keys(order, "event", &["response"])?;
            response(&order["response"], talk)
        }
        "response.cancel" => {
            keys(order, "event", &["response_id"])?;
            match talk.is_answering {
                true => Ok(()),
                false => refused("response_cancel_not_active", "no active response found"),
            }
        }
        _ => refused("invalid_value", format!("Invalid value: '{kind}' for 'type'")),
    }
}

/// Refuses keys that are not known; an event may always have a type and an id.
fn keys(of: &Value, path: &str, known: &[&str]) -> Checked {
    let Some(of) = of.as_object() else {
        return refused("invalid_type", format!("'{path}' is no object"));
    };
    let always: &[&str] = if path == "event" { &["type", "event_id"] } else { &[] };
    match of.keys().find(|key| !known.contains(&key.as_str()) && !always.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => refused("unknown_parameter", format!("Unknown parameter: '{path}.{key}'.")),
    }
}

fn one_of(value: &Value, path: &str, known: &[&str]) -> Checked {
    match value.as_str() {
        _ if value.is_null() => Ok(()),
        Some(text) if known.contains(&text) => Ok(()),
        _ => refused("invalid_value", format!("Invalid value: {value} for '{path}'.")),
    }
}

fn session(session: &Value, talk: &Conversation) -> Checked {
    keys(session, "session", &SESSION)?;
    if session["type"] != "realtime" {
        return refused(
            "missing_required_parameter",
            "Missing required parameter: 'session.type'.",
        );
    }
    shared_settings(session, "session")?;
    let Some(audio) = session.get("audio") else { return Ok(()) };
    keys(audio, "session.audio", &["input", "output"])?;
    if let Some(input) = audio.get("input") {
        let known = ["format", "noise_reduction", "transcription", "turn_detection"];
        keys(input, "session.audio.input", &known)?;
        format(input, "session.audio.input.format")?;
        if let Some(turns) = input.get("turn_detection").filter(|it| !it.is_null()) {
            one_of(&turns["type"], "turn_detection.type", &["server_vad", "semantic_vad"])?;
        }
    }
    if let Some(output) = audio.get("output") {
        keys(output, "session.audio.output", &["format", "voice", "speed"])?;
        format(output, "session.audio.output.format")?;
        voice(output, talk)?;
    }
    Ok(())
}

/// Checks the settings that a session and an answer have in common.
fn shared_settings(settings: &Value, path: &str) -> Checked {
    if let Some(modes) = settings.get("output_modalities") {
        let one = modes.as_array().filter(|modes| modes.len() == 1);
        if !one.is_some_and(|modes| modes[0] == "audio" || modes[0] == "text") {
            let message = format!("Invalid modalities: {modes} for '{path}.output_modalities'.");
            return refused("invalid_value", message);
        }
    }
    if settings.get("instructions").is_some_and(|it| !it.is_string()) {
        return refused("invalid_type", format!("'{path}.instructions' is no text"));
    }
    if let Some(most) = settings.get("max_output_tokens")
        && most != "inf"
        && !most.as_u64().is_some_and(|most| (1..=4096).contains(&most))
    {
        let message = format!("Invalid value: {most} for '{path}.max_output_tokens'.");
        return refused("integer_out_of_range", message);
    }
    match settings.get("tool_choice") {
        None => {}
        Some(Value::Object(choice)) if choice.get("name").is_some_and(Value::is_string) => {
            one_of(&settings["tool_choice"]["type"], "tool_choice.type", &["function"])?;
        }
        Some(choice) => one_of(choice, "tool_choice", &["auto", "none", "required"])?,
    }
    match settings.get("tools").map(Value::as_array) {
        None => Ok(()),
        Some(None) => refused("invalid_type", format!("'{path}.tools' is no list")),
        Some(Some(tools)) => tools.iter().try_for_each(tool),
    }
}

fn tool(tool: &Value) -> Checked {
    // Tools here are flat, other than in chat.
    keys(tool, "tools[]", &["type", "name", "description", "parameters"])?;
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name = tool["name"].as_str().unwrap_or_default();
    if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
        return refused("invalid_value", format!("Invalid 'tools[].name': '{name}'."));
    }
    if tool["type"] != "function" || tool["parameters"]["type"] != "object" {
        return refused("invalid_value", format!("The tool '{name}' is no function of an object."));
    }
    Ok(())
}

fn format(of: &Value, path: &str) -> Checked {
    match of.get("format") {
        None => Ok(()),
        Some(format) if format["type"] == "audio/pcm" && format["rate"] == 24_000 => {
            keys(format, path, &["type", "rate"])
        }
        Some(format) => refused("invalid_value", format!("Invalid value: {format} for '{path}'.")),
    }
}

fn voice(output: &Value, talk: &Conversation) -> Checked {
    let Some(voice) = output.get("voice") else { return Ok(()) };
    if voice.get("id").is_none_or(|id| !id.is_string()) {
        one_of(voice, "session.audio.output.voice", &VOICES)?;
    }
    if talk.has_spoken && *voice != talk.voice {
        let message = "Cannot update a conversation's voice if assistant audio is present.";
        return refused("cannot_update_voice", message);
    }
    Ok(())
}

fn append(order: &Value) -> Checked {
    keys(order, "event", &["audio"])?;
    match order["audio"].as_str() {
        Some(audio) if audio.len() > APPEND_MAX => refused("invalid_value", "too much sound"),
        Some(audio) if STANDARD.decode(audio).is_ok_and(|bytes| bytes.len().is_multiple_of(2)) => {
            Ok(())
        }
        _ => refused("invalid_value", "Invalid 'audio': no base64 of 16-bit samples."),
    }
}

/// An item by the `item_id` of an order.
fn known_item<'t>(order: &Value, talk: &'t Conversation) -> Result<&'t Item, Refusal> {
    let found = talk.items.iter().find(|item| order["item_id"] == item.id.as_str());
    found.ok_or_else(|| Refusal {
        code: "item_not_found",
        message: format!("The item {} does not exist.", order["item_id"]),
    })
}

fn truncate(order: &Value, talk: &Conversation) -> Checked {
    keys(order, "event", &["item_id", "content_index", "audio_end_ms"])?;
    let item = known_item(order, talk)?;
    if !item.is_answer || order["content_index"] != 0 {
        return refused("invalid_value", "Only the sound of an assistant can be truncated.");
    }
    match order["audio_end_ms"].as_u64() {
        Some(end) if end <= item.sound_ms => Ok(()),
        end => {
            let length = item.sound_ms;
            let message = format!("Audio content of {length}ms is already shorter than {end:?}ms");
            refused("invalid_value", message)
        }
    }
}

fn item(item: &Value, talk: &Conversation) -> Checked {
    if let Some(id) = item.get("id") {
        let id = id.as_str().unwrap_or_default();
        let is_used = talk.items.iter().any(|known| known.id == id);
        if id.is_empty() || id.len() > ID_MAX || is_used {
            return refused("invalid_value", format!("Invalid 'item.id': '{id}'."));
        }
    }
    match item["type"].as_str() {
        Some("message") => message(item),
        Some("function_call_output") => result(item, talk),
        Some("function_call") => {
            keys(item, "item", &["id", "type", "status", "object", "call_id", "name", "arguments"])
        }
        kind => refused("invalid_value", format!("Invalid value: {kind:?} for 'item.type'.")),
    }
}

fn message(item: &Value) -> Checked {
    keys(item, "item", &["id", "type", "status", "object", "role", "content"])?;
    let kinds: &[&str] = match item["role"].as_str() {
        Some("user") => &["input_text", "input_audio"],
        Some("assistant") => &["output_text"],
        Some("system") => &["input_text"],
        role => return refused("invalid_value", format!("Invalid role: {role:?}.")),
    };
    let content = item["content"].as_array().filter(|parts| !parts.is_empty());
    let Some(content) = content else {
        return refused("missing_required_parameter", "Missing parameter: 'item.content'.");
    };
    for part in content {
        if part["type"].is_null() {
            return refused("missing_required_parameter", "'item.content[].type' is missing");
        }
        one_of(&part["type"], "item.content[].type", kinds)?;
        let is_sound = part["type"] == "input_audio";
        let (key, known) = if is_sound { ("audio", "transcript") } else { ("text", "text") };
        keys(part, "item.content[]", &["type", key, known])?;
        if !part[key].is_string() {
            return refused("missing_required_parameter", format!("'item.content[].{key}'"));
        }
    }
    Ok(())
}

fn result(item: &Value, talk: &Conversation) -> Checked {
    keys(item, "item", &["id", "type", "status", "object", "call_id", "output"])?;
    let call = talk.calls.iter().find(|(id, _)| item["call_id"] == id.as_str());
    match call {
        _ if !item["output"].is_string() => {
            refused("invalid_type", "Invalid type for 'item.output': it is no text.")
        }
        None => {
            let message = format!("Tool call ID {} not found in conversation.", item["call_id"]);
            refused("invalid_tool_call_id", message)
        }
        Some((id, true)) => refused("duplicate_output", format!("'{id}' has its result.")),
        Some((_, false)) => Ok(()),
    }
}

fn response(response: &Value, talk: &Conversation) -> Checked {
    if talk.is_answering {
        let message = "Conversation already has an active response in progress.";
        return refused("conversation_already_has_active_response", message);
    }
    if response.is_null() {
        return Ok(());
    }
    keys(response, "response", &RESPONSE)?;
    shared_settings(response, "response")
}
