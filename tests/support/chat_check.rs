//! Refusals of an OpenAI-compatible service, in its words or near them.
//!
//! Entry points: [`check_chat`], [`check_speech`], [`check_transcription`], [`check_embeddings`].
//! **Never**: refuses what the real service takes.

use serde_json::Value;

use super::Recorded;

/// Refuses a chat request that OpenAI would refuse.
///
/// # Errors
/// Its words.
pub fn check_chat(body: &Value) -> Result<(), String> {
    let filled = |key: &str| body[key].as_str().is_some_and(|text| !text.is_empty());
    ensure(body.is_object(), "We could not parse the JSON body of your request.")?;
    ensure(filled("model"), "you must provide a model parameter")?;
    ensure(body["stream"] == true, "stream must be true")?;
    let both = body.get("max_tokens").is_some() && body.get("max_completion_tokens").is_some();
    ensure(!both, "Setting 'max_tokens' and 'max_completion_tokens' at the same time")?;
    for key in ["max_tokens", "max_completion_tokens"] {
        let fits = body.get(key).is_none_or(|max| max.as_u64().is_some_and(|max| max > 0));
        ensure(fits, &format!("Invalid '{key}': expected an integer above 0"))?;
    }
    let warm = body
        .get("temperature")
        .is_none_or(|t| t.as_f64().is_some_and(|t| (0.0..=2.0).contains(&t)));
    ensure(warm, "Invalid 'temperature'")?;
    check_tools(body)?;
    check_messages(body["messages"].as_array().map_or(&[], Vec::as_slice))
}

fn check_tools(body: &Value) -> Result<(), String> {
    let Some(tools) = body.get("tools") else {
        ensure(body.get("tool_choice").is_none(), "'tool_choice' is only allowed with 'tools'")?;
        let parallel = body.get("parallel_tool_calls").is_none();
        return ensure(parallel, "'parallel_tool_calls' is only allowed with 'tools'");
    };
    let tools = tools.as_array().ok_or("'tools' is no array")?;
    ensure((1..=128).contains(&tools.len()), "[] is too short - 'tools'")?;
    let mut names = Vec::new();
    for tool in tools {
        ensure(tool["type"] == "function", "Invalid type of a tool")?;
        let name = tool["function"]["name"].as_str().unwrap_or_default();
        ensure(is_name(name), &format!("Invalid 'tools[].function.name': '{name}'"))?;
        ensure(!names.contains(&name), &format!("Duplicate tool '{name}'"))?;
        names.push(name);
        let parameters = &tool["function"]["parameters"];
        ensure(parameters["type"] == "object", &format!("Invalid schema for function '{name}'"))?;
    }
    match &body["tool_choice"] {
        Value::Null => Ok(()),
        Value::String(choice) => {
            ensure(["auto", "none", "required"].contains(&choice.as_str()), "Invalid 'tool_choice'")
        }
        named => {
            let name = named["function"]["name"].as_str().unwrap_or_default();
            ensure(names.contains(&name), &format!("Tool choice '{name}' not found in 'tools'"))
        }
    }
}

fn check_messages(messages: &[Value]) -> Result<(), String> {
    ensure(!messages.is_empty(), "[] is too short - 'messages'")?;
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let content = &message["content"];
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let known = open.iter().position(|open| *open == id);
            let known = known
                .ok_or(format!("messages[{at}]: no call '{id}' to answer with a tool message"))?;
            open.remove(known);
            ensure(content.is_string(), &format!("messages[{at}].content is no string"))?;
            continue;
        }
        ensure(
            open.is_empty(),
            &format!("messages[{at}]: tool messages must follow 'tool_calls', missing: {open:?}"),
        )?;
        let calls = message["tool_calls"].as_array().map_or(&[] as &[Value], Vec::as_slice);
        match role {
            "system" | "developer" | "user" => {
                ensure(
                    content.is_string() && calls.is_empty(),
                    &format!("messages[{at}].content"),
                )?;
            }
            "assistant" => {
                let fits = content.is_string() || (content.is_null() && !calls.is_empty());
                ensure(fits, &format!("messages[{at}].content of the assistant"))?;
            }
            other => return Err(format!("messages[{at}]: unknown role '{other}'")),
        }
        for call in calls {
            let id = call["id"].as_str().unwrap_or_default();
            let function = &call["function"];
            ensure(
                !id.is_empty() && !open.contains(&id),
                &format!("messages[{at}]: call id '{id}'"),
            )?;
            ensure(
                is_name(function["name"].as_str().unwrap_or_default()),
                "Invalid name of a call",
            )?;
            ensure(call["type"] == "function", "Invalid type of a call")?;
            ensure(function["arguments"].is_string(), "'arguments' is no string")?;
            open.push(id);
        }
    }
    ensure(open.is_empty(), &format!("calls without a result: {open:?}"))
}

/// Refuses an embeddings request that OpenAI would refuse.
///
/// # Errors
/// Its words.
pub fn check_embeddings(body: &Value) -> Result<(), String> {
    let filled = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    ensure(filled(&body["model"]), "you must provide a model parameter")?;
    let texts = body["input"].as_array().map_or(&[][..], Vec::as_slice);
    let fits = (1..=2048).contains(&texts.len()) && texts.iter().all(filled);
    ensure(fits, "'$.input' is invalid.")?;
    let format = body.get("encoding_format").is_none_or(|it| it == "float" || it == "base64");
    ensure(format, "Invalid 'encoding_format'")
}

/// Refuses a speech request without what it needs.
///
/// # Errors
/// Its words.
pub fn check_speech(body: &Value) -> Result<(), String> {
    for key in ["model", "voice", "input"] {
        ensure(
            body[key].as_str().is_some_and(|text| !text.is_empty()),
            &format!("missing '{key}'"),
        )?;
    }
    let speed =
        body.get("speed").is_none_or(|s| s.as_f64().is_some_and(|s| (0.25..=4.0).contains(&s)));
    ensure(speed, "Invalid 'speed'")?;
    let formats = ["mp3", "opus", "aac", "flac", "wav", "pcm"];
    let format =
        body.get("response_format").is_none_or(|it| formats.iter().any(|format| it == format));
    ensure(format, "Invalid 'response_format'")?;
    let Some(style) = body.get("instructions") else { return Ok(()) };
    let older = body["model"].as_str().is_some_and(|model| model.starts_with("tts-1"));
    ensure(!older, "'instructions' is not supported with this model")?;
    let fits = style.as_str().is_some_and(|style| style.chars().count() <= 4_096);
    ensure(fits, "Invalid 'instructions'")
}

/// Refuses an upload that is no form with a WAV.
///
/// # Errors
/// Its words.
pub fn check_transcription(request: &Recorded) -> Result<(), String> {
    let multipart = request
        .headers
        .iter()
        .any(|(name, value)| name == "content-type" && value.starts_with("multipart/form-data"));
    ensure(multipart, "the body is no multipart form")?;
    let body = String::from_utf8_lossy(&request.body);
    for part in ["name=\"model\"", "name=\"file\"; filename=\"", ".wav\"", "RIFF"] {
        ensure(body.contains(part), &format!("missing {part}"))?;
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (1..=64).contains(&name.len()) && name.chars().all(fits)
}

fn ensure(holds: bool, message: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message.to_owned()) }
}
