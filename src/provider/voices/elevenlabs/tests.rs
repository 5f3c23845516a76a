//! Turns over loopback, and every fault of the service: the driver of sockets with a dialect.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::{self, BoxFuture, FutureExt};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{
    elevenlabs_server::{CHARACTER, ElevenLabsServer, Fault, GEORGE},
    *,
};
use crate::{
    domain::Voice,
    provider::{
        Attempts, Error, Kind, Payer, Sentence, Spoken, Synthesis, SynthesisSetup, TextToSpeech,
        voices::socket::SocketVoice,
    },
};

/// The key of [`Options::of_tests`].
const KEY: &str = "key-very-secret";
/// Longest wait in these tests.
const BOUND: Duration = Duration::from_secs(60);
/// Samples of a character at 24 kHz.
const SAMPLES: usize = 24 * CHARACTER;

/// Counts what a sentence's money goes through.
#[derive(Default)]
struct Counts {
    again: AtomicUsize,
    failed: AtomicUsize,
    unsent: AtomicUsize,
}

impl Counts {
    fn all(&self) -> [usize; 3] {
        [&self.again, &self.failed, &self.unsent].map(|count| count.load(Ordering::Relaxed))
    }
}

impl Payer for Counts {
    fn again(&self, _: Kind) -> BoxFuture<'static, Result<(), Error>> {
        self.again.fetch_add(1, Ordering::Relaxed);
        future::ready(Ok(())).boxed()
    }

    fn failed(&self, _: Kind) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    fn unsent(&self) {
        self.unsent.fetch_add(1, Ordering::Relaxed);
    }
}

/// Settings with patience for a busy machine.
fn options(server: &ElevenLabsServer) -> Options {
    let patience = Duration::from_secs(30);
    Options {
        first_byte_timeout: patience,
        idle_timeout: patience,
        ..Options::of_tests(&server.base_url(), MODEL)
    }
}

fn service(options: Options) -> SocketVoice {
    SocketVoice::new(ElevenLabs::new(options).unwrap())
}

fn started() -> (ElevenLabsServer, SocketVoice) {
    let server = ElevenLabsServer::start(KEY);
    let service = service(options(&server));
    (server, service)
}

fn turn_of(service: &SocketVoice, voice: Voice) -> Box<dyn Synthesis> {
    let (language, pronunciation) = ("en".to_owned(), Arc::from([]));
    service.open(SynthesisSetup { voice, language, pronunciation, style: None })
}

fn turn(service: &SocketVoice) -> Box<dyn Synthesis> {
    turn_of(service, Voice::as_is(NAME, GEORGE))
}

fn sentence(text: &str, payer: &Arc<Counts>) -> Sentence {
    let attempts = Attempts::of(Arc::clone(payer) as Arc<dyn Payer>);
    Sentence { text: text.to_owned(), foreign: None, attempts }
}

async fn next(turn: &mut dyn Synthesis) -> Option<Result<Spoken, Error>> {
    timeout(BOUND, turn.next()).await.expect("in time")
}

/// Samples, words and sentences until the end.
async fn spoken(turn: &mut dyn Synthesis) -> Result<(usize, Vec<f32>, usize), Error> {
    let (mut samples, mut words, mut sentences) = (0, Vec::new(), 0);
    while let Some(said) = next(turn).await {
        match said? {
            Spoken::Sound(pcm) => samples += pcm.samples.len(),
            Spoken::Word(word) => words.push(word.part),
            Spoken::Done => sentences += 1,
        }
    }
    Ok((samples, words, sentences))
}

/// Speaks one sentence as a turn.
async fn says(service: &SocketVoice, text: &str) -> Result<usize, Error> {
    let mut turn = turn(service);
    turn.say(sentence(text, &Arc::default()));
    turn.finish();
    spoken(&mut *turn).await.map(|(samples, ..)| samples)
}

