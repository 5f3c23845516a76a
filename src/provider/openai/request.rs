//! Builds the body of a chat-completions request.
//!
//! Entry function: [`body`], with the [`Dialect`] learnt about the server. Messages keep their
//! order and bytes between turns, for prompt caches. **Never**: clocks, ids or anything else that
//! changes between equal conversations.

use async_openai::types::chat::{
    ChatCompletionNamedToolChoice, ChatCompletionStreamOptions, ChatCompletionTool,
    ChatCompletionToolChoiceOption, ChatCompletionTools, FunctionName, FunctionObject,
    ToolChoiceOptions,
};
use serde_json::{Map, Value, json};

use crate::{
    domain::{Message, Said, ToolCall, ToolChoice, ToolSpec},
    provider::{
        ChatRequest,
        remote::{self, Failure, NO_RESULT, Options},
    },
};

/// Members that `extra_body` cannot override.
pub const OWN_MEMBERS: [&str; 6] =
    ["model", "messages", "stream", "stream_options", "tools", "tool_choice"];

/// Selects parameters that not every server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    max_completion_tokens: bool,
    stream_options: bool,
    parallel_tool_calls: bool,
}

impl Dialect {
    /// The first guess: OpenAI's newer models refuse `max_tokens`, other servers know nothing else.
    pub fn of(base_url: &str) -> Self {
        Self {
            max_completion_tokens: base_url.contains("//api.openai.com"),
            stream_options: true,
            parallel_tool_calls: true,
        }
    }

    /// The dialect to try after a refusal; `None`: it names none of our parameters.
    pub fn without(self, failure: &Failure) -> Option<Self> {
        if failure.names(self.max_name()) {
            Some(Self { max_completion_tokens: !self.max_completion_tokens, ..self })
        } else if self.stream_options && failure.names("stream_options") {
            Some(Self { stream_options: false, ..self })
        } else if self.parallel_tool_calls && failure.names("parallel_tool_calls") {
            Some(Self { parallel_tool_calls: false, ..self })
        } else {
            None
        }
    }

    fn max_name(self) -> &'static str {
        if self.max_completion_tokens { "max_completion_tokens" } else { "max_tokens" }
    }
}

/// `options.extra_body` overrides everything but the messages and the streaming.
pub fn body(options: &Options, request: &ChatRequest, dialect: Dialect) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(options.model));
    body.insert(dialect.max_name().into(), json!(request.max_tokens));
    if let Some(temperature) = options.temperature {
        // Parsed from text, so that 0.7 does not become 0.699999988.
        let exact = temperature.to_string().parse::<f64>().unwrap_or(f64::from(temperature));
        body.insert("temperature".into(), json!(exact));
    }
    if dialect.stream_options {
        let options =
            ChatCompletionStreamOptions { include_usage: Some(true), include_obfuscation: None };
        body.insert("stream_options".into(), json!(options));
    }
    if !request.tools.is_empty() {
        body.insert("tools".into(), json!(request.tools.iter().map(tool).collect::<Vec<_>>()));
        body.insert("tool_choice".into(), json!(tool_choice(&request.tool_choice, &request.tools)));
        if dialect.parallel_tool_calls {
            body.insert("parallel_tool_calls".into(), json!(true));
        }
    }
    if options.continues && is_begun(&request.messages) {
        // For vLLM; llama.cpp looks only at the message.
        body.insert("add_generation_prompt".into(), json!(false));
        body.insert("continue_final_message".into(), json!(true));
    }
    let sets_max = ["max_tokens", "max_completion_tokens"]
        .iter()
        .any(|name| options.extra_body.contains_key(*name));
    if sets_max {
        body.remove(dialect.max_name());
    }
    body.extend(options.extra_body.clone());
    body.insert("messages".into(), messages(&request.messages));
    body.insert("stream".into(), json!(true));
    Value::Object(body)
}

/// True if the last message is an answer to continue.
fn is_begun(messages: &[Message]) -> bool {
    matches!(messages.last(), Some(Message::Assistant { calls, .. }) if calls.is_empty())
}

fn tool(spec: &ToolSpec) -> ChatCompletionTools {
    ChatCompletionTools::Function(ChatCompletionTool {
        function: FunctionObject {
            name: spec.name.to_string(),
            description: Some(spec.description.to_string()),
            parameters: Some((*spec.parameters).clone()),
            strict: None,
        },
    })
}

