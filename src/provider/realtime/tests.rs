//! Messages and events of a session, without a socket.

use std::{sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use futures::{FutureExt, StreamExt};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Options, failure::closed, talk::RealtimeTalk, wire::Said};
use crate::{
    audio::SampleRate,
    domain::{CallId, ToolChoice},
    provider::{
        Kind, Pcm, SpeechEnding, SpeechEvents, SpeechItem, SpeechItemId, SpeechOrder,
        SpeechSessionEvent,
        speech_to_speech::{
            events,
            peer::Peer,
            session::{Language, Over},
        },
    },
};

struct Bench {
    talk: RealtimeTalk,
    events: SpeechEvents,
}

impl Bench {
    fn new() -> Self {
        let (talk, reader) = session(&[]);
        Self { talk, events: reader.stream(tokio::spawn(async {})) }
    }

    /// A session whose first answer, "r1", has begun.
    fn answering() -> Self {
        let mut bench = Self::new();
        bench.order(SpeechOrder::Answer(ToolChoice::Auto));
        bench.said(&json!({"type": "response.created", "response": {"id": "r1"}}));
        assert_eq!(bench.sent(), ["response.create"]);
        bench
    }

    fn order(&mut self, order: SpeechOrder) {
        self.talk.order(order).unwrap();
    }

    fn said(&mut self, event: &Value) {
        self.talk.said(read(event)).unwrap();
    }

    fn done(&mut self, response: &str, status: &str) {
        let response = json!({"id": response, "status": status});
        self.said(&json!({"type": "response.done", "response": response}));
    }

    /// The events to send now.
    fn values(&mut self) -> Vec<Value> {
        self.talk.take().iter().map(|order| serde_json::from_str(order).unwrap()).collect()
    }

    /// Their kinds.
    fn sent(&mut self) -> Vec<String> {
        let kind = |order: &Value| order["type"].as_str().unwrap().to_owned();
        self.values().iter().map(kind).collect()
    }

    fn told(&mut self) -> Vec<SpeechSessionEvent> {
        let next = || self.events.next().now_or_never().flatten();
        std::iter::from_fn(next).map(Result::unwrap).collect()
    }

    /// Endings of finished answers.
    fn endings(&mut self) -> Vec<SpeechEnding> {
        let done = |event: SpeechSessionEvent| match event {
            SpeechSessionEvent::Done(done) => Some(done.ending),
            _ => None,
        };
        self.told().into_iter().filter_map(done).collect()
    }
}

fn session(before: &[SpeechItem]) -> (RealtimeTalk, events::Reader) {
    let peer = Arc::new(Peer::new(&Options::of_tests("http://127.0.0.1:9"), closed));
    let (events, reader) = events::channel();
    (RealtimeTalk::new(peer, events, before), reader)
}

fn read(event: &Value) -> Said {
    Said::read(event.to_string().as_bytes())
}

fn audio(response: &str, samples: usize) -> Value {
    let delta = STANDARD.encode(vec![0_u8; samples * 2]);
    json!({"type": "response.output_audio.delta", "response_id": response, "item_id": "i1",
        "delta": delta})
}

fn words(response: &str, delta: &str) -> Value {
    json!({"type": "response.output_audio_transcript.delta", "response_id": response,
        "item_id": "i1", "delta": delta})
}

fn call(response: &str) -> Value {
    json!({"type": "response.function_call_arguments.done", "response_id": response,
        "call_id": "c1", "name": "roll", "arguments": "{}"})
}

fn answer() -> SpeechOrder {
    SpeechOrder::Answer(ToolChoice::Auto)
}

fn ending(event: Option<&SpeechSessionEvent>) -> Option<&SpeechEnding> {
    match event {
        Some(SpeechSessionEvent::Done(done)) => Some(&done.ending),
        _ => None,
    }
}

fn text() -> SpeechOrder {
    SpeechOrder::Text(SpeechItem::Said("Hail!".to_owned()))
}

fn sound(samples: usize) -> SpeechOrder {
    SpeechOrder::Sound(Pcm { samples: vec![0; samples], rate: SampleRate::HZ_24000 })
}

#[tokio::test]
async fn later_smaller_counts_change_nothing() {
    let mut bench = Bench::answering();
    for read in [900, 0] {
        let response = json!({"id": "r1", "status": "completed", "usage": {"input_tokens": read}});
        bench.said(&json!({"type": "response.done", "response": response}));
    }
    let read = |event: SpeechSessionEvent| match event {
        SpeechSessionEvent::Done(done) => done.usage.map(|usage| usage.text_in),
        _ => None,
    };
    assert_eq!(bench.told().into_iter().map(read).collect::<Vec<_>>(), [Some(900)]);
}