#[tokio::test]
async fn turn_streams_its_words_and_keeps_its_socket() {
    let (server, service) = started();
    let payer = Arc::default();
    for number in 1..=2 {
        let mut turn = turn(&service);
        turn.say(sentence("Well met, friend.", &payer));
        turn.say(sentence("Sit down.", &payer));
        turn.finish();
        let (samples, words, sentences) = spoken(&mut *turn).await.unwrap();
        assert_eq!(samples, ("Well met, friend. Sit down. ".len()) * SAMPLES);
        assert_eq!(words, [1.0 / 3.0, 2.0 / 3.0, 1.0, 0.5, 1.0]);
        assert_eq!(sentences, 2);
        service.idle(&Voice::as_is(NAME, GEORGE)).await;
        assert_eq!(server.seen()[0].closed(), number);
    }
    assert_eq!(payer.all(), [0; 3]);
    let seen = &server.seen()[0];
    assert_eq!(seen.said(), ["Well met, friend.", "Sit down."].repeat(2));
    assert_eq!((seen.billed, &seen.refused), (2 * 26, &None));
    let language = seen.query.iter().find(|(key, _)| key == "language_code");
    assert_eq!(language.map(|(_, it)| it.as_str()), Some("en"));
}

#[tokio::test]
async fn speed_beyond_the_service_is_applied_here() {
    let (server, service) = started();
    let voice = Voice { speed_factor: 1.8, ..Voice::as_is(NAME, GEORGE) };
    let mut turn = turn_of(&service, voice);
    turn.say(sentence("Well met, friend.", &Arc::default()));
    turn.finish();
    let (samples, ..) = spoken(&mut *turn).await.unwrap();
    let wanted = 18 * SAMPLES * 2 / 3;
    assert!(samples.abs_diff(wanted) < SAMPLES, "{samples} of {wanted}");
    assert_eq!(server.seen()[0].messages[0]["voice_settings"], json!({"speed": 1.2}));
}

#[tokio::test]
async fn interrupted_turn_closes_its_context() {
    for fault in [Fault::Hold(1), Fault::Late(1)] {
        let (server, service) = started();
        server.fault(fault);
        let (payer, mut first) = (Arc::<Counts>::default(), turn(&service));
        first.say(sentence("That is a very long story, friend.", &payer));
        let said = loop {
            match next(&mut *first).await.unwrap().unwrap() {
                Spoken::Sound(pcm) => break pcm.samples.len(),
                Spoken::Word(word) => assert!(word.part < 0.5),
                Spoken::Done => panic!("it is held"),
            }
        };
        assert_eq!(said, 10 * SAMPLES);
        first.say(sentence("Never sent.", &payer));
        drop(first);
        server.until(|seen| seen[0].closed() == 1).await;
        assert_eq!(payer.all(), [0, 0, 1]);
        let whole = says(&service, "Aye, friend.").await.unwrap();
        assert_eq!(whole, 13 * SAMPLES, "without sound of the turn before");
        let sockets = server.seen();
        assert!(sockets.iter().all(|it| it.refused.is_none()), "{sockets:#?}");
        let said = sockets.iter().flat_map(|it| it.said()).any(|it| it == "Never sent.");
        assert!(!said, "{sockets:#?}");
    }
}

