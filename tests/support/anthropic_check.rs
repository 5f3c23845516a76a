//! Refusals of Anthropic's Messages API, in its words or near them.
//!
//! Entry point: [`check_messages`]. A model whose name begins with "thinker" must think and cannot be
//! made to call, as some of the real ones.
//! **Never**: refuses what the real service takes.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::anthropic_server::sign;
use super::Recorded;

/// Versions of the API.
const VERSIONS: [&str; 2] = ["2023-06-01", "2026-10-21"];
/// Members of a request.
const MEMBERS: &str = "model max_tokens messages system tools tool_choice thinking output_config \
    stop_sequences metadata stream service_tier speed cache_control";

/// Refuses a request that the service would refuse.
///
/// # Errors
/// Its words.
pub fn check_messages(request: &Recorded) -> Result<(), String> {
    let version = request.header("anthropic-version").unwrap_or_default();
    ensure(!version.is_empty(), "anthropic-version: header is required")?;
    ensure(VERSIONS.contains(&version), "anthropic-version: unknown version")?;
    let is_json = request.header("content-type").is_some_and(|it| it == "application/json");
    ensure(is_json, "content-type: application/json is required")?;
    let body = &request.json;
    ensure(body.is_object(), "The request body is not valid JSON")?;
    members(body, MEMBERS, "")?;
    let filled = |key: &str| body[key].as_str().is_some_and(|text| !text.is_empty());
    ensure(filled("model"), "model: Field required")?;
    let max = body["max_tokens"].as_u64().filter(|max| *max > 0);
    let max = max.ok_or("max_tokens: Field required")?;
    ensure(body["stream"] == true, "stream: this fake only streams")?;
    ensure(count_marks(body) <= 4, "A maximum of 4 blocks with cache_control may be provided.")?;
    check_system(&body["system"])?;
    check_tools(body)?;
    check_thinking(body, max)?;
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let thinks = body["thinking"]["type"] == "enabled";
    let used = check_conversation(messages, thinks)?;
    let defined = !used || body.get("tools").is_some();
    ensure(defined, "Requests which include `tool_use` or `tool_result` blocks must define tools")
}

fn check_system(system: &Value) -> Result<(), String> {
    match system {
        Value::Null => Ok(()),
        Value::String(text) => filled(text, "system"),
        Value::Array(blocks) => blocks.iter().try_for_each(|block| check_text(block, "system")),
        _ => Err("system: Input should be a valid list".to_owned()),
    }
}

fn check_tools(body: &Value) -> Result<(), String> {
    let Some(tools) = body.get("tools") else {
        return ensure(body.get("tool_choice").is_none(), "tool_choice: may only be with tools");
    };
    let tools = tools.as_array().ok_or("tools: Input should be a valid list")?;
    let mut names = BTreeSet::new();
    for (at, tool) in tools.iter().enumerate() {
        let place = format!("tools.{at}");
        members(tool, "name description input_schema cache_control strict", &place)?;
        let name = tool["name"].as_str().unwrap_or_default();
        ensure(is_name(name, 128), &format!("{place}.name: String should match pattern"))?;
        ensure(names.insert(name), &format!("{place}: Tool names must be unique."))?;
        let schema = &tool["input_schema"];
        ensure(schema["type"] == "object", &format!("{place}.input_schema.type: Field required"))?;
        check_mark(tool, &place)?;
    }
    let choice = &body["tool_choice"];
    if choice.is_null() {
        return Ok(());
    }
    members(choice, "type name disable_parallel_tool_use", "tool_choice")?;
    let kind = choice["type"].as_str().unwrap_or_default();
    let named = choice["name"].as_str().unwrap_or_default();
    let fits = match kind {
        "auto" | "any" | "none" => choice.get("name").is_none(),
        "tool" => names.contains(named),
        _ => false,
    };
    ensure(fits, &format!("tool_choice: '{kind}' '{named}' does not fit"))?;
    let forces = matches!(kind, "any" | "tool");
    ensure(
        !forces || !is_thinker(body),
        "tool_choice: forced tool use is not supported on this model",
    )
}

