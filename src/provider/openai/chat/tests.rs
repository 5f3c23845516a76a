//! Every dialect of `chat-completions` streams, through the real client over loopback.

use std::time::{Duration, Instant};

use futures::StreamExt;
use serde_json::{Map, json};

use super::*;
use crate::{
    domain::{CallId, Message, Secret, ToolCall},
    provider::{
        Kind, Usage,
        remote::{
            chat_server::{ChatServer, Script, Step},
            options,
            props::asks,
        },
    },
};

fn chat(server: &ChatServer) -> Chat {
    Chat::new(options(&server.base_url())).unwrap()
}

#[derive(Debug, Default, PartialEq)]
struct Got {
    texts: Vec<String>,
    calls: Vec<ToolCall>,
    usage: Option<Usage>,
    done: bool,
    error: Option<Kind>,
}

impl Got {
    fn text(&self) -> String {
        self.texts.concat()
    }

    fn pairs(&self) -> Vec<(&str, &str)> {
        self.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect()
    }
}

async fn collect(mut events: BoxStream<'static, Result<ChatEvent, Error>>) -> Got {
    let mut got = Got::default();
    while let Some(event) = events.next().await {
        assert!(!got.done && got.error.is_none(), "something follows the end: {event:?}");
        match event {
            Ok(ChatEvent::Text(text)) => got.texts.push(text),
            Ok(ChatEvent::ToolCall(call)) => got.calls.push(call),
            Ok(ChatEvent::Usage(usage)) => got.usage = Some(usage),
            Ok(ChatEvent::CutOff(_) | ChatEvent::Hidden(_)) => {}
            Ok(ChatEvent::Done) => got.done = true,
            Err(error) => got.error = Some(error.kind()),
        }
    }
    got
}

/// Result of `waiting` and its duration in paused time; the server stays silent.
async fn at_once<T>(waiting: impl Future<Output = T>) -> (T, Duration) {
    tokio::time::pause();
    let begun = tokio::time::Instant::now();
    let got = waiting.await;
    let waited = begun.elapsed();
    tokio::time::resume();
    (got, waited)
}

async fn heard(script: Script) -> Got {
    let server = ChatServer::start();
    server.push(script);
    let got = collect(chat(&server).stream(asks())).await;
    assert_eq!(server.requests()[0].refused, None);
    got
}

fn tool_delta(call: Value) -> Value {
    json!({"tool_calls": [call]})
}

