//! Messages and events of a session, without a socket.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use futures::{FutureExt, StreamExt};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Options, failure::closed, talk::GeminiTalk};
use crate::{
    audio::SampleRate,
    domain::{CallId, Calling, ToolChoice, ToolSpec},
    provider::{
        Pcm, SpeechEnding, SpeechEvents, SpeechItem, SpeechOrder, SpeechSessionEvent,
        speech_to_speech::{
            events,
            peer::Peer,
            session::{Language, Over},
        },
    },
};

mod calls;

struct Bench {
    talk: GeminiTalk,
    events: SpeechEvents,
}

impl Bench {
    fn new() -> Self {
        let (talk, reader) = session(&[]);
        Self { talk, events: reader.stream(tokio::spawn(async {})) }
    }

    /// A session whose first answer is requested.
    fn answering() -> Self {
        let mut bench = Self::new();
        bench.order(answer());
        assert_eq!(bench.sent(), ["clientContent"]);
        bench
    }

    fn order(&mut self, order: SpeechOrder) {
        self.talk.order(order).unwrap();
    }

    fn says(&mut self, message: &Value) {
        self.talk.message(message.to_string().as_bytes()).unwrap();
    }

    fn turn_over(&mut self) {
        self.says(&json!({"serverContent": {"turnComplete": true},
            "usageMetadata": {"promptTokenCount": 9}}));
    }

    /// The messages to send now.
    fn values(&mut self) -> Vec<Value> {
        self.talk.take().iter().map(|order| serde_json::from_str(order).unwrap()).collect()
    }

    /// Their kinds.
    fn sent(&mut self) -> Vec<String> {
        let kind = |order: &Value| {
            let (kind, of) = order.as_object().unwrap().iter().next().unwrap();
            match kind.as_str() {
                "realtimeInput" => of.as_object().unwrap().keys().next().unwrap().clone(),
                kind => kind.to_owned(),
            }
        };
        self.values().iter().map(kind).collect()
    }

    fn told(&mut self) -> Vec<SpeechSessionEvent> {
        let next = || self.events.next().now_or_never().flatten();
        std::iter::from_fn(next).map(Result::unwrap).collect()
    }

    /// Endings of the next answers.
    fn endings(&mut self) -> Vec<SpeechEnding> {
        let done = |event: SpeechSessionEvent| match event {
            SpeechSessionEvent::Done(done) => Some(done.ending),
            _ => None,
        };
        self.told().into_iter().filter_map(done).collect()
    }
}

fn session(before: &[SpeechItem]) -> (GeminiTalk, events::Reader) {
    let peer = Arc::new(Peer::new(&Options::of_tests("http://127.0.0.1:9"), closed));
    let (events, reader) = events::channel();
    let tools = [tool("roll", Calling::Waits), tool("note", Calling::Records)];
    (GeminiTalk::new(peer, events, &tools, before), reader)
}

fn tool(name: &str, calling: Calling) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        identity: format!("dice.{name}").into(),
        description: "".into(),
        parameters: Arc::new(json!({})),
        calling,
    }
}

fn answer() -> SpeechOrder {
    SpeechOrder::Answer(ToolChoice::Auto)
}

fn text() -> SpeechOrder {
    SpeechOrder::Text(SpeechItem::Said("Hail!".to_owned()))
}

fn sound(samples: usize) -> SpeechOrder {
    SpeechOrder::Sound(Pcm { samples: vec![0; samples], rate: SampleRate::HZ_16000 })
}

fn result(call: &str) -> SpeechOrder {
    SpeechOrder::Result { call: CallId(call.to_owned()), output: "7".to_owned() }
}

fn audio(samples: usize) -> Value {
    let data = STANDARD.encode(vec![0_u8; samples * 2]);
    json!({"serverContent": {"modelTurn": {"parts": [{"inlineData": {"data": data}}]}}})
}

fn words(text: &str, is_last: bool) -> Value {
    json!({"serverContent": {"outputTranscription": {"text": text, "finished": is_last}}})
}

