use super::*;
use crate::{
    domain::{CallId, Message, ToolCall},
    provider::{
        anthropic::messages::with_thoughts,
        remote::{
            NO_RESULT, options,
            props::{request, spec},
        },
    },
};

fn settings(thinking: Option<u32>) -> Options {
    Options { reach: options("http://127.0.0.1/v1"), thinking }
}

fn first_guess(request: &ChatRequest, thinking: Option<u32>) -> Value {
    body(&settings(thinking), request, Taste::of(thinking.is_some()))
}

fn sent(messages: Vec<Message>) -> Value {
    first_guess(&request(messages, &[spec("roll")]), None)["messages"].clone()
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: CallId(id.into()),
        name: "roll".into(),
        arguments: arguments.into(),
        extra: Map::new(),
    }
}

fn asked(text: &str, calls: Vec<ToolCall>) -> Message {
    Message::Assistant { text: text.into(), calls, gated: false }
}

fn result(id: &str) -> Message {
    let content = format!("result of {id}");
    Message::Tool { call: CallId(id.into()), content, outside: false, gated: false }
}

fn said(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn marked(mut block: Value) -> Value {
    messages::mark(&mut block);
    block
}

#[test]
fn plain_request_has_no_tool_members() {
    let plain = request(vec![Message::System("s".into()), Message::User("u".into())], &[]);
    assert_eq!(
        first_guess(&plain, None),
        json!({"model": "test-model", "max_tokens": 50, "stream": true,
            "thinking": {"type": "disabled"}, "system": [marked(said("s"))],
            "messages": [{"role": "user", "content": [said("u")]}]})
    );
}

#[test]
fn unchanging_parts_are_marked_for_cache() {
    let talk = vec![
        Message::System("s".into()),
        Message::User("hello".into()),
        Message::spoken("Aye.".into()),
        Message::User("roll".into()),
        asked("", vec![call("a", "{}")]),
        result("a"),
    ];
    let body = first_guess(&request(talk, &[spec("roll"), spec("look")]), None);
    assert_eq!(body["tools"][0].get("cache_control"), None);
    assert_eq!(body["tools"][1]["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(body["system"][0], marked(said("s")));
    assert_eq!(body["messages"][1]["content"][0], marked(said("Aye.")));
    assert_eq!(body.to_string().matches("cache_control").count(), 3);
}

#[test]
fn same_role_messages_merge_with_results_first() {
    let sent = sent(vec![
        Message::User("one".into()),
        Message::User("two".into()),
        asked("Wait.", vec![call("a", r#"{"n":1}"#), call("b", "{\"x\":")]),
        result("b"),
        result("a"),
        result("z"),
        Message::User("go on".into()),
    ]);
    let results = json!([
        {"type": "tool_result", "tool_use_id": "a", "content": "result of a"},
        marked(json!({"type": "tool_result", "tool_use_id": "b", "content": "result of b"})),
        said("go on"),
    ]);
    let calls = json!([
        said("Wait."),
        {"type": "tool_use", "id": "a", "name": "roll", "input": {"n": 1}},
        {"type": "tool_use", "id": "b", "name": "roll", "input": {}},
    ]);
    assert_eq!(
        sent,
        json!([{"role": "user", "content": [said("one"), said("two")]},
            {"role": "assistant", "content": calls}, {"role": "user", "content": results}])
    );
}

#[test]
fn invalid_requests_are_repaired_before_sending() {
    let named = ToolCall { name: "roll dice".into(), ..call("x y", "{}") };
    let sent = sent(vec![
        asked(" ", vec![named, call("a", "{}")]),
        Message::User("".into()),
        asked("", vec![call("a", "{}")]),
        result("a"),
        Message::spoken("So be it.".into()),
    ]);
    let roles: Vec<&str> =
        sent.as_array().unwrap().iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user", "assistant", "user"]);
    let first = &sent[1]["content"];
    assert_eq!((&first[0]["id"], &first[0]["name"]), (&json!("x_y"), &json!("roll_dice")));
    let missing = &sent[2]["content"][0];
    assert_eq!((&missing["content"], &missing["is_error"]), (&json!(NO_RESULT), &json!(true)));
    assert_eq!(sent[3]["content"][0]["id"], "a_", "no two calls have one id");
    assert_eq!(sent[4]["content"][0]["tool_use_id"], "a_");
    assert_eq!(sent[6]["content"][0], said("[go on]"), "it does not begin what it answers");
}

#[test]
fn missing_tools_are_declared_for_past_calls() {
    let talk = vec![Message::User("u".into()), asked("", vec![call("a", "{}")]), result("a")];
    let body = first_guess(&request(talk, &[]), None);
    assert_eq!(body["tools"], json!([{"name": "roll", "input_schema": {"type": "object"}}]));
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
}

#[test]
fn calls_are_demanded_where_that_is_possible() {
    let mut with = request(vec![Message::User("u".into())], &[spec("roll"), spec("look")]);
    let choice = |request: &ChatRequest| first_guess(request, None)["tool_choice"].clone();
    assert_eq!(choice(&with), json!({"type": "auto"}));
    with.tool_choice = ToolChoice::None;
    assert_eq!(choice(&with), json!({"type": "none"}));
    with.tool_choice = ToolChoice::Named("gone".into());
    assert_eq!(choice(&with), json!({"type": "auto"}));
    with.tool_choice = ToolChoice::Named("dice-roller.look".into());
    assert_eq!(choice(&with), json!({"type": "tool", "name": "look"}));
    with.tool_choice = ToolChoice::Required;
    assert_eq!(choice(&with), json!({"type": "any"}));
    let taste = Taste { forced: false, ..Taste::of(false) };
    assert_eq!(body(&settings(None), &with, taste)["tool_choice"], json!({"type": "auto"}));
    let thinks = first_guess(&with, Some(1_024));
    assert_eq!(thinks["thinking"], json!({"type": "disabled"}), "it is one or the other");
    assert_eq!(thinks["tool_choice"], json!({"type": "any"}));
}

#[test]
fn thoughts_are_sent_back_until_turn_is_over() {
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let answer = vec![thought, json!({"type": "tool_use", "id": "a", "name": "roll", "input": {}})];
    let mut calls = vec![call("a", "{}")];
    with_thoughts(&mut calls, answer.clone());
    let talk = |calls: Vec<ToolCall>, more: Option<Message>| {
        let mut talk = vec![Message::User("u".into()), asked("", calls), result("a")];
        talk.extend(more);
        request(talk, &[spec("roll")])
    };
    let body = first_guess(&talk(calls.clone(), None), Some(2_000));
    assert_eq!(body["messages"][1]["content"], json!(answer));
    assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 2_000}));
    assert_eq!(body["max_tokens"], 2_050);
    let later = first_guess(&talk(calls.clone(), Some(Message::User("next".into()))), Some(2_000));
    assert_eq!(later["messages"][1]["content"][0]["type"], "tool_use", "its turn is over");
    assert_eq!(later["thinking"]["type"], "enabled");
    let kept: Vec<ToolCall> = calls.iter().map(ToolCall::kept).collect();
    let bare = first_guess(&talk(kept, None), Some(2_000));
    assert_eq!(bare["thinking"], json!({"type": "disabled"}), "calls without their thoughts");
    let refused = Taste { thoughts: false, ..Taste::of(true) };
    let without = super::body(&settings(Some(2_000)), &talk(calls, None), refused);
    assert_eq!(without["messages"][1]["content"][0]["type"], "tool_use");
    assert_eq!(without["thinking"], json!({"type": "disabled"}));
}

#[test]
fn extra_members_never_replace_ours() {
    let mut options = settings(None);
    let extra = json!({"metadata": {"user_id": "x"}, "stream": false, "thinking": "no"});
    options.reach.extra_body = extra.as_object().unwrap().clone();
    let request = request(vec![Message::User("u".into())], &[]);
    let sent = body(&options, &request, Taste::of(false));
    assert_eq!((&sent["stream"], &sent["metadata"]["user_id"]), (&json!(true), &json!("x")));
    assert_eq!(sent["thinking"], json!({"type": "disabled"}));
    let unsaid = Taste { thinking: Thinking::Unsaid, ..Taste::of(false) };
    let sent = body(&options, &request, unsaid);
    assert_eq!(
        (sent.get("temperature"), &sent["output_config"]),
        (None, &json!({"effort": "low"}))
    );
}

#[test]
fn longer_conversation_extends_same_prefix() {
    let start = vec![
        Message::System("s".into()),
        Message::User("u".into()),
        asked("t", vec![call("a", "{}")]),
        result("a"),
    ];
    let mut longer = start.clone();
    longer.push(Message::spoken("Seven.".into()));
    longer.push(Message::User("next".into()));
    let bare = |messages: Vec<Message>| {
        sent(messages).to_string().replace(r#","cache_control":{"type":"ephemeral"}"#, "")
    };
    assert!(bare(longer).starts_with(bare(start).trim_end_matches(']')));
}