fn tool_choice(choice: &ToolChoice, tools: &[ToolSpec]) -> ChatCompletionToolChoiceOption {
    let mode = match choice {
        ToolChoice::Auto => ToolChoiceOptions::Auto,
        ToolChoice::Required => ToolChoiceOptions::Required,
        ToolChoice::None => ToolChoiceOptions::None,
        ToolChoice::Named(name) => {
            match tools.iter().find(|tool| *tool.name == **name || *tool.identity == **name) {
                Some(tool) => {
                    let function = FunctionName { name: tool.name.to_string() };
                    let named = ChatCompletionNamedToolChoice { function };
                    return ChatCompletionToolChoiceOption::Function(named);
                }
                // A tool that is not visible in this turn cannot be forced.
                None => ToolChoiceOptions::Auto,
            }
        }
    };
    ChatCompletionToolChoiceOption::Mode(mode)
}

/// The messages, each call followed by exactly one result, as services require.
fn messages(messages: &[Message]) -> Value {
    let mut out = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        match message {
            Message::System(text) => out.push(json!({"role": "system", "content": text})),
            Message::User(Said { text, .. }) | Message::Summary { text, .. } => {
                said(&mut out, text)
            }
            Message::Assistant { text, calls, .. } if calls.is_empty() => {
                if !text.is_empty() {
                    out.push(json!({"role": "assistant", "content": text}));
                }
            }
            Message::Assistant { text, calls, .. } => {
                let content = if text.is_empty() { Value::Null } else { json!(text) };
                let asked: Value = calls.iter().map(call).collect();
                out.push(json!({"role": "assistant", "content": content, "tool_calls": asked}));
                let after = messages.get(at + 1..).unwrap_or_default();
                out.extend(results(calls, after));
            }
            // Written with the message that called it; results without a call are dropped.
            Message::Tool { .. } => {}
        }
    }
    Value::Array(out)
}

/// Adds a user's text. Joins it to a preceding user message, because some servers require
/// alternation.
fn said(out: &mut Vec<Value>, text: &str) {
    let before = out.last_mut().filter(|last| last["role"] == "user");
    match before.and_then(|last| last.get_mut("content")) {
        Some(Value::String(before)) => {
            before.push_str("\n\n");
            before.push_str(text);
        }
        _ => out.push(json!({"role": "user", "content": text})),
    }
}

/// One result for each of `calls`, taken from the messages before the next assistant's.
fn results(calls: &[ToolCall], after: &[Message]) -> Vec<Value> {
    let given = remote::results(calls, after);
    calls
        .iter()
        .zip(given)
        .map(|(call, given)| {
            let content = given.unwrap_or(NO_RESULT);
            json!({"role": "tool", "tool_call_id": call.id.0, "content": content})
        })
        .collect()
}