fn check_thinking(body: &Value, max_tokens: u64) -> Result<(), String> {
    let thinking = &body["thinking"];
    let kind = thinking["type"].as_str().unwrap_or_default();
    let allowed = match kind {
        "enabled" => "type budget_tokens display",
        "adaptive" => "type display",
        "disabled" => "type",
        _ => return ensure(thinking.is_null(), "thinking.type: unknown"),
    };
    members(thinking, allowed, "thinking")?;
    let takes = kind == "adaptive" || !is_thinker(body);
    ensure(takes, &format!("thinking.type: \"{kind}\" is not supported on this model"))?;
    if kind == "enabled" {
        let budget = thinking["budget_tokens"].as_u64().unwrap_or_default();
        ensure(budget >= 1_024, "thinking.enabled.budget_tokens: should be at least 1024")?;
        ensure(budget < max_tokens, "`max_tokens` must be greater than `thinking.budget_tokens`.")?;
        let forces = ["any", "tool"].iter().any(|kind| body["tool_choice"]["type"] == *kind);
        ensure(!forces, "Thinking may not be enabled when tool_choice forces tool use.")?;
    }
    Ok(())
}

/// Checks it; true if there are calls in it.
fn check_conversation(messages: &[Value], thinks: bool) -> Result<bool, String> {
    ensure(!messages.is_empty(), "messages: at least one message is required")?;
    ensure(messages[0]["role"] == "user", "messages: first message must use the \"user\" role")?;
    let last = messages.last().is_some_and(|last| last["role"] == "user");
    ensure(last, "messages: This model does not support assistant message prefill.")?;
    let (mut open, mut ids) = (Vec::<String>::new(), BTreeSet::new());
    for (at, message) in messages.iter().enumerate() {
        let place = format!("messages.{at}");
        members(message, "role content", &place)?;
        let is_user = message["role"] == "user";
        ensure(
            is_user || message["role"] == "assistant",
            &format!("{place}.role: Input should be 'user' or 'assistant'"),
        )?;
        let content = &message["content"];
        let none = Vec::new();
        let blocks = match content {
            Value::String(text) => {
                filled(text, &place)?;
                &none
            }
            Value::Array(blocks) if !blocks.is_empty() => blocks,
            _ => return Err(format!("{place}: must have non-empty content")),
        };
        let results = blocks.iter().take_while(|block| block["type"] == "tool_result").count();
        for (index, block) in blocks.iter().enumerate() {
            let place = format!("{place}.content.{index}");
            check_block(block, is_user, &place)?;
            match block["type"].as_str() {
                Some("tool_use") => {
                    let id = block["id"].as_str().unwrap_or_default().to_owned();
                    let is_new = ids.insert(id.clone());
                    ensure(is_new, &format!("{place}: `tool_use` ids must be unique"))?;
                    open.push(id);
                }
                Some("tool_result") => {
                    let id = block["tool_use_id"].as_str().unwrap_or_default();
                    let known = open.iter().position(|it| it == id).filter(|_| index < results);
                    let known = known.ok_or(format!(
                        "{place}: unexpected `tool_use_id` found in `tool_result` blocks: {id}"
                    ))?;
                    open.remove(known);
                }
                _ => {}
            }
        }
        let answered = !is_user || open.is_empty();
        ensure(
            answered,
            &format!(
                "{place}: `tool_use` ids were found without `tool_result` blocks immediately after: {open:?}"
            ),
        )?;
    }
    if thinks {
        check_open_calls(messages)?;
    }
    Ok(!ids.is_empty())
}