/// A call with the tokens of its round.
fn call(id: &str, name: &str) -> Value {
    json!({"toolCall": {"functionCalls": [{"id": id, "name": name, "args": {}}]},
        "usageMetadata": {"promptTokenCount": 5}})
}

fn cancelled(id: &str) -> Value {
    json!({"toolCallCancellation": {"ids": [id]}})
}

#[tokio::test]
async fn utterance_ends_with_the_order_to_answer() {
    let mut bench = Bench::new();
    bench.order(text());
    bench.order(sound(480));
    bench.order(sound(480));
    bench.order(SpeechOrder::Commit);
    let sent = bench.sent();
    assert_eq!(sent[..3], ["clientContent", "activityStart", "audio"]);
    assert!(sent[3..].iter().all(|it| it == "audio"), "{sent:?}");
    bench.order(answer());
    assert_eq!(bench.sent().last().map(String::as_str), Some("activityEnd"));
    bench.turn_over();
    bench.order(sound(480));
    assert_eq!(bench.sent().first().map(String::as_str), Some("activityStart"), "another");
}

#[tokio::test]
async fn answer_ends_once_nothing_of_it_is_missing() {
    let mut bench = Bench::answering();
    bench.says(&audio(480));
    bench.says(&words("Well ", false));
    bench.turn_over();
    assert_eq!(bench.told().len(), 2, "words may come after the end");
    assert!(bench.talk.due().is_some());
    bench.says(&words("met.", true));
    let told = bench.told();
    let [SpeechSessionEvent::Words { .. }, SpeechSessionEvent::Done(done)] = told.as_slice() else {
        panic!("{told:?}")
    };
    assert_eq!(done.usage.unwrap().text_in, 9);
    bench.says(&words("late", true));
    assert!(bench.sent().is_empty() && bench.told().is_empty());
}

#[tokio::test(start_paused = true)]
async fn answer_ends_without_what_never_comes() {
    let mut bench = Bench::answering();
    bench.says(&audio(480));
    bench.says(&json!({"serverContent": {"generationComplete": true}}));
    let due = bench.talk.due().unwrap();
    tokio::time::advance(due - tokio::time::Instant::now()).await;
    bench.talk.overdue().unwrap();
    let told = bench.told();
    let Some(SpeechSessionEvent::Done(done)) = told.last() else { panic!("{told:?}") };
    assert_eq!((&done.ending, done.usage), (&SpeechEnding::Completed, None));
    // The end of the previous turn, which arrives after playback, does not end the next answer.
    bench.order(answer());
    bench.turn_over();
    assert!(bench.endings().is_empty());
    bench.says(&audio(480));
    bench.turn_over();
    assert_eq!(bench.endings(), [SpeechEnding::Completed]);
}

#[tokio::test]
async fn orders_wait_for_the_end_of_the_answer() {
    let mut bench = Bench::answering();
    bench.order(text());
    bench.order(sound(480));
    assert!(bench.sent().is_empty(), "they would interrupt it");
    bench.order(answer());
    bench.order(SpeechOrder::Cancel);
    let stop = json!({"clientContent": {"turns": [], "turnComplete": false}});
    assert_eq!(bench.values(), [stop]);
    bench.says(&json!({"serverContent": {"interrupted": true}}));
    bench.turn_over();
    assert_eq!(bench.endings(), [SpeechEnding::Cancelled, SpeechEnding::Cancelled]);
    assert_eq!(bench.sent()[..2], ["clientContent", "activityStart"]);
}

#[tokio::test]
async fn awaited_call_ends_the_answer_until_its_result() {
    let mut bench = Bench::answering();
    bench.says(&call("c1", "roll"));
    let told = bench.told();
    let [_, SpeechSessionEvent::Call(call), SpeechSessionEvent::Done(_)] = told.as_slice() else {
        panic!("{told:?}")
    };
    assert_eq!((call.id.0.as_str(), call.name.as_str()), ("c1", "roll"));
    bench.order(result("c1"));
    assert!(bench.sent().is_empty());
    bench.order(answer());
    let response = json!({"id": "c1", "name": "roll", "response": {"output": "7"}});
    let wanted = json!({"toolResponse": {"functionResponses": [response]}});
    assert_eq!(bench.values(), [wanted]);
    bench.says(&audio(12_000));
    bench.turn_over();
    assert_eq!(bench.endings(), [SpeechEnding::Completed]);
}