const TWO: [(&str, &str); 2] = [("roll", r#"{"expression":"2d6"}"#), ("look", r#"{"at":"Bäume"}"#)];

fn two_calls() -> Script {
    Script::calls(&[("call_a", TWO[0].0, TWO[0].1), ("call_b", TWO[1].0, TWO[1].1)])
}

#[tokio::test]
async fn text_comes_token_by_token_with_usage() {
    let got = heard(Script::text(&["Well", " met", ",", " traveller."])).await;
    assert_eq!(got.texts, ["Well", " met", ",", " traveller."]);
    let usage = Usage { input_tokens: 20, cached_tokens: 8, output_tokens: 5, written_tokens: 0 };
    assert_eq!(got.usage, Some(usage));
    assert!(got.done && got.error.is_none() && got.calls.is_empty());
}

#[tokio::test]
async fn later_smaller_counts_change_nothing() {
    let script = Script::stream()
        .usage(400_000, 0, 900)
        .chunk(json!({"role": "assistant", "content": "Aye."}), None)
        .usage(0, 0, 0)
        .chunk(json!({}), Some("stop"))
        .usage(20, 8, 5);
    let usage = Usage { input_tokens: 400_000, output_tokens: 900, ..Usage::default() };
    assert_eq!(heard(script.done()).await.usage, Some(usage));
}

#[tokio::test]
async fn parallel_calls_are_assembled() {
    let got = heard(two_calls()).await;
    assert_eq!(got.pairs(), TWO);
    assert_eq!(got.calls[0].id, CallId("call_a".into()));
    assert!(got.done);
}

#[tokio::test]
async fn any_cut_of_the_bytes_gives_the_same_reply() {
    for size in [1, 2, 3, 7, 64] {
        let got = heard(Script::text(&["Grüße", " 🐉", " „so“"]).in_pieces(size)).await;
        assert_eq!(got.text(), "Grüße 🐉 „so“", "pieces of {size}");
        assert_eq!(heard(two_calls().in_pieces(size)).await.pairs(), TWO);
    }
}

fn two(index: usize) -> [&'static str; 2] {
    [TWO[index].0, TWO[index].1]
}

/// A delta with one fragment of a call: name and arguments.
fn piece(index: Option<u64>, id: &str, said: [&str; 2]) -> Value {
    let [name, arguments] = said;
    let mut call = json!({"type": "function", "function": {"name": name, "arguments": arguments}});
    if let Some(index) = index {
        call["index"] = json!(index);
    }
    if !id.is_empty() {
        call["id"] = json!(id);
    }
    tool_delta(call)
}

#[tokio::test]
async fn calls_of_every_dialect_arrive() {
    let (head, tail) = TWO[0].1.split_at(5);
    let (zero, one) = (Some(0), Some(1));
    let whole = vec![piece(zero, "a", two(0)), piece(one, "b", two(1))];
    let both = json!({"tool_calls": [whole[0]["tool_calls"][0], whole[1]["tool_calls"][0]]});
    let dialects = [
        ("whole calls", whole),
        ("both calls in one chunk", vec![both]),
        ("index always 0", vec![piece(zero, "a", two(0)), piece(zero, "b", two(1))]),
        ("no index", vec![piece(None, "a", two(0)), piece(None, "b", two(1))]),
        ("no id", vec![piece(zero, "", two(0)), piece(one, "", two(1))]),
        (
            "a new id on every fragment",
            vec![
                piece(zero, "a1", ["roll", head]),
                piece(zero, "a2", ["", tail]),
                piece(one, "b", two(1)),
            ],
        ),
    ];
    for (dialect, deltas) in dialects {
        for reason in ["tool_calls", "stop"] {
            let mut script = Script::stream().chunk(json!({"role": "assistant"}), None);
            for delta in &deltas {
                script = script.chunk(delta.clone(), None);
            }
            // LiteLLM's usage chunk has a choice; its end has no other member.
            let usage =
                json!({"choices": [{"index": 0, "delta": {}}], "usage": {"prompt_tokens": 1}});
            let got = heard(script.chunk(json!({}), Some(reason)).event(&usage).done()).await;
            assert_eq!(got.pairs(), TWO, "{dialect}, {reason}");
            assert!(got.done && got.texts.is_empty() && got.usage.is_some(), "{dialect}");
            assert_ne!(got.calls[0].id, got.calls[1].id, "{dialect}");
        }
    }
}

#[tokio::test]
async fn reason_may_come_with_the_last_fragment() {
    let script = Script::stream()
        .chunk(piece(Some(0), "a", two(0)), None)
        .chunk(piece(Some(1), "b", two(1)), Some("tool_calls"))
        .done();
    assert_eq!(heard(script).await.pairs(), TWO);
}

#[tokio::test]
async fn extra_members_go_back_with_the_result() {
    let server = ChatServer::start();
    let signature = json!({"google": {"thought_signature": "c2ln"}});
    let call = json!({"index": 0, "id": "a", "type": "function", "extra_content": signature,
        "function": {"name": "roll", "arguments": "{}"}});
    server.push(Script::stream().chunk(tool_delta(call), Some("tool_calls")).done());
    let chat = chat(&server);
    let first = collect(chat.stream(asks())).await;

    let mut next = asks();
    next.messages.push(Message::Assistant {
        text: String::new(),
        calls: first.calls,
        gated: false,
    });
    next.messages.push(Message::Tool {
        call: CallId("a".into()),
        content: "seven".into(),
        outside: false,
        gated: false,
    });
    assert_eq!(collect(chat.stream(next)).await.text(), "Aye.");
    let sent = &server.requests()[1];
    assert_eq!(sent.refused, None);
    assert_eq!(sent.json["messages"][2]["tool_calls"][0]["extra_content"], signature);
    assert_eq!(sent.json["messages"][3]["tool_call_id"], "a");
}

#[tokio::test]
async fn malformed_arguments_are_handed_on_as_they_are() {
    let got =
        heard(Script::calls(&[("a", "roll", "{\"a\":1}{\"a\":2}"), ("b", "look", "{\"at\":")]))
            .await;
    assert_eq!(got.pairs(), [("roll", "{\"a\":1}{\"a\":2}"), ("look", "{\"at\":")]);
}

#[tokio::test]
async fn reasoning_and_markup_never_become_text() {
    let script = Script::stream()
        .chunk(json!({"reasoning_content": "they want dice"}), None)
        .chunk(json!({"reasoning": "hm", "content": ""}), None)
        .chunk(json!({"content": "<thi"}), None)
        .chunk(json!({"content": "nk>secret</think>Aye"}), None)
        .chunk(json!({"content": ".<tool_call>{\"name\":\"roll\"}"}), None)
        .chunk(json!({}), Some("stop"))
        .done();
    assert_eq!(heard(script).await.texts, ["Aye", "."]);
}

#[tokio::test]
async fn noise_of_real_servers_is_passed_over() {
    let script = Script::stream()
        .raw(": OPENROUTER PROCESSING\r\n\r\n")
        .raw("event: message\r\ndata: {\"choices\":[]}\r\n\r\n")
        .raw("data: not json\n\n")
        .event(&json!({"choices": [], "prompt_filter_results": []}))
        .event(&json!({"choices": [{"delta": {"content": "Aye."}}], "timings": {"ms": 3}}))
        .event(&json!({"choices": [{"delta": {}, "finish_reason": "stop"}],
            "x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": 1}}}))
        .done();
    let got = heard(script).await;
    assert_eq!(got.text(), "Aye.");
    assert_eq!(got.usage.map(|usage| usage.input_tokens), Some(3));
    assert!(got.done);
}

