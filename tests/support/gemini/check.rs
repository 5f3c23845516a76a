//! Mistakes that the real service refuses.
//!
//! Entry functions: [`handshake`], [`message`]; entry type: [`Conversation`], against which a message is
//! checked. Whatever is refused closes the connection, with a code and a reason and nothing before it.

use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde_json::Value;
use tokio_tungstenite::tungstenite::handshake::server::Request;

use super::setup;

/// Code of nearly all refusals.
pub const INVALID: u16 = 1007;
/// Says nothing about what is wrong, as most refusals of the service.
pub const UNSAID: &str = "Request contains an invalid argument.";
/// MIME type of sound.
const SOUND: &str = "audio/pcm;rate=16000";
/// The path, around its version.
const PATH: [&str; 2] =
    ["/ws/google.ai.generativelanguage.", ".GenerativeService.BidiGenerateContent"];
const VERSIONS: [&str; 3] = ["v1beta", "v1", "v1alpha"];

/// Reason for closing a connection.
#[derive(Debug)]
pub struct Refusal {
    /// 1007, 1008.
    pub code: u16,
    /// For people.
    pub reason: String,
}

pub type Checked = Result<(), Refusal>;

pub fn refused(code: u16, reason: impl Into<String>) -> Checked {
    Err(Refusal { code, reason: reason.into() })
}

/// A session, as far as it is known.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// Its setup; null before it.
    pub setup: Value,
    /// Bytes of all that was written.
    pub said: usize,
    /// Milliseconds of all that was heard.
    pub heard_ms: u64,
    /// Milliseconds of all that was spoken.
    pub spoken_ms: u64,
    /// Calls that were made.
    pub calls: Vec<Call>,
    /// True if the conversation before this session is still awaited.
    pub awaits_history: bool,
    /// Milliseconds of the utterance that is being heard.
    pub activity: Option<u64>,
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its name for the service.
    pub id: String,
    /// The tool.
    pub name: String,
    /// True if the answer waits for it.
    pub is_blocking: bool,
    /// Progress of the call.
    pub stage: Stage,
}

/// Progress of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It waits for its result.
    Open,
    /// It has its result.
    Answered,
    /// The service has taken it back.
    Cancelled,
}

impl Conversation {
    /// True if the client marks the beginning and the end of speech.
    pub fn is_manual(&self) -> bool {
        let detection = &self.setup["realtimeInputConfig"]["automaticActivityDetection"];
        detection["disabled"] == true
    }

    /// True if a new utterance interrupts an answer.
    pub fn is_interrupted(&self) -> bool {
        self.setup["realtimeInputConfig"]["activityHandling"] != "NO_INTERRUPTION"
    }

    /// True if a part of the setup was asked for, even if it is empty.
    pub fn has(&self, part: &str) -> bool {
        self.setup.get(part).is_some_and(Value::is_object)
    }

    /// Most tokens of an answer.
    pub fn max_tokens(&self) -> Option<u64> {
        self.setup["generationConfig"]["maxOutputTokens"].as_u64()
    }

    /// All tools, as they were declared.
    pub fn tools(&self) -> impl Iterator<Item = &Value> {
        let tools = self.setup["tools"].as_array().into_iter().flatten();
        tools.flat_map(|it| it["functionDeclarations"].as_array().into_iter().flatten())
    }

    /// True if the answer waits for the results of this tool: only if it was declared so.
    pub fn is_blocking(&self, tool: &str) -> bool {
        self.tools().any(|it| it["name"] == tool && it["behavior"] == "BLOCKING")
    }

    /// Calls for whose results the answer waits.
    pub fn awaited(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| call.is_blocking && call.stage == Stage::Open)
    }
}

/// Status and message with which a handshake is refused.
pub fn handshake(request: &Request) -> Option<(u16, String)> {
    let path = request.uri().path();
    let version = path.strip_prefix(PATH[0]).and_then(|it| it.strip_suffix(PATH[1]));
    match version {
        Some(version) if VERSIONS.contains(&version) => None,
        _ => Some((404, format!("The requested URL {path} was not found on this server."))),
    }
}

/// Checks the key, in the header or in the query. A wrong one is taken, and then the connection closed.
pub fn key(request: &Request, key: &str) -> Checked {
    let header = request.headers().get("x-goog-api-key").and_then(|it| it.to_str().ok());
    let pairs = request.uri().query().unwrap_or_default().split('&');
    let in_query = pairs.filter_map(|pair| pair.strip_prefix("key=")).next();
    match header.or(in_query) {
        Some(given) if given == key => Ok(()),
        Some(_) => refused(INVALID, "API key not valid. Please pass a valid API key."),
        None => {
            let reason = "Method doesn't allow unregistered callers (callers without established \
                          identity).";
            refused(1008, reason)
        }
    }
}