#[tokio::test]
async fn turn_ends_with_its_call_or_after_the_result() {
    for ends_at_once in [true, false] {
        let mut bench = Bench::answering();
        bench.says(&call("c1", "roll"));
        if ends_at_once {
            bench.says(&words("", true));
            bench.says(&json!({"serverContent": {"generationComplete": true}}));
            bench.turn_over();
        }
        assert!(bench.sent().is_empty(), "what still comes is not stopped");
        assert_eq!(bench.endings(), [SpeechEnding::Completed]);
        bench.order(result("c1"));
        bench.order(answer());
        assert_eq!(bench.sent(), ["toolResponse"]);
        bench.says(&audio(12_000));
        bench.turn_over();
        assert_eq!(bench.endings(), [SpeechEnding::Completed]);
    }
}

#[tokio::test]
async fn answer_goes_on_beside_a_call_that_records() {
    let mut bench = Bench::answering();
    bench.says(&call("c1", "note"));
    bench.says(&audio(480));
    assert!(bench.endings().is_empty());
    bench.turn_over();
    assert_eq!(bench.endings(), [SpeechEnding::Completed]);
    bench.order(result("c1"));
    bench.order(text());
    let values = bench.values();
    let response = &values[0]["toolResponse"]["functionResponses"][0];
    assert_eq!((&response["scheduling"], values.len()), (&json!("SILENT"), 2));
}

