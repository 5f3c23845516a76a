use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, UNIX_EPOCH},
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest, common::v1::any_value::Value as Sent,
    trace::v1::Span as Message,
};
use prost::Message as _;
use tokio::time::{Instant, advance};

use super::{
    Operation, Queue, Root, Stage, Trace, Traces,
    names::{self, PII},
    queue::CAPACITY,
};

fn open(has_content: bool) -> (Traces, Queue) {
    Traces::open(has_content, || UNIX_EPOCH + Duration::from_secs(1_800_000_000))
}

/// A turn from `began` to now, with one stage.
fn whole(began: Instant) -> Root {
    let now = Instant::now();
    Root {
        agent: "Bartok".to_owned(),
        began,
        ended: now,
        stages: vec![Stage { name: "think", by: None, from: began, to: now }],
        attributes: vec![(names::OUTCOME, "spoken".into())],
        error: None,
    }
}

/// Spans of the traces that wait.
async fn sent(queue: &mut Queue) -> Vec<Message> {
    queue.close();
    let mut all = Vec::new();
    while let Some(body) = queue.next().await {
        let request = ExportTraceServiceRequest::decode(body.as_slice()).unwrap();
        let scopes = request.resource_spans.into_iter().flat_map(|it| it.scope_spans);
        all.extend(scopes.flat_map(|it| it.spans));
    }
    all
}

fn named<'s>(spans: &'s [Message], name: &str) -> &'s Message {
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no '{name}': {spans:?}"))
}

fn keys(span: &Message) -> Vec<&str> {
    span.attributes.iter().map(|it| it.key.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn turn_is_one_trace_with_exact_times() {
    let (traces, mut queue) = open(false);
    let began = Instant::now();
    advance(Duration::from_millis(300)).await;
    let trace = traces.begin("evening");
    let call = trace.begin(Operation::ExecuteTool, || "dice.roll".to_owned());
    let parent = call.traceparent().unwrap();
    advance(Duration::from_millis(200)).await;
    call.end();
    trace.finish(whole(began));
    let spans = sent(&mut queue).await;
    let [call, stage, root] =
        ["execute_tool dice.roll", "think", "invoke_agent Bartok"].map(|name| named(&spans, name));
    assert_eq!(spans.len(), 3);
    for span in [call, stage] {
        assert_eq!((&span.trace_id, &span.parent_span_id), (&root.trace_id, &root.span_id));
    }
    assert_eq!(root.start_time_unix_nano, 1_800_000_000_000_000_000 - 300_000_000);
    assert_eq!(root.end_time_unix_nano - root.start_time_unix_nano, 500_000_000);
    assert_eq!(call.end_time_unix_nano - call.start_time_unix_nano, 200_000_000);
    let hex = |bytes: &[u8]| bytes.iter().map(|it| format!("{it:02x}")).collect::<String>();
    let id = hex(&root.trace_id);
    assert_eq!(parent, format!("00-{id}-{}-01", hex(&call.span_id)));
    assert_eq!(trace.id(), Some(id));
}

#[tokio::test(start_paused = true)]
async fn words_leave_only_if_wanted() {
    for has_content in [false, true] {
        let (traces, mut queue) = open(has_content);
        let trace = traces.begin("evening");
        let chat = trace.begin(Operation::Chat, || "".to_owned());
        chat.of("brain");
        chat.content(names::ANSWER, || "the xylophone".to_owned());
        drop(chat);
        trace.finish(whole(Instant::now()));
        let spans = sent(&mut queue).await;
        let chat = named(&spans, "chat brain");
        let words = chat.attributes.iter().find(|it| it.key.contains(PII));
        let words = words.and_then(|it| it.value.as_ref()?.value.clone());
        let wanted = has_content.then(|| Sent::StringValue("the xylophone".to_owned()));
        assert_eq!(words, wanted);
        assert_eq!(keys(chat).iter().filter(|it| **it == names::PROVIDER_NAME).count(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn dropped_turn_leaves_nothing() {
    let (traces, mut queue) = open(true);
    let guess = traces.begin("evening");
    guess.begin(Operation::Chat, || "brain".to_owned()).end();
    drop(guess);
    let told = traces.begin("evening");
    let late = told.begin(Operation::ExecuteTool, || "slow.dig".to_owned());
    told.finish(whole(Instant::now()));
    // It ends after its trace has left.
    drop(late);
    let spans = sent(&mut queue).await;
    assert_eq!(
        spans.iter().map(|it| &it.name[..]).collect::<Vec<_>>(),
        ["think", "invoke_agent Bartok"]
    );
}

#[tokio::test(start_paused = true)]
async fn full_queue_loses_traces_and_counts() {
    let (traces, mut queue) = open(false);
    for _ in 0..CAPACITY + 3 {
        traces.begin("evening").finish(whole(Instant::now()));
    }
    assert_eq!(queue.lost(), 3);
    assert_eq!(sent(&mut queue).await.len(), 2 * CAPACITY);
}

#[tokio::test(start_paused = true)]
async fn sleep_of_the_machine_shifts_no_trace() {
    static HOURS: AtomicU64 = AtomicU64::new(0);
    let wall = || UNIX_EPOCH + Duration::from_secs(3_600 * HOURS.load(Ordering::Relaxed));
    let (traces, mut queue) = Traces::open(false, wall);
    // Asleep, only the wall clock goes on.
    HOURS.store(8, Ordering::Relaxed);
    traces.begin("evening").finish(whole(Instant::now()));
    let spans = sent(&mut queue).await;
    let began = named(&spans, "invoke_agent Bartok").start_time_unix_nano;
    assert_eq!(began, 8 * 3_600 * 1_000_000_000);
}

#[tokio::test(start_paused = true)]
async fn words_of_a_trace_are_bounded() {
    let (traces, mut queue) = open(true);
    let trace = traces.begin("evening");
    for _ in 0..100 {
        let chat = trace.begin(Operation::Chat, || "brain".to_owned());
        chat.content(names::ANSWER, || "x".repeat(1 << 20));
        chat.end();
    }
    trace.finish(whole(Instant::now()));
    let body = queue.next().await.unwrap();
    assert!((128 << 10..300 << 10).contains(&body.len()), "{}", body.len());
    assert!(ExportTraceServiceRequest::decode(body.as_slice()).is_ok());
    trace.finish(whole(Instant::now()));
    assert!(sent(&mut queue).await.is_empty(), "it leaves once");
}

#[test]
fn without_a_collector_nothing_is_recorded() {
    let trace = Trace::default();
    let span = trace.begin(Operation::Chat, || "brain".to_owned());
    span.content(names::ANSWER, || panic!("words are not even made"));
    assert!(!trace.is_on() && trace.id().is_none() && span.traceparent().is_none());
}