#[tokio::test]
async fn faults_are_errors_by_kind() {
    let detail = |status: &str| json!({"detail": {"status": status, "message": "no"}});
    let refuse = |status, label: &str| Fault::Refuse(status, Vec::new(), detail(label));
    let waits = vec![("retry-after", "90")];
    let busy = Fault::Refuse(429, waits, detail("system_busy"));
    let limited = |retry_after| Kind::RateLimited { retry_after };
    let crowded = Kind::Crowded { retry_after: None };
    let faults = [
        (refuse(401, "invalid_api_key"), Kind::Unauthorized),
        (refuse(401, "quota_exceeded"), Kind::Unauthorized),
        (refuse(429, "too_many_concurrent_requests"), crowded),
        (refuse(429, "system_busy"), limited(None)),
        (busy, limited(Some(Duration::from_secs(90)))),
        (Fault::Error("quota_exceeded"), Kind::Unauthorized),
        (Fault::Error("max_active_conversations"), crowded),
        (Fault::Error("something_else"), Kind::Unavailable),
        (Fault::Cut(1), Kind::Interrupted),
        (Fault::Close(0, None), Kind::Interrupted),
        (Fault::Close(1, Some((1011, "sorry, friend"))), Kind::Unavailable),
    ];
    for (fault, wanted) in faults {
        let (server, service) = started();
        let shown = format!("{fault:?}");
        server.fault(fault);
        let error = says(&service, "Well met, friend.").await.unwrap_err();
        assert_eq!(error.kind(), wanted, "{shown}: {error}");
        assert!(!error.to_string().contains(KEY), "{error}");
        assert_eq!(says(&service, "Aye.").await.unwrap(), 5 * SAMPLES, "{shown}: the next works");
    }
}

#[tokio::test]
async fn unknown_voice_is_named_with_its_fix() {
    let (_server, service) = started();
    let mut turn = turn_of(&service, Voice::as_is(NAME, "nobody"));
    turn.say(sentence("Aye.", &Arc::default()));
    let error = next(&mut *turn).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidRequest);
    assert!(error.to_string().contains("no voice with this voice_id"), "{error}");
    assert!(next(&mut *turn).await.is_none());
    for odd in ["", "..", ".\t."] {
        let error = service.lacks(&Voice::as_is(NAME, odd)).unwrap();
        assert_eq!(error.kind(), Kind::InvalidRequest, "{odd:?}");
        assert!(!error.to_string().contains('\t'), "{error}");
    }
}

#[tokio::test]
async fn odd_messages_change_nothing() {
    let (server, service) = started();
    server.fault(Fault::Strange);
    assert_eq!(says(&service, "Well met, friend.").await.unwrap(), 18 * SAMPLES);
}

#[tokio::test]
async fn silent_service_fails_in_time() {
    for (fault, what) in [(Fault::Hold(0), "no answer in time"), (Fault::Hold(1), "has stopped")] {
        let server = ElevenLabsServer::start(KEY);
        let warm = service(options(&server));
        server.fault(fault);
        // Of the waits, only the one that is owed to the fault is short.
        let short = Duration::from_millis(50);
        let options = match what {
            "has stopped" => Options { idle_timeout: short, ..options(&server) },
            _ => Options { first_byte_timeout: Duration::from_secs(1), ..options(&server) },
        };
        let error = says(&service(options), "Well met, friend.").await.unwrap_err();
        assert_eq!(error.kind(), Kind::Timeout, "{error}");
        assert!(error.to_string().contains(what), "{error}");
        assert_eq!(says(&warm, "Aye.").await.unwrap(), 5 * SAMPLES);
    }
}

#[tokio::test]
async fn handshake_is_retried_once_and_costs_nothing() {
    let (server, service) = started();
    let sorry = || Fault::Refuse(503, Vec::new(), Value::Null);
    server.fault(sorry());
    assert_eq!(says(&service, "Aye.").await.unwrap(), 5 * SAMPLES);
    assert_eq!(server.seen().len(), 2);
    let (server, service) = started();
    server.fault(sorry());
    let (payer, mut turn) = (Arc::<Counts>::default(), turn(&service));
    for text in ["Aye.", "No."] {
        let sentence = sentence(text, &payer);
        turn.say(Sentence { attempts: sentence.attempts.clone().once(), ..sentence });
    }
    let error = next(&mut *turn).await.unwrap().unwrap_err();
    assert_eq!((error.kind(), server.seen().len()), (Kind::Unavailable, 1));
    assert_eq!(payer.all(), [0, 0, 2], "nothing was sent");
}