#[tokio::test]
async fn answer_events_keep_order_and_end_with_done() {
    let mut bench = Bench::answering();
    bench.said(&words("r1", "Well "));
    bench.said(&audio("r1", 480));
    bench.said(&call("r1"));
    assert_eq!(bench.told().len(), 2, "a call counts only once the answer is whole");
    bench.done("r1", "completed");
    let told = bench.told();
    let [SpeechSessionEvent::Call(call), SpeechSessionEvent::Done(done)] = told.as_slice() else {
        panic!("{told:?}")
    };
    assert_eq!((call.id.0.as_str(), call.name.as_str()), ("c1", "roll"));
    assert_eq!(done.ending, SpeechEnding::Completed);
    bench.said(&words("r1", "late"));
    assert!(bench.told().is_empty());
}

#[tokio::test]
async fn calls_of_a_cancelled_answer_are_dropped() {
    let mut bench = Bench::answering();
    bench.order(SpeechOrder::Cancel);
    bench.said(&call("r1"));
    bench.said(&words("r1", "late"));
    bench.done("r1", "cancelled");
    let told = bench.told();
    assert!(matches!(told.first(), Some(SpeechSessionEvent::Words { .. })), "{told:?}");
    assert!(matches!(told.last(), Some(SpeechSessionEvent::Done(_))) && told.len() == 2);
}

#[tokio::test]
async fn cancel_is_sent_only_while_answering() {
    let mut bench = Bench::new();
    bench.order(SpeechOrder::Cancel);
    assert!(bench.sent().is_empty());
    bench.order(answer());
    assert!(bench.talk.due().is_none());
    bench.order(SpeechOrder::Cancel);
    bench.order(SpeechOrder::Cancel);
    assert_eq!(bench.sent(), ["response.create", "response.cancel"]);
    assert!(bench.talk.due().is_some());
    bench.done("r1", "cancelled");
    assert_eq!(bench.endings(), [SpeechEnding::Cancelled]);
    assert!(bench.talk.due().is_none());
    bench.order(SpeechOrder::Cancel);
    assert!(bench.sent().is_empty());
}

#[tokio::test]
async fn second_answer_waits_for_the_first() {
    let mut bench = Bench::answering();
    bench.order(text());
    assert_eq!(bench.sent(), ["conversation.item.create"]);
    bench.order(answer());
    bench.order(text());
    assert!(bench.sent().is_empty());
    bench.done("r1", "completed");
    assert_eq!(bench.sent(), ["response.create", "conversation.item.create"]);
    // The rest of the first answer does not become the second.
    bench.said(&words("r1", "late"));
    bench.done("r2", "completed");
    assert_eq!(bench.endings(), [SpeechEnding::Completed, SpeechEnding::Completed]);
}

#[tokio::test]
async fn waiting_answer_that_is_cancelled_still_ends() {
    let mut bench = Bench::answering();
    bench.order(answer());
    bench.order(text());
    bench.order(SpeechOrder::Cancel);
    bench.order(answer());
    assert_eq!(bench.sent(), ["response.cancel"]);
    bench.done("r1", "cancelled");
    assert_eq!(bench.endings(), [SpeechEnding::Cancelled, SpeechEnding::Cancelled]);
    assert_eq!(bench.sent(), ["conversation.item.create", "response.create"]);
}

#[tokio::test]
async fn refused_answer_ends_as_failed() {
    let mut bench = Bench::new();
    bench.order(answer());
    let order = bench.values();
    let error = json!({"type": "invalid_request_error", "message": "no", "event_id":
        order[0]["event_id"]});
    bench.said(&json!({"type": "error", "error": error}));
    let told = bench.told();
    let [SpeechSessionEvent::Refused(error), SpeechSessionEvent::Done(done)] = told.as_slice()
    else {
        panic!("{told:?}")
    };
    assert_eq!(error.kind(), Kind::InvalidRequest);
    let SpeechEnding::Failed(why) = &done.ending else { panic!("{done:?}") };
    assert!(why.contains("was refused") && !why.contains("\"no\""), "a quote: {why}");
}

#[tokio::test]
async fn other_error_goes_on() {
    let mut bench = Bench::answering();
    bench.said(&json!({"type": "error", "error": {"type": "server_error", "event_id": "other"}}));
    bench.done("r1", "completed");
    let told = bench.told();
    assert!(matches!(told.first(), Some(SpeechSessionEvent::Refused(_))), "{told:?}");
    assert_eq!(ending(told.last()), Some(&SpeechEnding::Completed));
}