#[tokio::test]
async fn stream_end_needs_done_mark_or_finish_reason() {
    let text = || Script::stream().chunk(json!({"content": "Aye."}), None);
    assert!(heard(text().chunk(json!({}), Some("stop"))).await.done, "no [DONE]");
    assert!(heard(text().done()).await.done, "no finish_reason");
    assert!(heard(text().raw("data: [DONE]")).await.done, "no last line end");
    let neither = heard(text()).await;
    assert_eq!(neither.error, Some(Kind::Interrupted));
    assert_eq!(neither.text(), "Aye.");
}

#[tokio::test]
async fn cut_stream_is_interrupted_and_drops_calls() {
    let text = Script::stream().chunk(json!({"content": "Well"}), None).step(Step::Cut);
    let got = heard(text).await;
    assert_eq!((got.text().as_str(), got.error), ("Well", Some(Kind::Interrupted)));
    let call = json!({"index": 0, "id": "a", "function": {"name": "roll", "arguments": "{}"}});
    let got = heard(Script::stream().chunk(tool_delta(call), None).step(Step::Cut)).await;
    assert_eq!((got.calls.len(), got.error), (0, Some(Kind::Interrupted)));
}

#[tokio::test]
async fn stalled_stream_ends_by_its_idle_time() {
    let server = ChatServer::start();
    server.push(Script::stream().chunk(json!({"content": "Well"}), None).step(Step::Stall));
    let mut events = chat(&server).stream(asks());
    assert_eq!(events.next().await.unwrap().unwrap(), ChatEvent::Text("Well".into()));
    let (got, waited) = at_once(collect(events)).await;
    assert_eq!((got.text().as_str(), got.error), ("", Some(Kind::Interrupted)));
    assert_eq!(waited.as_secs(), 10, "its idle time");
    server.abandoned(1).await;
}

