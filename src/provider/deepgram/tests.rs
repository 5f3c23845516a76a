//! Utterances over loopback, handed over at once, and every fault of the service.

use std::time::Duration;

use serde_json::json;
use tokio::time::{advance, pause, resume, sleep, timeout};

use super::{
    deepgram_server::{DeepgramServer, Fault, Seen},
    kept::KEEP_ALIVE,
    *,
};
use crate::{
    audio::SampleRate,
    provider::bounds::{ENDS, EVENTS, PARTIALS},
};

const NOVA: &str = "nova-3";
const FLUX: &str = FLUX_ENGLISH;
/// The key of [`Options::of_tests`].
const KEY: &str = "dg-very-secret";
const TEXT: &str = "Hello there my good friend Bartok.";
/// Longest wait in these tests.
const BOUND: Duration = Duration::from_secs(120);
/// The loopback counts a voice that comes sooner as the same utterance.
const BETWEEN: Duration = Duration::from_millis(1_100);

/// Settings with patience for a busy machine.
fn options(server: &DeepgramServer, model: &str) -> Options {
    let patience = Duration::from_secs(30);
    Options {
        first_byte_timeout: patience,
        idle_timeout: patience,
        ..Options::of_tests(&server.base_url(), model)
    }
}

fn table(server: &DeepgramServer, model: &str) -> Deepgram {
    Deepgram::new(options(server, model)).unwrap()
}

/// A table with one stream at a time.
fn with_one_stream(server: &DeepgramServer) -> Deepgram {
    Deepgram::new(Options { max_streams: Some(1), ..options(server, NOVA) }).unwrap()
}

/// Frames of voice, as far as the service can tell.
fn voice(frames: usize) -> Vec<Frame> {
    vec![Frame::padded(&[9_000; 320], SampleRate::HZ_16000); frames]
}

fn silence(frames: usize) -> Vec<Frame> {
    vec![Frame::silence(SampleRate::HZ_16000); frames]
}

fn give(to: &mpsc::Sender<Frame>, said: Vec<Frame>) {
    said.into_iter().for_each(|frame| to.try_send(frame).unwrap());
}

async fn next(events: &mut BoxStream<'static, Told>) -> Option<Told> {
    timeout(BOUND, events.next()).await.expect("in time")
}

async fn hear(table: &Deepgram, speaker: u64, said: Vec<Frame>) -> Vec<Told> {
    let (to, sound) = mpsc::channel(said.len());
    give(&to, said);
    // Nova's utterances end with their sound; Flux ends them itself.
    let mut to = Some(to).filter(|_| table.abilities().endpointing);
    let mut events = table.listen_to(speaker, sound, Attempts::default());
    let mut told = Vec::new();
    while let Some(event) = next(&mut events).await {
        if matches!(event, Ok(SpeechEvent::Final { .. }) | Err(_)) {
            drop(to.take());
        }
        told.push(event);
    }
    told
}

/// The text of the final.
#[track_caller]
fn text(told: &[Told]) -> &str {
    match told.last() {
        Some(Ok(SpeechEvent::Final { text })) => text,
        _ => panic!("no final: {told:?}"),
    }
}

/// The error that ended an utterance, safe to show.
#[track_caller]
fn error(mut told: Vec<Told>) -> Error {
    let error = told.pop().expect("an event").expect_err("it fails");
    let said = error.to_string();
    assert!(said.ends_with(')') && !said.contains(KEY), "{said}");
    error
}

/// Events of an utterance whose sockets have these faults, one after the other.
async fn hear_with(model: &str, faults: &[Fault], said: Vec<Frame>) -> Vec<Told> {
    let server = DeepgramServer::start(KEY);
    server.says(&[TEXT]);
    faults.iter().for_each(|fault| server.fault(fault.clone()));
    let mut options = options(&server, model);
    if matches!(faults, [Fault::Stall(_)]) {
        options.idle_timeout = Duration::from_millis(300);
    }
    hear(&Deepgram::new(options).unwrap(), 1, said).await
}

/// Asserts that an utterance is heard in spite of `faults`.
async fn assert_heard(model: &str, faults: &[Fault]) {
    let told = hear_with(model, faults, [voice(28), silence(50)].concat()).await;
    assert_eq!(text(&told), TEXT, "{model} {faults:?}");
}