#[tokio::test]
async fn cancel_that_comes_late_is_not_minded() {
    let error = json!({"type": "error", "error": {"code": "response_cancel_not_active"}});
    let mut bench = Bench::answering();
    bench.order(SpeechOrder::Cancel);
    bench.done("r1", "completed");
    bench.said(&error);
    let told = bench.told();
    assert_eq!(ending(told.first()), Some(&SpeechEnding::Completed));
    assert_eq!(told.len(), 1, "{told:?}");
    // Its end was never sent and never arrives.
    let mut bench = Bench::answering();
    bench.order(SpeechOrder::Cancel);
    bench.said(&error);
    assert_eq!(bench.endings(), [SpeechEnding::Cancelled]);
}

#[tokio::test]
async fn expired_session_goes_away_quietly() {
    let mut bench = Bench::answering();
    let error = json!({"type": "invalid_request_error", "code": "session_expired"});
    let over = bench.talk.said(read(&json!({"type": "error", "error": error})));
    assert!(matches!(over, Err(Over::Quietly)));
    let told = bench.told();
    assert!(matches!(told.as_slice(), [SpeechSessionEvent::GoingAway(_)]), "{told:?}");
}

#[tokio::test]
async fn sound_over_30_s_unread_ends_the_answer() {
    let mut bench = Bench::answering();
    for _ in 0..33 {
        bench.said(&audio("r1", 24_000));
    }
    assert_eq!(bench.sent(), ["response.cancel"], "once");
    bench.said(&words("r1", "words of what is kept"));
    bench.done("r1", "completed");
    let told = bench.told();
    assert_eq!(told.len(), 32, "30 s, their words and the end");
    let Some(SpeechSessionEvent::Done(done)) = told.last() else { panic!("no end") };
    let why = "more than 30 s of the answer wait to be played; the rest of it is dropped";
    assert_eq!(done.ending, SpeechEnding::Failed(why.to_owned()));
}

#[tokio::test]
async fn words_over_the_bound_end_the_answer() {
    let mut bench = Bench::answering();
    bench.said(&words("r1", &"x".repeat(64 << 10)));
    bench.said(&words("r1", "x"));
    bench.said(&words("r1", "x"));
    bench.said(&audio("r1", 480));
    assert_eq!(bench.sent(), ["response.cancel"]);
    bench.done("r1", "cancelled");
    let told = bench.told();
    assert_eq!(told.len(), 2);
    let why = "the answer exceeds the limit of 64 KiB of text a turn".to_owned();
    assert_eq!(ending(told.last()), Some(&SpeechEnding::Failed(why)));
}

#[tokio::test]
async fn event_over_the_bound_ends_the_answer() {
    let why = SpeechEnding::Failed("the answer exceeds the limit of 1 MiB for an event".to_owned());
    let mut bench = Bench::answering();
    bench.said(&words("r1", &"x".repeat(1 << 20)));
    assert_eq!(bench.sent(), ["response.cancel"]);
    bench.done("r1", "cancelled");
    assert_eq!(bench.endings(), std::slice::from_ref(&why));
    // No other end follows this one.
    let mut bench = Bench::answering();
    let response = json!({"id": "r1", "status": "completed", "output": "x".repeat(1 << 20)});
    bench.said(&json!({"type": "response.done", "response": response}));
    assert_eq!(bench.endings(), [why]);
    assert!(bench.sent().is_empty());
}

#[tokio::test]
async fn unrequested_answer_is_cancelled() {
    let mut bench = Bench::new();
    bench.said(&json!({"type": "response.created", "response": {"id": "r7"}}));
    assert_eq!(bench.values(), [json!({"type": "response.cancel", "response_id": "r7"})]);
    bench.said(&audio("r7", 480));
    bench.said(&call("r7"));
    bench.done("r7", "completed");
    assert!(bench.told().is_empty());
}

#[tokio::test]
async fn truncation_is_never_beyond_what_came() {
    let mut bench = Bench::answering();
    bench.said(&audio("r1", 2_400));
    let cut = |item: &str, ms| SpeechOrder::Truncate {
        item: SpeechItemId(item.to_owned()),
        played: Duration::from_millis(ms),
    };
    bench.order(cut("i1", 60));
    bench.order(cut("i1", 5_000));
    bench.order(cut("unknown", 60));
    let wanted = |ms: u64| {
        json!({"type": "conversation.item.truncate", "item_id": "i1", "content_index": 0,
            "audio_end_ms": ms, "event_id": "cut"})
    };
    assert_eq!(bench.values(), [wanted(60), wanted(100)]);
    let error = json!({"type": "invalid_request_error", "event_id": "cut"});
    bench.said(&json!({"type": "error", "error": error}));
    assert!(bench.told().iter().all(|it| !matches!(it, SpeechSessionEvent::Refused(_))));
}