#[tokio::test]
async fn unstarted_answer_times_out_without_retry() {
    let server = ChatServer::start();
    server.otherwise(|_| Script::stream().step(Step::Stall));
    let waiting = tokio::spawn(collect(chat(&server).stream(asks())));
    server.received(1).await;
    let (got, waited) = at_once(waiting).await;
    assert_eq!(got.unwrap().error, Some(Kind::Timeout));
    assert!(waited < Duration::from_secs(11), "no longer than for a first byte: {waited:?}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn server_that_forgets_to_close_is_done_soon() {
    let server = ChatServer::start();
    let reply = Script::stream().chunk(json!({"content": "Aye."}), Some("stop"));
    server.push(reply.step(Step::Stall));
    let mut events = chat(&server).stream(asks());
    assert_eq!(events.next().await.unwrap().unwrap(), ChatEvent::Text("Aye.".into()));
    let (got, waited) = at_once(collect(events)).await;
    assert!(got.done && got.error.is_none());
    assert!(waited < Duration::from_secs(2), "not its idle time: {waited:?}");
}

#[tokio::test]
async fn delays_between_tokens_are_no_silence() {
    let paced = Script::text(&["Well", " met."]).paced(Duration::from_millis(2));
    assert_eq!(heard(paced).await.text(), "Well met.");
}

#[tokio::test(start_paused = true)]
async fn turns_share_one_connection() {
    // Blocking work stops paused time from advancing by itself, so the body's end is never too
    // late.
    let (_frozen, until_dropped) = std::sync::mpsc::channel::<()>();
    tokio::task::spawn_blocking(move || until_dropped.recv());
    let server = ChatServer::start();
    let chat = chat(&server);
    for _ in 0..3 {
        assert!(collect(chat.stream(asks())).await.done);
        // A separate task returns the connection to the pool.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let server = ChatServer::start();
    server.push(Script::stream().chunk(json!({"content": "Well"}), None).step(Step::Stall));
    let mut events = chat(&server).stream(asks());
    assert_eq!(events.next().await.unwrap().unwrap(), ChatEvent::Text("Well".into()));
    drop(events);
    server.abandoned(1).await;

    server.push(Script::stream().step(Step::Stall));
    let waiting = tokio::spawn(collect(chat(&server).stream(asks())));
    server.received(2).await;
    waiting.abort();
    server.abandoned(2).await;
}

#[tokio::test]
async fn errors_inside_the_stream_have_their_kind() {
    let inside = |error: Value| Script::stream().event(&json!({"error": error}));
    let refused = inside(json!({"message": "no", "code": 400}));
    assert_eq!(heard(refused).await.error, Some(Kind::InvalidRequest));
    let late = Script::stream()
        .chunk(json!({"content": "Well"}), None)
        .event(&json!({"error": {"message": "overloaded", "code": 502}}));
    let got = heard(late).await;
    assert_eq!((got.text().as_str(), got.error), ("Well", Some(Kind::Interrupted)));
    let named =
        Script::stream().chunk(json!({"content": "Well"}), None).chunk(json!({}), Some("error"));
    assert_eq!(heard(named).await.error, Some(Kind::Interrupted));
}

#[tokio::test]
async fn bodies_that_are_no_stream_are_understood() {
    let whole = json!({"object": "chat.completion", "choices": [{"finish_reason": "stop",
        "message": {"role": "assistant", "content": "Aye.", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "roll", "arguments": "{}"}}]}}],
        "usage": {"prompt_tokens": 4, "completion_tokens": 1}});
    let got = heard(Script::json(200, &whole)).await;
    assert_eq!((got.text().as_str(), got.pairs()), ("Aye.", vec![("roll", "{}")]));
    assert!(got.done);
    let gemini = json!([{"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}]);
    assert_eq!(heard(Script::json(200, &gemini)).await.error, Some(Kind::InvalidRequest));
    let page = Script::plain(200, "text/html").raw("<html><p>Welcome</p></html>");
    assert_eq!(heard(page).await.error, Some(Kind::Protocol));
}

#[tokio::test]
async fn passing_failures_are_retried_before_output() {
    let server = ChatServer::start();
    server.push(Script::error(429, "rate_limit_error", "slow down").header("retry-after-ms", "5"));
    server.push(Script::stream().event(&json!({"error": {"message": "busy", "code": 503}})));
    let got = collect(chat(&server).stream(asks())).await;
    assert_eq!(got.text(), "Aye.");
    assert_eq!(server.requests().len(), 3);
    let bodies: Vec<_> = server.requests().into_iter().map(|request| request.body).collect();
    assert!(bodies.iter().all(|body| *body == bodies[0]), "the same bytes each time");
}

#[tokio::test]
async fn retries_are_bounded_and_skip_final_errors() {
    let server = ChatServer::start();
    server.otherwise(|_| Script::error(429, "tokens", "slow down").header("retry-after-ms", "1"));
    let got = collect(chat(&server).stream(asks())).await;
    let retry_after = Some(Duration::from_millis(1));
    assert_eq!(got.error, Some(Kind::RateLimited { retry_after }));
    assert_eq!(server.requests().len(), 3);

    for (status, kind, expected) in [
        (401, "invalid_request_error", Kind::Unauthorized),
        (404, "invalid_request_error", Kind::InvalidRequest),
        (429, "insufficient_quota", Kind::Unauthorized),
    ] {
        let before = server.requests().len();
        server.push(Script::error(status, kind, "no"));
        assert_eq!(collect(chat(&server).stream(asks())).await.error, Some(expected));
        assert_eq!(server.requests().len(), before + 1, "status {status}");
    }
}

#[tokio::test]
async fn long_wait_asked_for_is_reported_at_once() {
    let server = ChatServer::start();
    server.push(Script::error(429, "rate_limit_error", "later").header("retry-after", "120"));
    let start = Instant::now();
    let got = collect(chat(&server).stream(asks())).await;
    let retry_after = Some(Duration::from_secs(120));
    assert_eq!(got.error, Some(Kind::RateLimited { retry_after }));
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn refused_parameters_are_not_sent_again() {
    let server = ChatServer::start();
    server.otherwise(|request| {
        let refuse = |param: &str| {
            Script::json(
                400,
                &json!({"error": {"type": "invalid_request_error", "param": param,
                "code": "unsupported_parameter", "message": format!("Unsupported: '{param}'")}}),
            )
        };
        ["max_tokens", "stream_options", "parallel_tool_calls"]
            .into_iter()
            .find(|name| request.json.get(*name).is_some())
            .map_or_else(|| Script::text(&["Aye."]), refuse)
    });
    let chat = chat(&server);
    assert_eq!(collect(chat.stream(asks())).await.text(), "Aye.");
    assert_eq!(server.requests().len(), 4);
    assert_eq!(server.requests()[3].json["max_completion_tokens"], 100);
    assert_eq!(collect(chat.stream(asks())).await.text(), "Aye.");
    assert_eq!(server.requests().len(), 5);
}

#[tokio::test]
async fn parameter_refused_under_both_names_fails() {
    let server = ChatServer::start();
    server.otherwise(|request| {
        let name = if request.json.get("max_tokens").is_some() {
            "max_tokens"
        } else {
            "max_completion_tokens"
        };
        Script::json(400, &json!({"error": {"message": "too large", "param": name}}))
    });
    let got = collect(chat(&server).stream(asks())).await;
    assert_eq!(got.error, Some(Kind::InvalidRequest));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn key_is_sent_and_its_refusal_says_so() {
    let server = ChatServer::with_key(Some("sk-right"));
    let with = |key: Option<&str>| {
        let mut options = options(&server.base_url());
        options.api_key = key.map(|key| Secret(key.into()));
        Chat::new(options).unwrap()
    };
    assert!(collect(with(Some("sk-right")).stream(asks())).await.done);
    for key in [Some("sk-wrong"), None] {
        let error = with(key).stream(asks()).next().await.unwrap().unwrap_err();
        assert_eq!(error.kind(), Kind::Unauthorized);
        assert!(error.to_string().contains("check api_key"), "{error}");
        assert!(!error.to_string().contains("sk-"), "{error}");
    }
    assert!(server.requests()[2].headers.iter().all(|(name, _)| name != "authorization"));
}

#[tokio::test]
async fn server_that_is_down_is_unreachable() {
    let gone = "http://127.0.0.1:1/v1";
    let error = Chat::new(options(gone)).unwrap().stream(asks()).next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), Kind::Unreachable);
    assert!(error.to_string().contains(gone), "{error}");
    assert!(error.to_string().contains("is the server running?"), "{error}");
}

#[test]
fn unusable_addresses_and_keys_are_refused() {
    for bad in ["", "127.0.0.1:11434/v1", "ftp://x/v1", "not an address"] {
        let error = Chat::new(options(bad)).err().expect("an error");
        assert_eq!(error.kind(), Kind::InvalidRequest, "{bad}");
    }
    let mut options = options("http://127.0.0.1:1/v1");
    options.api_key = Some(Secret("sk-1\n".into()));
    assert_eq!(Chat::new(options).err().map(|error| error.kind()), Some(Kind::Unauthorized));
}

#[tokio::test]
async fn probing_tells_what_is_there() {
    let server = ChatServer::start();
    let probe = |model: &str| {
        let mut options = options(&server.base_url());
        options.model = model.into();
        crate::provider::openai::probe(options)
    };
    assert_eq!(
        probe("test-model").await.unwrap(),
        "answers with 1 models, 'test-model' among them"
    );
    assert_eq!(
        probe("tiny").await.unwrap(),
        "answers with 1 models, but 'tiny' is not among them (it has test-model)"
    );
    server.push(Script::error(404, "invalid_request_error", "no such path"));
    assert_eq!(probe("tiny").await.unwrap(), "answers (it does not list its models)");
    server.push(Script::error(401, "invalid_request_error", "no key"));
    assert_eq!(probe("tiny").await.unwrap_err().kind(), Kind::Unauthorized);
}

#[tokio::test]
async fn fake_refuses_what_the_service_refuses() {
    let server = ChatServer::start();
    let mut options = options(&server.base_url());
    let call = |id: &str| ToolCall {
        id: CallId(id.into()),
        name: "roll dice".into(),
        arguments: "{}".into(),
        extra: Map::new(),
    };
    let mut bad = asks();
    bad.messages.push(Message::Assistant {
        text: String::new(),
        calls: vec![call("a")],
        gated: false,
    });
    let got = collect(Chat::new(options.clone()).unwrap().stream(bad.clone())).await;
    assert_eq!(got.error, Some(Kind::InvalidRequest));
    assert_eq!(server.requests()[0].refused.as_deref(), Some("Invalid name of a call"));
    server.lenient();
    options.extra_body.insert("temperature".into(), json!(9));
    assert!(collect(Chat::new(options).unwrap().stream(bad)).await.done);
    assert_eq!(server.requests()[1].refused.as_deref(), Some("Invalid 'temperature'"));
}

#[tokio::test]
async fn conversation_redirected_elsewhere_stays() {
    let (server, elsewhere) = (ChatServer::start(), ChatServer::start());
    let to = format!("{}/chat/completions", elsewhere.base_url());
    server.push(Script::error(307, "moved", "there").header("location", &to));
    let mut events = chat(&server).stream(asks());
    let error = events.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), Kind::Protocol);
    assert!(error.to_string().contains("redirects elsewhere"), "{error}");
    assert!(elsewhere.requests().is_empty());
}