/// Asserts that `fault` ends an utterance for this reason.
async fn assert_unheard(model: &str, fault: Fault, kind: Kind, what: &str) {
    let shown = format!("{model} {fault:?}");
    let error = error(hear_with(model, &[fault], voice(28)).await);
    assert_eq!(error.kind(), kind, "{shown}: {error}");
    assert!(error.to_string().contains(what), "{shown}: {error}");
}

fn refuse(status: u16, headers: &[(&'static str, &'static str)]) -> Fault {
    let body = json!({"err_code": "SOME_CODE", "err_msg": "no", "request_id": "r-1"});
    Fault::Refuse(status, headers.to_vec(), body)
}

fn crowded(seconds: Option<u64>) -> Kind {
    Kind::Crowded { retry_after: seconds.map(Duration::from_secs) }
}

#[tokio::test]
async fn refused_handshakes_are_errors_by_status() {
    let many = "too many streams at once with status 429";
    for model in [NOVA, FLUX] {
        for (fault, kind, what) in [
            (refuse(401, &[]), Kind::Unauthorized, "the key was refused with status 401"),
            (refuse(402, &[]), Kind::Unauthorized, "the account has no credit with status 402"),
            (refuse(429, &[]), crowded(None), many),
            // Longer than the longest wait for a socket.
            (refuse(429, &[("retry-after", "60")]), crowded(Some(60)), many),
            (refuse(429, &[("retry-after", "1e19")]), crowded(Some(10_u64.pow(19))), many),
        ] {
            assert_unheard(model, fault, kind, what).await;
        }
    }
}

#[tokio::test]
async fn handshake_is_tried_again_if_that_may_help() {
    for model in [NOVA, FLUX] {
        for fault in [refuse(429, &[("retry-after", "1")]), refuse(503, &[])] {
            assert_heard(model, &[fault, Fault::None]).await;
        }
    }
}

#[tokio::test]
async fn failing_sockets_are_errors_by_fault() {
    let off = "the connection broke off";
    let closed = "the service closed the connection (1011)";
    for model in [NOVA, FLUX] {
        for (fault, kind, what) in [
            (Fault::Stall(0.5), Kind::Timeout, "has stopped answering"),
            (Fault::Cut(0.5), Kind::Interrupted, off),
            (Fault::Close(0.5, None), Kind::Interrupted, off),
            (Fault::Close(0.5, Some((1011, "NET-0000"))), Kind::Timeout, closed),
            (Fault::Error(0.5, "INTERNAL"), Kind::Unavailable, "the service failed with INTERNAL"),
        ] {
            assert_unheard(model, fault, kind, what).await;
        }
    }
}

#[tokio::test]
async fn socket_that_closes_at_once_is_an_error() {
    let said = [silence(8), voice(28)].concat();
    let error = error(hear_with(FLUX, &[Fault::Cut(0.0)], said).await);
    assert_eq!(error.kind(), Kind::Interrupted, "{error}");
}

#[tokio::test]
async fn unknown_messages_and_binary_ones_do_no_harm() {
    for model in [NOVA, FLUX] {
        assert_heard(model, &[Fault::Strange]).await;
    }
}

/// Words of Nova.
fn words(text: &str, is_final: bool) -> serde_json::Value {
    json!({"type": "Results", "start": 0.0, "duration": 0.1, "is_final": is_final,
        "channel": {"alternatives": [{"transcript": text}]}})
}

/// A turn of Flux.
fn turn(event: &str, text: &str) -> serde_json::Value {
    json!({"type": "TurnInfo", "event": event, "transcript": text})
}

/// Events of an endless utterance at a service that floods.
async fn flooded(model: &str, message: serde_json::Value) -> Vec<Told> {
    let server = DeepgramServer::start(KEY);
    server.says(&[TEXT]);
    server.fault(Fault::Flood(0.5, message, 2 * EVENTS.most()));
    let (to, sound) = mpsc::channel(64);
    give(&to, voice(28));
    let events = table(&server, model).listen_to(1, sound, Attempts::default());
    let told = timeout(BOUND, events.collect()).await.expect("in time");
    drop(to);
    told
}

#[tokio::test]
async fn messages_of_an_utterance_are_bounded() {
    let unknown = json!({"type": "Mood"});
    for (model, message) in [
        (NOVA, words("well", false)),
        (NOVA, words("", true)),
        (NOVA, json!({"type": "SpeechStarted"})),
        (NOVA, unknown.clone()),
        (FLUX, turn("Update", "well")),
        (FLUX, unknown),
    ] {
        let shown = format!("{model} {message}");
        let error = error(flooded(model, message).await);
        assert_eq!(error.kind(), Kind::Protocol, "{shown}: {error}");
        assert!(error.to_string().contains(&EVENTS.to_string()), "{shown}: {error}");
    }
}