fn call(call: &ToolCall) -> Value {
    let is_object = remote::arguments(call).is_some();
    let arguments = if is_object { call.arguments.as_str() } else { "{}" };
    // Members of another service mean nothing to this one.
    let mut members = call.kept().extra;
    members.insert("id".into(), json!(call.id.0));
    members.insert("type".into(), json!("function"));
    members.insert("function".into(), json!({"name": call.name, "arguments": arguments}));
    Value::Object(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::CallId,
        provider::remote::{
            options,
            props::{request, spec},
        },
    };

    fn called(id: &str, arguments: &str) -> ToolCall {
        ToolCall {
            id: CallId(id.into()),
            name: "roll".into(),
            arguments: arguments.into(),
            extra: Map::from_iter([("extra_content".into(), json!({"sig": "x"}))]),
        }
    }

    fn result(id: &str) -> Message {
        Message::Tool {
            call: CallId(id.into()),
            content: format!("result of {id}"),
            outside: false,
            gated: false,
        }
    }

    fn sent(messages: Vec<Message>) -> Value {
        let options = options("http://127.0.0.1/v1");
        let dialect = Dialect::of(&options.base_url);
        body(&options, &request(messages, &[]), dialect)["messages"].clone()
    }

    #[test]
    fn plain_request_has_no_tool_members() {
        let options = options("http://127.0.0.1/v1");
        let plain = request(vec![Message::System("s".into()), Message::User("u".into())], &[]);
        assert_eq!(
            body(&options, &plain, Dialect::of(&options.base_url)),
            json!({"model": "test-model", "max_tokens": 50, "stream": true,
                "stream_options": {"include_usage": true},
                "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]})
        );
    }

    #[test]
    fn tools_keep_their_order_and_choice() {
        let options = options("http://127.0.0.1/v1");
        let mut with = request(vec![Message::User("u".into())], &[spec("roll"), spec("look")]);
        let choice = |request: &ChatRequest| {
            body(&options, request, Dialect::of(&options.base_url))["tool_choice"].clone()
        };
        assert_eq!(choice(&with), "auto");
        with.tool_choice = ToolChoice::Required;
        assert_eq!(choice(&with), "required");
        with.tool_choice = ToolChoice::None;
        assert_eq!(choice(&with), "none");
        with.tool_choice = ToolChoice::Named("dice-roller.look".into());
        assert_eq!(choice(&with), json!({"type": "function", "function": {"name": "look"}}));
        with.tool_choice = ToolChoice::Named("gone".into());
        assert_eq!(choice(&with), "auto");
        let body = body(&options, &with, Dialect::of(&options.base_url));
        assert_eq!(body["parallel_tool_calls"], true);
        assert_eq!(body["tools"][0]["function"]["name"], "roll");
    }

    #[test]
    fn extra_body_wins_but_not_over_streaming() {
        let mut options = options("http://127.0.0.1/v1");
        options.temperature = Some(0.7);
        let extra = json!({"reasoning_effort": "low", "stream": false, "max_completion_tokens": 9});
        options.extra_body = extra.as_object().unwrap().clone();
        let body = body(&options, &request(vec![], &[]), Dialect::of(&options.base_url));
        assert_eq!(body["reasoning_effort"], "low");
        assert_eq!(body["stream"], true);
        assert_eq!(body["temperature"], 0.7);
        assert_eq!(body["max_completion_tokens"], 9);
        assert_eq!(body.get("max_tokens"), None);
    }

    #[test]
    fn begun_answer_is_continued_if_configured() {
        let mut options = options("http://127.0.0.1/v1");
        let begun = vec![Message::User("u".into()), Message::spoken("Ah, the".into())];
        let sent = |options: &Options, messages: &[Message]| {
            let request = request(messages.to_vec(), &[]);
            body(options, &request, Dialect::of(&options.base_url))
        };
        assert_eq!(sent(&options, &begun).get("continue_final_message"), None);
        options.continues = true;
        let continued = sent(&options, &begun);
        assert_eq!(continued["continue_final_message"], true);
        assert_eq!(continued["add_generation_prompt"], false);
        assert_eq!(continued["messages"][1], json!({"role": "assistant", "content": "Ah, the"}));
        assert_eq!(sent(&options, &begun[..1]).get("continue_final_message"), None);
    }

    #[test]
    fn every_call_gets_exactly_one_result() {
        let calls = vec![called("a", "{}"), called("b", "{\"x\":"), called("c", "{}")];
        let assistant = Message::Assistant { text: String::new(), calls, gated: false };
        let sent = sent(vec![
            assistant,
            result("b"),
            result("a"),
            result("a"),
            result("z"),
            Message::User("go on".into()),
        ]);
        let roles: Vec<_> =
            sent.as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["assistant", "tool", "tool", "tool", "user"]);
        assert_eq!(sent[0]["content"], Value::Null);
        assert_eq!(sent[0]["tool_calls"][0]["extra_content"], json!({"sig": "x"}));
        assert_eq!(sent[0]["tool_calls"][1]["function"]["arguments"], "{}");
        assert_eq!(sent[1], json!({"role": "tool", "tool_call_id": "a", "content": "result of a"}));
        assert_eq!(sent[3]["content"], NO_RESULT);
    }

    #[test]
    fn summary_is_read_with_the_line_after_it() {
        let speakers = vec!["Anna".to_owned()];
        let summary = Message::Summary {
            people: Vec::new(),
            speakers,
            text: "[Earlier:]\n- x".into(),
            outside: false,
            gated: false,
        };
        let sent = sent(vec![summary, Message::User("Anna: hello".into())]);
        assert_eq!(sent, json!([{"role": "user", "content": "[Earlier:]\n- x\n\nAnna: hello"}]));
    }

    #[test]
    fn longer_conversations_keep_the_same_prefix() {
        let start = vec![
            Message::System("s".into()),
            Message::User("u".into()),
            Message::Assistant { text: "t".into(), calls: vec![called("a", "{}")], gated: false },
            result("a"),
        ];
        let mut longer = start.clone();
        longer.push(Message::User("next".into()));
        let start = sent(start).to_string();
        assert!(sent(longer).to_string().starts_with(start.trim_end_matches(']')));
    }
}