/// Bytes of text and the error of an answer with these chunks.
async fn ends(chunks: impl Iterator<Item = Value>) -> (usize, String) {
    let stream: String = chunks
        .map(|delta| format!("data: {}\n\n", json!({"choices": [{"delta": delta}]})))
        .collect();
    let server = ChatServer::start();
    server.push(Script::stream().raw(&stream));
    let mut events = chat(&server).stream(asks());
    let mut size = 0;
    while let Some(event) = events.next().await {
        match event {
            Ok(ChatEvent::Text(text)) => size += text.len(),
            Ok(other) => panic!("{other:?}"),
            Err(error) => return (size, error.to_string()),
        }
    }
    panic!("it has ended");
}

#[tokio::test]
async fn answer_without_end_stops_at_its_bound() {
    let text = std::iter::repeat_n(json!({"content": "a".repeat(1 << 10)}), 100);
    let (size, error) = ends(text).await;
    assert_eq!(size, 64 << 10);
    assert!(error.contains("64 KiB of text a turn"), "{error}");
    let arguments = json!({"tool_calls": [{"index": 0, "id": "a",
        "function": {"name": "roll", "arguments": "1".repeat(64 << 10)}}]});
    let (_, error) = ends(std::iter::repeat_n(arguments, 5)).await;
    assert!(error.contains("256 KiB of arguments a call"), "{error}");
    let call = |at| {
        json!({"tool_calls": [{"index": at, "id": format!("c{at}"),
        "function": {"name": "roll", "arguments": "{}"}}]})
    };
    let (_, error) = ends((0..65).map(call)).await;
    assert!(error.contains("64 calls a round"), "{error}");
    let (_, error) = ends(std::iter::once(json!({"content": "a".repeat(2 << 20)}))).await;
    assert!(error.contains("1 MiB for an event"), "{error}");
}
