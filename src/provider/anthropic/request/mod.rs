//! Builds the body of a request.
//!
//! Entry function: [`body`]. The beginning (tools, prompt, messages before the turn) stays the same
//! between turns and is marked for the service's cache. **Never**: clocks, ids or anything else
//! that changes between equal conversations.

use serde_json::{Map, Value, json};

use super::{
    Options,
    messages::{self, Conversation},
    taste::{Taste, Thinking},
};
use crate::{
    domain::{ToolChoice, ToolSpec},
    provider::ChatRequest,
};

/// Members that `extra_body` cannot override.
pub const OWN_MEMBERS: [&str; 8] =
    ["model", "max_tokens", "messages", "stream", "system", "thinking", "tools", "tool_choice"];

pub fn body(options: &Options, request: &ChatRequest, taste: Taste) -> Value {
    let thinking = thinking(request, taste);
    let goes_back = taste.thoughts && thinking != Thinking::Disabled;
    let Conversation { system, messages, called } = messages::write(&request.messages, goes_back);
    let mut body = Map::new();
    if taste.asks_for_little() {
        body.insert("output_config".into(), json!({"effort": "low"}));
    }
    body.extend(options.reach.extra_body.clone());
    body.insert("model".into(), json!(options.reach.model));
    body.insert("stream".into(), json!(true));
    let thoughts = options.thinking.filter(|_| thinking != Thinking::Disabled).unwrap_or_default();
    body.insert("max_tokens".into(), json!(request.max_tokens.saturating_add(thoughts)));
    match thinking {
        Thinking::Disabled => body.insert("thinking".into(), json!({"type": "disabled"})),
        Thinking::Budget => {
            body.insert("thinking".into(), json!({"type": "enabled", "budget_tokens": thoughts}))
        }
        Thinking::Adaptive => body.insert("thinking".into(), json!({"type": "adaptive"})),
        Thinking::Unsaid => None,
    };
    if !system.is_empty() {
        body.insert("system".into(), Value::Array(system));
    }
    body.insert("messages".into(), Value::Array(messages));
    if let Some((tools, choice)) = tools(request, &called, taste) {
        body.insert("tools".into(), Value::Array(tools));
        body.insert("tool_choice".into(), choice);
    }
    Value::Object(body)
}

/// No budget where a call is forced or calls awaiting an answer lack their thoughts.
fn thinking(request: &ChatRequest, taste: Taste) -> Thinking {
    if taste.thinking != Thinking::Budget {
        return taste.thinking;
    }
    let demands = matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Named(_))
        && !request.tools.is_empty();
    let lacks = !taste.thoughts || messages::lacks_thoughts(&request.messages);
    if demands || lacks { Thinking::Disabled } else { Thinking::Budget }
}

/// A conversation with calls must declare tools, so called tools stand in where none are given.
fn tools(request: &ChatRequest, called: &[String], taste: Taste) -> Option<(Vec<Value>, Value)> {
    if request.tools.is_empty() {
        let tool = |name: &String| json!({"name": name, "input_schema": {"type": "object"}});
        let none = json!({"type": "none"});
        return (!called.is_empty()).then(|| (called.iter().map(tool).collect(), none));
    }
    let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
    tools.last_mut().into_iter().for_each(messages::mark);
    let choice = tool_choice(&request.tool_choice, &request.tools, taste.forced);
    Some((tools, choice))
}

fn tool(spec: &ToolSpec) -> Value {
    let mut tool = Map::new();
    tool.insert("name".into(), json!(spec.name));
    if !spec.description.is_empty() {
        tool.insert("description".into(), json!(spec.description));
    }
    tool.insert("input_schema".into(), (*spec.parameters).clone());
    Value::Object(tool)
}

fn tool_choice(choice: &ToolChoice, tools: &[ToolSpec], forced: bool) -> Value {
    let named =
        |name: &str| tools.iter().find(|tool| *tool.name == *name || *tool.identity == *name);
    match choice {
        ToolChoice::None => json!({"type": "none"}),
        ToolChoice::Required if forced => json!({"type": "any"}),
        ToolChoice::Named(name) if forced && named(name).is_some() => {
            json!({"type": "tool", "name": named(name).map(|tool| &tool.name)})
        }
        // A tool that is not visible in this turn cannot be forced.
        ToolChoice::Auto | ToolChoice::Required | ToolChoice::Named(_) => json!({"type": "auto"}),
    }
}

#[cfg(test)]
mod tests;