/// Checks a message of the client.
pub fn message(message: &Value, known: &Conversation) -> Checked {
    fields(message, "", &["setup", "clientContent", "realtimeInput", "toolResponse"])?;
    let kinds = message.as_object().into_iter().flatten().collect::<Vec<_>>();
    let [(kind, body)] = kinds.as_slice() else {
        return refused(INVALID, "Invalid value: oneof field 'message_type' is already set.");
    };
    match (kind.as_str(), known.setup.is_null()) {
        ("setup", true) => setup::check(body),
        ("setup", false) | (_, true) => {
            refused(INVALID, "setup must be the first message and only the first")
        }
        ("clientContent", _) => content(body, known),
        ("realtimeInput", _) => input(body, known),
        _ => results(body, known),
    }
}

/// Refuses fields that are not known; nothing at all may be missing.
pub fn fields(of: &Value, at: &str, known: &[&str]) -> Checked {
    if of.is_null() {
        return Ok(());
    }
    let Some(of) = of.as_object() else {
        return refused(INVALID, format!("Invalid value at '{at}': it is no object."));
    };
    match of.keys().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let at = if at.is_empty() { String::new() } else { format!(" at '{at}'") };
            let reason = format!(
                "Invalid JSON payload received. Unknown name \"{name}\"{at}: Cannot find field."
            );
            refused(INVALID, reason)
        }
    }
}

pub fn one_of(value: &Value, at: &str, known: &[&str]) -> Checked {
    match value.as_str() {
        _ if value.is_null() => Ok(()),
        Some(text) if known.contains(&text) => Ok(()),
        _ => refused(INVALID, format!("Invalid value at '{at}': {value}")),
    }
}

/// The text of some content; `None`: it has other parts, or none.
pub fn text(content: &Value) -> Option<String> {
    let parts = content["parts"].as_array().filter(|parts| !parts.is_empty())?;
    parts.iter().map(|part| part["text"].as_str()).collect()
}

fn content(content: &Value, known: &Conversation) -> Checked {
    fields(content, "client_content", &["turns", "turnComplete"])?;
    let turns: Vec<&Value> = content["turns"].as_array().into_iter().flatten().collect();
    for turn in &turns {
        fields(turn, "client_content.turns[0]", &["role", "parts"])?;
        if !["user", "model"].iter().any(|role| turn["role"] == *role) {
            return refused(INVALID, "Please use a valid role: user, model.");
        }
        if text(turn).is_none_or(|text| text.is_empty()) {
            return refused(INVALID, UNSAID);
        }
    }
    let is_complete = content["turnComplete"] == true;
    if is_complete && !known.awaits_history && turns.last().is_some_and(|it| it["role"] == "model")
    {
        return refused(INVALID, "Last chunk before turn_complete must have role USER.");
    }
    Ok(())
}

/// Bytes of a field; the service takes both alphabets.
pub fn decoded(data: &Value) -> Option<Vec<u8>> {
    let data = data.as_str()?;
    let any = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let read = |alphabet| GeneralPurpose::new(alphabet, any).decode(data).ok();
    read(&STANDARD).or_else(|| read(&URL_SAFE))
}

fn input(input: &Value, known: &Conversation) -> Checked {
    let kinds = ["audio", "activityStart", "activityEnd", "audioStreamEnd"];
    fields(input, "realtime_input", &kinds)?;
    if known.awaits_history {
        return refused(INVALID, "The initial history is not complete.");
    }
    if input.get("audio").is_some() {
        let audio = &input["audio"];
        fields(audio, "realtime_input.audio", &["mimeType", "data"])?;
        let is_sound = decoded(&audio["data"]).is_some_and(|bytes| bytes.len().is_multiple_of(2));
        if audio["mimeType"] != SOUND || !is_sound {
            return refused(INVALID, UNSAID);
        }
        if known.is_manual() && known.activity.is_none() {
            return refused(INVALID, "There is sound outside of an activity.");
        }
    }
    let (begins, ends) = (input.get("activityStart"), input.get("activityEnd"));
    if (begins.is_some() || ends.is_some()) && !known.is_manual() {
        let reason = "Explicit activity control is not supported when automatic activity detection \
                      is enabled.";
        return refused(INVALID, reason);
    }
    match known.activity {
        Some(_) if begins.is_some() => refused(INVALID, "The activity has begun already."),
        None if ends.is_some() => refused(INVALID, "There is no activity that could end."),
        _ => Ok(()),
    }
}

fn results(response: &Value, known: &Conversation) -> Checked {
    fields(response, "tool_response", &["functionResponses"])?;
    let results = response["functionResponses"].as_array().into_iter().flatten();
    for result in results {
        let at = "tool_response.function_responses[0]";
        let named = ["id", "name", "response", "scheduling", "willContinue", "parts"];
        fields(result, at, &named)?;
        one_of(&result["scheduling"], at, &["SILENT", "WHEN_IDLE", "INTERRUPT"])?;
        let call = known.calls.iter().find(|call| result["id"] == call.id.as_str());
        let Some(call) = call else {
            return refused(INVALID, format!("There is no call {}.", result["id"]));
        };
        if result["name"] != call.name.as_str() || !result["response"].is_object() {
            return refused(INVALID, UNSAID);
        }
        if call.stage == Stage::Answered {
            return refused(INVALID, format!("The call {} has its result.", call.id));
        }
    }
    Ok(())
}