#[tokio::test]
async fn utterance_is_committed_with_its_sound() {
    let mut bench = Bench::new();
    bench.order(SpeechOrder::Commit);
    assert!(bench.sent().is_empty(), "the service refuses an empty one");
    bench.order(sound(4_800));
    bench.order(SpeechOrder::Commit);
    assert_eq!(bench.sent(), ["input_audio_buffer.append", "input_audio_buffer.commit"]);
    bench.order(sound(480));
    bench.order(SpeechOrder::Commit);
    let [append, rest, commit] =
        ["append", "append", "commit"].map(|it| format!("input_audio_buffer.{it}"));
    assert_eq!(bench.sent(), [append, rest, commit], "silence fills it up to 100 ms");
    bench.order(sound(480));
    bench.order(SpeechOrder::Clear);
    bench.order(SpeechOrder::Commit);
    assert_eq!(bench.sent(), ["input_audio_buffer.append", "input_audio_buffer.clear"]);
}

#[tokio::test]
async fn absurd_sound_is_refused_and_goes_on() {
    let mut bench = Bench::new();
    let rate = SampleRate::new(1).unwrap();
    bench.order(SpeechOrder::Sound(Pcm { samples: vec![0], rate }));
    let told = bench.told();
    assert!(matches!(told.as_slice(), [SpeechSessionEvent::Refused(_)]), "{told:?}");
    bench.order(SpeechOrder::Result { call: CallId("c1".to_owned()), output: "7".to_owned() });
    let item = json!({"type": "function_call_output", "call_id": "c1", "output": "7"});
    assert_eq!(bench.values(), [json!({"type": "conversation.item.create", "item": item})]);
}

#[test]
fn new_session_receives_earlier_conversation() {
    let said = SpeechItem::Said("Hail!".to_owned());
    let answered = SpeechItem::Answered("Well met.".to_owned());
    let (mut talk, _reader) = session(&[said, answered]);
    let roles: Vec<Value> = talk
        .take()
        .iter()
        .map(|order| serde_json::from_str::<Value>(order).unwrap()["item"]["role"].clone())
        .collect();
    assert_eq!(roles, ["user", "assistant"]);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-zA-Z0-9+/=_ é]{0,12}".prop_map(Value::from),
        Just(Value::from("r1")),
        Just(Value::from("completed")),
        Just(Value::from("function_call")),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop::sample::select(vec![
            "id",
            "item_id",
            "response_id",
            "call_id",
            "name",
            "arguments",
            "delta",
            "response",
            "item",
            "output",
            "status",
            "status_details",
            "reason",
            "error",
            "code",
            "type",
            "usage",
            "input_token_details",
            "text_tokens",
            "cached_tokens",
            "event_id",
            "other",
        ]);
        let members = prop::collection::vec((key, inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            members.prop_map(|members| {
                let named = members.into_iter().map(|(key, value)| (key.to_owned(), value));
                Value::Object(named.collect())
            }),
        ]
    })
}

/// An event of a known kind, with any members.
fn any_event() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec![
        "response.created",
        "response.output_audio.delta",
        "response.output_audio_transcript.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.done",
        "error",
        "unheard.of",
    ]);
    (kind, any_json()).prop_map(|(kind, value)| {
        let mut event = match value {
            Value::Object(members) => members,
            other => Map::from_iter([("response".to_owned(), other)]),
        };
        event.insert("type".to_owned(), Value::from(kind));
        Value::Object(event)
    })
}

fn any_order() -> impl Strategy<Value = SpeechOrder> {
    let cut = (any::<u64>(), "[ir]1").prop_map(|(ms, item)| SpeechOrder::Truncate {
        item: SpeechItemId(item),
        played: Duration::from_millis(ms),
    });
    prop_oneof![
        Just(answer()),
        Just(SpeechOrder::Cancel),
        Just(SpeechOrder::Commit),
        Just(SpeechOrder::Clear),
        Just(text()),
        (0_usize..960).prop_map(sound),
        cut,
    ]
}

proptest! {
    #[test]
    fn no_json_panics(event in any_json()) {
        let _ = session(&[]).0.said(read(&event));
    }

    #[test]
    fn no_order_of_events_panics(
        steps in prop::collection::vec(
            prop_oneof![any_event().prop_map(Ok::<Value, SpeechOrder>), any_order().prop_map(Err::<Value, SpeechOrder>)], 0..40),
    ) {
        let (mut talk, _reader) = session(&[]);
        for step in steps {
            let over = match step {
                Ok(event) => talk.said(read(&event)),
                Err(order) => talk.order(order),
            };
            let sent = talk.take();
            prop_assert!(sent.iter().all(|order| serde_json::from_str::<Value>(order).is_ok()));
            if over.is_err() {
                break;
            }
        }
    }
}