/// With thinking, the calls that are being answered begin with a thought.
fn check_open_calls(messages: &[Value]) -> Result<(), String> {
    let is_said = |message: &Value| {
        message["role"] == "user"
            && message["content"]
                .as_array()
                .is_none_or(|blocks| blocks.iter().any(|block| block["type"] != "tool_result"))
    };
    let begin = messages.iter().rposition(is_said).unwrap_or_default();
    for (at, message) in messages.iter().enumerate().skip(begin + 1) {
        let first = message["content"][0]["type"].as_str().unwrap_or_default();
        let fits = message["role"] == "user" || matches!(first, "thinking" | "redacted_thinking");
        ensure(
            fits,
            &format!(
                "messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found \
             `{first}`."
            ),
        )?;
    }
    Ok(())
}

fn check_block(block: &Value, is_user: bool, place: &str) -> Result<(), String> {
    let text = |key: &str| block[key].as_str().unwrap_or_default();
    match (text("type"), is_user) {
        ("text", _) => return check_text(block, place),
        ("tool_result", true) => {
            members(block, "type tool_use_id content is_error cache_control", place)?;
            let content = &block["content"];
            let fits = content.is_null() || content.is_string() || content.is_array();
            ensure(fits, &format!("{place}.content: Input should be a valid string"))?;
        }
        ("tool_use", false) => {
            members(block, "type id name input cache_control caller", place)?;
            ensure(is_name(text("id"), 128), &format!("{place}.id: String should match pattern"))?;
            ensure(is_name(text("name"), 200), &format!("{place}.name: should match pattern"))?;
            let input = block["input"].is_object();
            ensure(input, &format!("{place}.input: Input should be a valid dictionary"))?;
        }
        ("thinking", false) => {
            members(block, "type thinking signature", place)?;
            let signed = text("signature") == sign(text("thinking"));
            ensure(signed, &format!("{place}: Invalid `signature` in `thinking` block"))?;
        }
        ("redacted_thinking", false) => {
            members(block, "type data", place)?;
            let known = text("data") == sign("redacted");
            ensure(known, &format!("{place}: Invalid `data` in `redacted_thinking` block"))?;
        }
        (kind, _) => return Err(format!("{place}: '{kind}' does not match any expected tag")),
    }
    check_mark(block, place)
}

fn check_text(block: &Value, place: &str) -> Result<(), String> {
    members(block, "type text cache_control citations", place)?;
    ensure(block["type"] == "text", &format!("{place}.type: Input should be 'text'"))?;
    filled(block["text"].as_str().unwrap_or_default(), place)?;
    check_mark(block, place)
}

fn check_mark(block: &Value, place: &str) -> Result<(), String> {
    let Some(mark) = block.get("cache_control") else { return Ok(()) };
    members(mark, "type ttl", &format!("{place}.cache_control"))?;
    let ttl = mark.get("ttl").is_none_or(|ttl| ttl == "5m" || ttl == "1h");
    ensure(mark["type"] == "ephemeral" && ttl, &format!("{place}.cache_control: invalid"))
}

fn count_marks(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(count_marks).sum(),
        Value::Object(members) => {
            let own = usize::from(members.contains_key("cache_control"));
            own + members.values().map(count_marks).sum::<usize>()
        }
        _ => 0,
    }
}

fn is_thinker(body: &Value) -> bool {
    body["model"].as_str().is_some_and(|model| model.starts_with("thinker"))
}

fn filled(text: &str, place: &str) -> Result<(), String> {
    ensure(!text.trim().is_empty(), &format!("{place}: text content blocks must be non-empty"))
}

/// Nothing but these members.
fn members(value: &Value, allowed: &str, place: &str) -> Result<(), String> {
    let members = value.as_object().ok_or(format!("{place}: Input should be an object"))?;
    match members.keys().find(|key| !allowed.split_whitespace().any(|it| it == *key)) {
        Some(key) if place.is_empty() => Err(format!("{key}: Extra inputs are not permitted")),
        Some(key) => Err(format!("{place}.{key}: Extra inputs are not permitted")),
        None => Ok(()),
    }
}

fn is_name(name: &str, longest: usize) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (1..=longest).contains(&name.len()) && name.chars().all(fits)
}

fn ensure(holds: bool, message: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message.to_owned()) }
}
