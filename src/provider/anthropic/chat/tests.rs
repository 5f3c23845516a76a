//! Runs scripted streams through the real client over loopback.

use std::{collections::VecDeque, time::Duration};

use futures::StreamExt;
use serde_json::{Value, json};

use super::*;
use crate::{
    domain::{CallId, Message, Secret, ToolCall, ToolChoice},
    provider::{
        CutOff, Kind, Usage,
        remote::{
            Reader,
            anthropic_server::{Answer, error, refusal, said, sign},
            chat_server::{ChatServer, Script, Step},
            options,
            props::asks,
        },
    },
};

const KEY: &str = "sk-ant-1";

fn settings(server: &ChatServer) -> Options {
    let mut reach = options(&server.base_url());
    reach.api_key = Some(Secret(KEY.into()));
    Options { reach, thinking: None }
}

fn chat(server: &ChatServer) -> Chat {
    Chat::new(settings(server)).unwrap()
}

#[derive(Debug, Default, PartialEq)]
struct Got {
    text: String,
    calls: Vec<ToolCall>,
    usage: Option<Usage>,
    cut_off: Option<CutOff>,
    done: bool,
    error: Option<Kind>,
}

impl Got {
    fn pairs(&self) -> Vec<(&str, &str)> {
        self.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect()
    }
}

async fn collect(mut events: BoxStream<'static, Result<ChatEvent, Error>>) -> Got {
    let mut got = Got::default();
    while let Some(event) = events.next().await {
        assert!(!got.done && got.error.is_none(), "something follows the end: {event:?}");
        match event {
            Ok(ChatEvent::Text(text)) => got.text.push_str(&text),
            Ok(ChatEvent::ToolCall(call)) => got.calls.push(call),
            Ok(ChatEvent::Usage(usage)) => got.usage = Some(usage),
            Ok(ChatEvent::CutOff(why)) => got.cut_off = Some(why),
            Ok(ChatEvent::Hidden(_)) => {}
            Ok(ChatEvent::Done) => got.done = true,
            Err(error) => got.error = Some(error.kind()),
        }
    }
    got
}

async fn heard(script: Script) -> Got {
    let server = ChatServer::start();
    server.push(script);
    let got = collect(chat(&server).stream(asks())).await;
    assert_eq!(server.requests()[0].refused, None);
    got
}