#[tokio::test]
async fn ends_of_turn_in_an_utterance_are_bounded() {
    let told = flooded(FLUX, turn("EndOfTurn", "I pay the innkeeper.")).await;
    let ends = told.iter().filter(|told| matches!(told, Ok(SpeechEvent::Final { .. })));
    assert_eq!(ends.count(), ENDS.most());
    let error = error(told);
    assert!(error.to_string().contains(&ENDS.to_string()), "{error}");
    let told = flooded(FLUX, turn("EagerEndOfTurn", "I pay the innkeeper.")).await;
    let early = told.iter().filter(|told| matches!(told, Ok(SpeechEvent::EagerEnd { .. })));
    assert_eq!(early.count(), ENDS.most());
}

#[tokio::test]
async fn partials_of_an_utterance_are_bounded() {
    let server = DeepgramServer::start(KEY);
    let finals = 2_000;
    server.fault(Fault::Flood(0.5, words("well met my good friend", true), finals));
    let (to, sound) = mpsc::channel(64);
    give(&to, voice(28));
    let events = table(&server, NOVA).listen_to(1, sound, Attempts::default());
    let closing = async {
        // The request for the rest comes after all others.
        server.until(|seen| seen.iter().any(|it| it.ordered("Finalize") > 0)).await;
        drop(to);
    };
    let both = async { tokio::join!(events.collect::<Vec<Told>>(), closing) };
    let (told, ()) = timeout(BOUND, both).await.expect("in time");
    assert_eq!(text(&told).split(' ').count(), 5 * finals);
    let partials = told.iter().map(|told| match told {
        Ok(SpeechEvent::Partial { text } | SpeechEvent::Pause { text }) => text.len(),
        _ => 0,
    });
    assert!(partials.sum::<usize>() <= PARTIALS.most());
}

#[tokio::test]
async fn pause_within_an_utterance_loses_nothing() {
    let server = DeepgramServer::start(KEY);
    let (first, rest) = ("Bartok, I would like to", "order a room.");
    server.says(&[first, rest]);
    let table = table(&server, NOVA);
    let (to, sound) = mpsc::channel(64);
    let mut events = table.listen_to(1, sound, Attempts::default());
    give(&to, voice(40));
    let paused = loop {
        match next(&mut events).await {
            Some(Ok(SpeechEvent::Partial { .. })) => {}
            Some(Ok(SpeechEvent::Pause { text })) => break text,
            other => panic!("no pause: {other:?}"),
        }
    };
    assert_eq!(paused, first);
    give(&to, voice(40));
    drop(to);
    let mut told = Vec::new();
    while let Some(event) = next(&mut events).await {
        told.push(event);
    }
    assert_eq!(text(&told), format!("{first} {rest}"));
    let [socket] = server.seen().try_into().expect("one socket hears");
    assert!(socket.ordered("Finalize") >= 2, "in the pause and at the end: {socket:#?}");
}

#[tokio::test]
async fn socket_is_kept_for_its_speaker_alone() {
    let server = DeepgramServer::start(KEY);
    let texts = ["Hello Bartok.", "Hello again Bartok.", "Good evening Bartok."];
    server.says_each(&texts);
    let table = with_one_stream(&server);
    let (anna, ben) = (1, 2);
    assert_eq!(text(&hear(&table, anna, voice(28)).await), texts[0]);
    // The socket becomes idle.
    tokio::task::yield_now().await;
    pause();
    advance(KEEP_ALIVE).await;
    resume();
    server.until(|seen| seen.iter().any(|it| it.ordered("KeepAlive") > 0)).await;
    sleep(BETWEEN).await;
    assert_eq!(text(&hear(&table, anna, voice(28)).await), texts[1]);
    assert_eq!(text(&hear(&table, ben, voice(28)).await), texts[2]);
    // Only one stream is allowed, so the idle socket was closed.
    server.until(|seen| seen.first().is_some_and(|it| it.ended.is_some())).await;
    let [anna, ben] = server.seen().try_into().expect("a socket for each of the two");
    assert!(anna.ordered("Finalize") >= 2 && ben.ordered("Finalize") >= 1, "{anna:#?} {ben:#?}");
}