#[tokio::test]
async fn socket_that_is_gone_is_opened_again() {
    let (server, service) = started();
    server.fault(Fault::Gone);
    assert_eq!(says(&service, "Aye.").await.unwrap(), 5 * SAMPLES);
    service.idle(&Voice::as_is(NAME, GEORGE)).await;
    let (payer, mut turn) = (Arc::<Counts>::default(), turn(&service));
    let sentence = sentence("Well met.", &payer);
    // As in a list of voices.
    turn.say(Sentence { attempts: sentence.attempts.clone().once(), ..sentence });
    turn.finish();
    let (samples, ..) = spoken(&mut *turn).await.unwrap();
    assert_eq!(samples, 10 * SAMPLES);
    assert_eq!(server.seen().len(), 2);
    assert_eq!(payer.all(), [1, 0, 0], "another attempt was paid for");
}

#[tokio::test]
async fn socket_that_ends_between_sentences_is_free() {
    let (server, service) = started();
    server.fault(Fault::Expire);
    let (payer, mut turn) = (Arc::<Counts>::default(), turn(&service));
    turn.say(sentence("Aye.", &payer));
    while next(&mut *turn).await.unwrap().unwrap() != Spoken::Done {}
    server.until(|seen| seen[0].ended.is_some()).await;
    // The runtime looks at its connections.
    tokio::task::yield_now().await;
    turn.say(sentence("No.", &payer));
    turn.finish();
    let (samples, ..) = spoken(&mut *turn).await.unwrap();
    assert_eq!(samples, 4 * SAMPLES);
    let seen = server.seen();
    assert_eq!((seen.len(), seen[0].said()), (2, vec!["Aye."]));
    assert_eq!(payer.all(), [0; 3], "nothing was paid for again");
}

#[tokio::test]
async fn silence_is_no_sentence() {
    let (server, service) = started();
    server.fault(Fault::Mute);
    let error = says(&service, "Well met, friend.").await.unwrap_err();
    assert_eq!(error.kind(), Kind::Protocol);
    assert!(error.to_string().contains("no sound for a sentence"), "{error}");
}

#[tokio::test]
async fn streams_beyond_the_plan_are_refused() {
    let server = ElevenLabsServer::start(KEY);
    let service = service(Options { max_streams: Some(1), ..options(&server) });
    server.fault(Fault::Hold(1));
    let mut first = turn(&service);
    first.say(sentence("That is a very long story, friend.", &Arc::default()));
    next(&mut *first).await.unwrap().unwrap();
    let error = says(&service, "Aye.").await.unwrap_err();
    assert_eq!(error.kind(), Kind::Crowded { retry_after: None });
    assert!(error.to_string().contains("all 1 streams are in use"), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn socket_is_opened_ahead() {
    let (server, service) = started();
    let voice = Voice::as_is(NAME, GEORGE);
    service.warm(&voice).await.unwrap();
    service.warm(&voice).await.unwrap();
    assert_eq!(says(&service, "Aye.").await.unwrap(), 5 * SAMPLES);
    assert_eq!(server.seen().len(), 1);
    server.fault(Fault::Refuse(401, Vec::new(), Value::Null));
    let other = Voice::as_is(NAME, "another");
    assert_eq!(service.warm(&other).await.unwrap_err().kind(), Kind::Unauthorized);
}

#[tokio::test]
async fn all_pages_of_voices_are_listed() {
    let server = ElevenLabsServer::start(KEY);
    let listed = list(options(&server)).await.unwrap();
    let names: Vec<_> = listed.iter().map(|it| (it.name.as_str(), it.about.as_str())).collect();
    let wanted =
        [("George", "male, middle aged, narration"), ("Sarah", "female, middle aged, narration")];
    assert_eq!(names, wanted);
    assert!(listed.iter().all(|it| it.languages == ["en"]), "{listed:?}");
    let other = ElevenLabsServer::start("another");
    let error = list(options(&other)).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Unauthorized, "{error}");
}