#[tokio::test]
async fn cancelled_call_has_no_result() {
    let mut bench = Bench::answering();
    bench.says(&call("c1", "roll"));
    bench.told();
    bench.says(&cancelled("c1"));
    bench.says(&cancelled("unknown"));
    let told = bench.told();
    let [SpeechSessionEvent::CallsCancelled(ids)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(ids.as_slice(), [CallId("c1".to_owned())]);
    bench.order(result("c1"));
    bench.order(text());
    assert_eq!(bench.sent(), ["clientContent"], "never sent late");
    // An answer cancelled before its end is not even reported.
    bench.order(answer());
    bench.says(&call("c2", "note"));
    bench.says(&cancelled("c2"));
    bench.turn_over();
    let told = bench.told();
    assert!(!told.iter().any(|it| matches!(it, SpeechSessionEvent::Call(_))), "{told:?}");
    assert!(matches!(told.last(), Some(SpeechSessionEvent::Done(_))), "{told:?}");
}

#[tokio::test]
async fn result_that_waits_is_dropped_when_cancelled() {
    let mut bench = Bench::answering();
    bench.says(&call("c1", "roll"));
    bench.order(result("c1"));
    bench.says(&cancelled("c1"));
    bench.order(answer());
    assert_eq!(bench.sent(), ["clientContent"]);
}

#[tokio::test]
async fn unrequested_answer_is_stopped_once() {
    let mut bench = Bench::new();
    bench.says(&audio(480));
    bench.says(&audio(480));
    assert_eq!(bench.sent(), ["clientContent"]);
    bench.turn_over();
    assert!(bench.told().is_empty());
    bench.order(answer());
    bench.says(&audio(480));
    bench.turn_over();
    assert_eq!(bench.endings(), [SpeechEnding::Completed]);
}

#[tokio::test]
async fn refused_answers_are_withheld() {
    for (reason, wanted) in [
        ("RESPONSE_REJECTED", SpeechEnding::Withheld),
        ("PROHIBITED_INPUT_CONTENT", SpeechEnding::Withheld),
        ("MAX_TOKENS", SpeechEnding::TooLong),
        ("SOMETHING_NEW", SpeechEnding::Completed),
    ] {
        let mut bench = Bench::answering();
        bench.says(&json!({"usageMetadata": {}, "serverContent": {"turnComplete": true,
            "turnCompleteReason": reason}}));
        assert_eq!(bench.endings(), [wanted], "{reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn warning_of_the_end_says_when_it_comes() {
    for (left, seconds) in [("10s", 10), ("soon", 0), ("1e18s", 3_600)] {
        let mut bench = Bench::new();
        bench.says(&json!({"goAway": {"timeLeft": left}}));
        let told = bench.told();
        let [SpeechSessionEvent::GoingAway(at)] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!((*at - tokio::time::Instant::now()).as_secs(), seconds, "{left}");
    }
}

#[tokio::test]
async fn unsupported_orders_are_refused() {
    let mut bench = Bench::new();
    bench.order(SpeechOrder::Clear);
    bench.order(SpeechOrder::Tools(Arc::from([])));
    let told = bench.told();
    assert!(told.iter().all(|it| matches!(it, SpeechSessionEvent::Refused(_))), "{told:?}");
    assert_eq!((told.len(), bench.sent().len()), (2, 0));
}

#[test]
fn new_session_receives_earlier_conversation() {
    let said = SpeechItem::Said("Hail!".to_owned());
    let answered = SpeechItem::Answered("Well met.".to_owned());
    let (mut talk, _reader) = session(&[said, answered]);
    let sent = talk.take();
    let before: Value = serde_json::from_str(&sent[0]).unwrap();
    let turns = before["clientContent"]["turns"].as_array().unwrap();
    assert_eq!(turns.iter().map(|it| &it["role"]).collect::<Vec<_>>(), ["user", "model"]);
    assert_eq!(sent.len(), 1);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-zA-Z0-9+/=_ é]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop::sample::select(vec![
            "serverContent",
            "modelTurn",
            "parts",
            "inlineData",
            "data",
            "outputTranscription",
            "text",
            "turnComplete",
            "generationComplete",
            "interrupted",
            "toolCall",
            "functionCalls",
            "toolCallCancellation",
            "ids",
            "usageMetadata",
            "goAway",
            "other",
        ]);
        let members = prop::collection::vec((key, inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            members.prop_map(|members| {
                let named = members.into_iter().map(|(key, value)| (key.to_owned(), value));
                Value::Object(Map::from_iter(named))
            }),
        ]
    })
}

fn any_message() -> impl Strategy<Value = Value> {
    prop_oneof![
        any_json(),
        (0_usize..960).prop_map(audio),
        any::<bool>().prop_map(|is_last| words("so", is_last)),
        prop::sample::select(vec!["roll", "note", "other"]).prop_map(|name| call("c1", name)),
        Just(cancelled("c1")),
        Just(json!({"serverContent": {"interrupted": true}})),
        Just(json!({"serverContent": {"generationComplete": true}})),
        Just(json!({"serverContent": {"turnComplete": true}, "usageMetadata": {}})),
    ]
}

fn any_order() -> impl Strategy<Value = SpeechOrder> {
    prop_oneof![
        Just(answer()),
        Just(SpeechOrder::Cancel),
        Just(SpeechOrder::Commit),
        Just(SpeechOrder::Clear),
        Just(text()),
        Just(result("c1")),
        (0_usize..960).prop_map(sound),
    ]
}

proptest! {
    #[test]
    fn answers_that_are_asked_for_end_once_at_most(
        steps in prop::collection::vec(
            prop_oneof![any_message().prop_map(Ok::<Value, SpeechOrder>), any_order().prop_map(Err::<Value, SpeechOrder>)], 0..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let _guard = runtime.enter();
        let mut bench = Bench::new();
        let (mut asked, mut ended) = (0, 0);
        for step in steps {
            let over: Result<(), Over> = match step {
                Ok(message) => bench.talk.message(message.to_string().as_bytes()),
                Err(order) => {
                    asked += usize::from(matches!(order, SpeechOrder::Answer(_)));
                    bench.talk.order(order)
                }
            };
            bench.values();
            ended += bench.endings().len();
            prop_assert!(ended <= asked);
            if over.is_err() {
                break;
            }
        }
    }
}