#[tokio::test]
async fn dead_idle_socket_is_replaced_without_loss() {
    let server = DeepgramServer::start(KEY);
    let texts = ["Hello Bartok.", "Hello again Bartok."];
    server.says_each(&texts);
    server.fault(Fault::Gone);
    let table = table(&server, NOVA);
    assert_eq!(text(&hear(&table, 1, voice(28)).await), texts[0]);
    sleep(BETWEEN).await;
    assert_eq!(text(&hear(&table, 1, voice(28)).await), texts[1]);
    server.until(|seen| seen.first().is_some_and(|it| it.ended.is_some())).await;
    let heard: Vec<Seen> = server.seen().into_iter().filter(|it| it.seconds > 0.0).collect();
    assert_eq!(heard.len(), 2, "{heard:#?}");
    assert_eq!(heard[0].ended.as_deref(), Some("cut"));
}

#[tokio::test]
async fn silent_idle_socket_is_replaced_without_loss() {
    let server = DeepgramServer::start(KEY);
    let again = "Hello again Bartok.";
    // The first socket takes the second utterance and says nothing.
    server.says_each(&[TEXT, again, again]);
    server.fault(Fault::Stall(0.6));
    let idle_timeout = Duration::from_secs(1);
    let table = Deepgram::new(Options { idle_timeout, ..options(&server, NOVA) }).unwrap();
    assert_eq!(text(&hear(&table, 1, voice(28)).await), TEXT);
    sleep(BETWEEN).await;
    assert_eq!(text(&hear(&table, 1, voice(28)).await), again);
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn streams_beyond_plan_limit_are_not_requested() {
    let server = DeepgramServer::start(KEY);
    server.says(&[TEXT]);
    let table = with_one_stream(&server);
    let (to, sound) = mpsc::channel(64);
    let mut events = table.listen_to(1, sound, Attempts::default());
    give(&to, voice(28));
    let begun = next(&mut events).await;
    assert!(matches!(begun, Some(Ok(SpeechEvent::Partial { .. }))), "{begun:?}");
    let error = error(hear(&table, 2, voice(28)).await);
    assert_eq!(error.kind(), crowded(None));
    assert!(error.to_string().contains("all 1 streams are in use"), "{error}");
    drop(to);
    let mut told = Vec::new();
    while let Some(event) = next(&mut events).await {
        told.push(event);
    }
    assert_eq!(text(&told), TEXT);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn quiet_stream_gives_way_to_a_voice() {
    let server = DeepgramServer::start(KEY);
    server.says_each(&[TEXT, TEXT]);
    let table = Deepgram::new(Options { max_streams: Some(1), ..options(&server, FLUX) }).unwrap();
    let said = || [voice(28), silence(50)].concat();
    let (to, sound) = mpsc::channel(said().len());
    let mut events = table.listen_to(1, sound, Attempts::default());
    give(&to, said());
    let mut told = Vec::new();
    while !matches!(told.last(), Some(Ok(SpeechEvent::Final { .. }))) {
        told.push(next(&mut events).await.expect("a final"));
    }
    assert_eq!(text(&hear(&table, 2, said()).await), TEXT);
    assert!(next(&mut events).await.is_none(), "the next voice opens another socket");
    drop(to);
}

#[tokio::test]
async fn early_end_can_be_withdrawn() {
    let server = DeepgramServer::start(KEY);
    let (first, whole) = ("Bartok, what is the news", "Bartok, what is the news from the mill?");
    server.says(&[first, "from the mill?"]);
    let said = [voice(50), silence(20), voice(50), silence(50)].concat();
    let told = hear(&table(&server, FLUX), 1, said).await.into_iter().map(Result::unwrap);
    let ends = told.filter(|event| !matches!(event, SpeechEvent::Partial { .. }));
    let (first, whole) = (first.to_owned(), whole.to_owned());
    let expected = [
        SpeechEvent::EagerEnd { text: first },
        SpeechEvent::Resumed,
        SpeechEvent::EagerEnd { text: whole.clone() },
        SpeechEvent::Final { text: whole },
    ];
    assert_eq!(ends.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn without_early_ends_none_are_asked_for() {
    let server = DeepgramServer::start(KEY);
    server.says(&[TEXT]);
    let table = Deepgram::new(Options { eager: None, ..options(&server, FLUX) }).unwrap();
    let told = hear(&table, 1, [voice(50), silence(50)].concat()).await;
    assert_eq!(text(&told), TEXT);
    assert!(!told.iter().any(|it| matches!(it, Ok(SpeechEvent::EagerEnd { .. }))), "{told:?}");
    assert_eq!(server.seen()[0].values("eager_eot_threshold"), [""; 0]);
}