const TWO: [(&str, &str); 2] = [
    ("roll", r#"{"expression":"2d6","why":"\"so\" \\ \u00e4"}"#),
    ("look", r#"{"at":"Bäume 🐉"}"#),
];

fn two_calls() -> Answer {
    Answer::begun().call("toolu_a", TWO[0].0, TWO[0].1).call("toolu_b", TWO[1].0, TWO[1].1)
}

#[tokio::test]
async fn text_arrives_complete_with_billed_usage() {
    let got = heard(said(&["Well", " met", "."])).await;
    let usage = Usage { input_tokens: 20, cached_tokens: 8, written_tokens: 4, output_tokens: 5 };
    assert_eq!((got.text.as_str(), got.usage), ("Well met.", Some(usage)));
    assert!(got.done && got.error.is_none() && got.calls.is_empty());
}

#[tokio::test]
async fn later_smaller_counts_change_nothing() {
    let start = json!({"type": "message_start", "message": {"usage":
        {"input_tokens": 400_000, "output_tokens": 900}}});
    let none = json!({"type": "message_delta", "delta": {}, "usage": {"input_tokens": 0,
        "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 0}});
    let script = Answer::begun().event(&start).text(&["Aye."]).event(&none).ends("end_turn");
    let usage =
        Usage { input_tokens: 400_012, cached_tokens: 8, written_tokens: 4, output_tokens: 900 };
    assert_eq!(heard(script).await.usage, Some(usage));
}

#[tokio::test]
async fn counts_of_a_cut_answer_are_told() {
    let script = Answer::begun().open_text("Aye").then(Step::Cut);
    let got = heard(script).await;
    assert_eq!(got.error, Some(Kind::Interrupted));
    assert_eq!(got.usage.map(|usage| usage.input_tokens), Some(20));
}

#[tokio::test]
async fn any_cut_of_the_bytes_gives_the_same_reply() {
    for size in [1, 3, 7, 64] {
        let text = heard(said(&["Grüße", " 🐉", " „so“"]).in_pieces(size)).await.text;
        assert_eq!(text, "Grüße 🐉 „so“", "pieces of {size}");
        assert_eq!(heard(two_calls().ends("tool_use").in_pieces(size)).await.pairs(), TWO);
    }
}

#[tokio::test]
async fn calls_stay_separate_and_may_lack_arguments() {
    let script = Answer::begun()
        .text(&["Wait."])
        .call("toolu_a", "roll", "")
        .call("toolu_b", "look", "{\"at\":")
        .text(&["So."]);
    let got = heard(script.ends("tool_use")).await;
    assert_eq!(got.pairs(), [("roll", "{}"), ("look", "{\"at\":")], "nothing is repaired");
    assert_eq!(got.calls[1].id, CallId("toolu_b".into()));
    assert_eq!(got.text, "Wait.\nSo.", "two blocks are two lines");
    let delta = |index: u64, json: &str| {
        json!({"type": "content_block_delta", "index": index,
            "delta": {"type": "input_json_delta", "partial_json": json}})
    };
    let begin = |index: u64, name: &str| {
        json!({"type": "content_block_start", "index": index, "content_block":
            {"type": "tool_use", "id": format!("toolu_{index}"), "name": name, "input": {}}})
    };
    let end = |index: u64| json!({"type": "content_block_stop", "index": index});
    let mixed = [
        begin(0, "roll"),
        begin(1, "look"),
        delta(1, "{\"at\""),
        delta(0, "{}"),
        delta(1, ":1}"),
        end(1),
        end(0),
    ];
    let script = mixed.iter().fold(Answer::begun(), Answer::event);
    let got = heard(script.ends("tool_use")).await;
    assert_eq!(got.pairs(), [("roll", "{}"), ("look", "{\"at\":1}")]);
}

#[tokio::test]
async fn thoughts_are_not_spoken_and_go_back_unchanged() {
    let server = ChatServer::with_key(Some(KEY));
    let thought = "they want dice, Bäume";
    let answer = Answer::begun().thinking(thought).redacted().thinking("").text(&["Wait."]);
    server.push(answer.call("toolu_a", "roll", r#"{"n": 1}"#).ends("tool_use"));
    let chat = Chat::new(Options { thinking: Some(1_024), ..settings(&server) }).unwrap();
    assert_eq!(chat.thinks(), 1_024, "paid for beside the answer");
    let first = collect(chat.stream(asks())).await;
    assert_eq!(first.text, "Wait.");
    let mut next = asks();
    next.messages.push(Message::Assistant {
        text: "Wait".into(),
        calls: first.calls.clone(),
        gated: false,
    });
    next.messages.push(Message::Tool {
        call: CallId("toolu_a".into()),
        content: "seven".into(),
        outside: false,
        gated: false,
    });
    assert_eq!(collect(chat.stream(next.clone())).await.text, "Aye.");
    let requests = server.requests();
    assert_eq!(requests[1].refused, None);
    assert_eq!((&requests[0].json["max_tokens"], requests.len()), (&json!(1_124), 2));
    assert_eq!(
        requests[1].json["messages"][1]["content"],
        json!([{"type": "thinking", "thinking": thought, "signature": sign(thought)},
            {"type": "redacted_thinking", "data": sign("redacted")},
            {"type": "thinking", "thinking": "", "signature": sign("")},
            {"type": "text", "text": "Wait."},
            {"type": "tool_use", "id": "toolu_a", "name": "roll", "input": {"n": 1}}])
    );
    assert!(first.calls[0].kept().extra.is_empty(), "nobody else keeps them");

    // A thought that the service does not recognise is left out, and the answer still comes.
    if let Some(Message::Assistant { calls, .. }) = next.messages.get_mut(2) {
        calls[0].extra[ToolCall::OF_TURN][NAME][0]["thinking"] = json!("something else");
    }
    assert_eq!(collect(chat.stream(next)).await.text, "Aye.");
    let requests = server.requests();
    assert!(requests[2].refused.as_deref().is_some_and(|it| it.contains("Invalid `signature`")));
    assert_eq!(requests[3].refused, None);
    assert_eq!(requests[3].json["thinking"], json!({"type": "disabled"}));
}

#[tokio::test]
async fn options_refused_by_model_are_remembered() {
    let server = ChatServer::start();
    let mut options = settings(&server);
    options.reach.model = "thinker-5".into();
    let chat = Chat::new(options.clone()).unwrap();
    let mut forced = asks();
    forced.tool_choice = ToolChoice::Required;
    assert_eq!(collect(chat.stream(forced.clone())).await.text, "Aye.");
    assert_eq!(server.requests().len(), 3, "no forced call, no end of thinking");
    assert_eq!(collect(chat.stream(forced)).await.text, "Aye.");
    let requests = server.requests();
    assert_eq!(requests.len(), 4, "it is known now");
    let sent = &requests[3].json;
    assert_eq!((sent.get("thinking"), &sent["tool_choice"]["type"]), (None, &json!("auto")));
    assert_eq!(sent["output_config"], json!({"effort": "low"}));
    options.thinking = Some(1_024);
    let chat = Chat::new(options).unwrap();
    assert_eq!(collect(chat.stream(asks())).await.text, "Aye.");
    assert_eq!(server.requests()[5].json["thinking"], json!({"type": "adaptive"}));
    // A request refused for another reason is not sent again.
    server.push(refusal(400, "max_tokens: 100 > 64"));
    assert_eq!(collect(chat.stream(asks())).await.error, Some(Kind::InvalidRequest));
    assert_eq!(server.requests().len(), 7);
}

#[tokio::test]
async fn unknown_events_and_blocks_are_skipped() {
    let script = Answer::begun()
        .ping()
        .event(&json!({"type": "budget_news", "left": 3}))
        .block(&json!({"type": "hologram", "data": "x"}), &[json!({"type": "hologram_delta"})])
        .block(
            &json!({"type": "text", "text": "We", "citations": null}),
            &[
                json!({"type": "text_delta", "text": "ll."}),
                json!({"type": "citations_delta", "citation": {}}),
            ],
        );
    let got = heard(script.ends("galaxy_brain")).await;
    assert_eq!((got.text.as_str(), got.done, got.cut_off), ("Well.", true, None));
}

#[tokio::test]
async fn stop_reasons_map_to_cut_offs() {
    let ended = |reason: &'static str| async move {
        heard(Answer::begun().text(&["I owe"]).ends(reason)).await.cut_off
    };
    assert_eq!(ended("end_turn").await, None);
    assert_eq!(ended("max_tokens").await, Some(CutOff::Length));
    assert_eq!(ended("model_context_window_exceeded").await, Some(CutOff::Length));
    assert_eq!(ended("refusal").await, Some(CutOff::Filter));
    let silent = heard(Answer::begun().ends("refusal")).await;
    assert_eq!((silent.text.as_str(), silent.cut_off), ("", Some(CutOff::Filter)));
    let thoughts = heard(Answer::begun().thinking("long").ends("max_tokens")).await;
    assert_eq!((thoughts.text.as_str(), thoughts.cut_off), ("", Some(CutOff::Length)));
}

#[tokio::test]
async fn cut_answer_is_interrupted_and_drops_calls() {
    for script in [two_calls().closes(), two_calls().then(Step::Cut)] {
        let got = heard(script).await;
        assert_eq!((got.calls.len(), got.done, got.error), (0, false, Some(Kind::Interrupted)));
    }
    let got = heard(Answer::begun().open_text("Well").then(Step::Cut)).await;
    assert_eq!((got.text.as_str(), got.error), ("Well", Some(Kind::Interrupted)));
}

#[tokio::test]
async fn stream_errors_are_retried_only_before_output() {
    let server = ChatServer::start();
    server.push(Answer::begun().ping().event(&error("overloaded_error", "Overloaded")).closes());
    server.push(Answer::begun().thinking("hm").then(Step::Cut));
    assert_eq!(collect(chat(&server).stream(asks())).await.text, "Aye.");
    assert_eq!(server.requests().len(), 3);
    let late = Answer::begun().open_text("Well").event(&error("overloaded_error", "Overloaded"));
    let got = heard(late.closes()).await;
    assert_eq!((got.text.as_str(), got.error), ("Well", Some(Kind::Interrupted)));
    let refused = Answer::begun().event(&error("invalid_request_error", "no")).closes();
    assert_eq!(heard(refused).await.error, Some(Kind::InvalidRequest));
}

#[tokio::test]
async fn signs_of_life_alone_are_no_answer() {
    let server = ChatServer::start();
    // Lasts more than four times the idle time.
    let pings = (0..600).fold(Answer::begun().open_text("Well"), |answer, _| answer.ping());
    server.push(pings.closes().paced(Duration::from_millis(10)));
    let mut options = settings(&server);
    options.reach.idle_timeout = Duration::from_secs(1);
    options.reach.first_byte_timeout = Duration::from_secs(1);
    let got = collect(Chat::new(options).unwrap().stream(asks())).await;
    assert_eq!((got.text.as_str(), got.error), ("Well", Some(Kind::Interrupted)));
    server.abandoned(1).await;
}

#[tokio::test]
async fn statuses_decide_error_kind_and_retry() {
    let limited = |retry_after| Kind::RateLimited { retry_after };
    for (status, kind, requests) in [
        (400, Kind::InvalidRequest, 1),
        (401, Kind::Unauthorized, 1),
        (402, Kind::Unauthorized, 1),
        (403, Kind::Unauthorized, 1),
        (404, Kind::InvalidRequest, 1),
        (413, Kind::InvalidRequest, 1),
        (429, limited(None), 3),
        (500, Kind::Unavailable, 3),
        (504, Kind::Timeout, 3),
        (529, Kind::Unavailable, 3),
    ] {
        let server = ChatServer::start();
        server.otherwise(move |_| refusal(status, "no"));
        let got = collect(chat(&server).stream(asks())).await;
        assert_eq!((got.error, server.requests().len()), (Some(kind), requests), "{status}");
    }
    let server = ChatServer::start();
    server.push(refusal(429, "slow down").header("retry-after", "120"));
    let got = collect(chat(&server).stream(asks())).await;
    assert_eq!(got.error, Some(limited(Some(Duration::from_secs(120)))));
    server.push(Script::plain(413, "text/html").raw("<html>too large</html>"));
    assert_eq!(collect(chat(&server).stream(asks())).await.error, Some(Kind::InvalidRequest));
    server.push(Script::plain(200, "text/html").raw("<html>login</html>"));
    assert_eq!(collect(chat(&server).stream(asks())).await.error, Some(Kind::Protocol));
}

#[test]
fn answer_without_measure_is_given_up() {
    let mut out = VecDeque::new();
    let block = |at: u64, kind: &str| json!({"type": "content_block_start", "index": at, "content_block": {"type": kind}});
    let mut reading = Reading::default();
    let many = (0..5_000).find(|at| reading.take(&block(*at, "text"), &mut out).is_err());
    assert_eq!(many, Some(4_096));
    // Work per block does not grow with earlier blocks; a restarted block counts as another.
    for (kind, most) in [("text", 4_096), ("unheard_of", 4_096), ("tool_use", 64)] {
        let mut reading = Reading::default();
        let many = (0..30_000).find(|at| reading.take(&block(at % 10, kind), &mut out).is_err());
        assert_eq!(many, Some(most), "{kind}");
    }
    let nested = |kind: &str| {
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": kind, "data": vec![json!([]); 10_000]}})
    };
    let mut reading = Reading::default();
    let many = (0..30).find(|_| reading.take(&nested("thinking"), &mut out).is_err());
    let most = (8 << 20) / (10_000 * size_of::<Value>());
    assert!(many.is_some_and(|many| many <= most), "{many:?}: memory counts, not text");
    let mut reading = Reading::default();
    assert!((0..30).all(|_| reading.take(&nested("unheard_of"), &mut out).is_ok()), "nothing kept");
    let mut reading = Reading::default();
    assert!(reading.take(&block(0, "thinking"), &mut out).is_ok());
    let delta = |kind: &str, member: &str| {
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": kind, member: "x".repeat(1 << 20)}})
    };
    assert!(reading.take(&delta("text_delta", "text"), &mut out).is_ok());
    assert!(out.is_empty(), "a thought is not spoken, whatever its delta is called");
    let thought = delta("thinking_delta", "thinking");
    let long = (0..20).find(|_| reading.take(&thought, &mut out).is_err());
    assert_eq!(long, Some(7), "8 MiB are enough");
}

#[test]
fn events_of_any_shape_are_read() {
    let mut out = VecDeque::new();
    let mut reading = Reading::default();
    for odd in [json!(null), json!(-1), json!("x"), json!([]), json!({}), json!([{}])] {
        for kind in [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
            "message",
            "ping",
            "x",
        ] {
            for member in ["index", "message", "content_block", "delta", "usage", "content"] {
                let event = json!({"type": kind, "index": 0, member: odd});
                assert!(reading.take(&event, &mut out).is_ok(), "{event}");
            }
        }
        assert!(reading.take(&odd, &mut out).is_ok());
    }
    reading.complete(&mut out);
    assert!(out.iter().all(|event| matches!(event, ChatEvent::Usage(_))), "{out:?}");
}

#[tokio::test]
async fn server_that_does_not_stream_is_understood() {
    let whole = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [
        {"type": "text", "text": "Aye."},
        {"type": "tool_use", "id": "toolu_a", "name": "roll", "input": {"n": 2}}],
        "stop_reason": "tool_use", "usage": {"input_tokens": 4, "output_tokens": 1}});
    let got = heard(Script::json(200, &whole)).await;
    assert_eq!((got.text.as_str(), got.pairs()), ("Aye.", vec![("roll", r#"{"n":2}"#)]));
    assert_eq!(got.usage.map(|usage| usage.input_tokens), Some(4));
    assert!(got.done);
}

#[tokio::test]
async fn key_is_sent_and_its_refusal_says_so() {
    let server = ChatServer::with_key(Some("sk-ant-right"));
    let mut options = settings(&server);
    let error = |options: Options| async move {
        Chat::new(options).unwrap().stream(asks()).next().await.unwrap().unwrap_err()
    };
    for key in [Some(Secret("sk-ant-wrong".into())), None] {
        options.reach.api_key = key;
        let refused = error(options.clone()).await;
        assert_eq!(refused.kind(), Kind::Unauthorized);
        assert!(refused.to_string().contains("check api_key"), "{refused}");
        assert!(!refused.to_string().contains("sk-ant"), "{refused}");
    }
    options.reach.api_key = Some(Secret("sk-ant-right".into()));
    assert!(collect(Chat::new(options.clone()).unwrap().stream(asks())).await.done);
    let found = super::super::probe(&options).await.unwrap();
    assert_eq!(found, "answers with 1 models, 'test-model' among them");
    let requests = server.requests();
    assert_eq!(requests[3].line, "GET /v1/models?limit=1000");
    assert_eq!(requests[2].header("anthropic-version"), Some("2026-10-21"));
    assert_eq!(requests[2].header("authorization"), None);
}

/// A valid request changed by `change`.
fn changed(change: impl Fn(&mut Value)) -> Value {
    let tool = json!({"name": "roll", "input_schema": {"type": "object"}});
    let mut body = json!({"model": "m", "max_tokens": 2_000, "stream": true, "tools": [tool],
        "thinking": {"type": "enabled", "budget_tokens": 1_024},
        "messages": [{"role": "user", "content": "roll"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": sign("hm")},
                {"type": "tool_use", "id": "a", "name": "roll", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "7"}]}]});
    change(&mut body);
    body
}

#[tokio::test]
async fn fake_refuses_what_the_service_refuses() {
    let server = ChatServer::start();
    let endpoint = endpoint(&settings(&server)).unwrap();
    assert!(endpoint.post("/messages", &changed(|_| {})).await.is_ok());
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 14] = [
        ("max_tokens: Field required", |it| it["max_tokens"] = json!(null)),
        ("temperature: Extra inputs", |it| it["temperature"] = json!(1)),
        ("first message must use", |it| it["messages"][0]["role"] = json!("assistant")),
        ("prefill", |it| it["messages"] = json!([it["messages"][0], it["messages"][1]])),
        ("without `tool_result`", |it| it["messages"][2]["content"] = json!("seven")),
        ("unexpected `tool_use_id`", |it| {
            it["messages"][2]["content"][0]["tool_use_id"] = json!("b");
        }),
        ("Invalid `signature`", |it| it["messages"][1]["content"][0]["thinking"] = json!("h")),
        ("Expected `thinking`", |it| {
            it["messages"][1]["content"].as_array_mut().unwrap().remove(0);
        }),
        ("non-empty", |it| it["messages"][0]["content"] = json!(" ")),
        ("budget_tokens", |it| it["thinking"]["budget_tokens"] = json!(5)),
        ("forces tool use", |it| it["tool_choice"] = json!({"type": "any"})),
        ("must define tools", |it| {
            it.as_object_mut().unwrap().remove("tools");
        }),
        ("not supported on this model", |it| it["model"] = json!("thinker")),
        ("maximum of 4 blocks", |it| {
            let mark = json!({"type": "ephemeral"});
            let block = json!({"type": "text", "text": "s", "cache_control": mark});
            it["system"] = json!([block, block, block, block, block]);
        }),
    ];
    for (says, change) in changes {
        assert!(endpoint.post("/messages", &changed(change)).await.is_err(), "{says}");
        let refused = server.requests().last().unwrap().refused.clone().unwrap_or_default();
        assert!(refused.contains(says), "{says}: {refused}");
    }
    let bare = remote::Endpoint::new(settings(&server).reach).unwrap();
    assert!(bare.post("/messages", &changed(|_| {})).await.is_err());
    let refused = server.requests().last().unwrap().refused.clone();
    assert_eq!(refused.as_deref(), Some("anthropic-version: header is required"));
}
