//! Utterances over loopback.

use futures::TryStreamExt;
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
    time::pause,
};

use super::*;
use crate::provider::wyoming::{
    options::tests::{SHORT, flooding, options},
    wyoming_server::{Fault, Recorded, Script, When, WyomingServer},
};

const WORDS: &str = "well met by the old mill";

/// 20 ms of speech, as far as the service can tell.
fn voice() -> Frame {
    Frame::padded(&[9_000; 320], SampleRate::HZ_16000)
}

/// Waits until `server` has recorded enough.
async fn until(server: &WyomingServer, is_there: impl Fn(&Recorded) -> bool) {
    let waiting = async {
        while !is_there(&server.recorded()) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("it is recorded");
}

fn recogniser(server: &WyomingServer) -> Recogniser {
    Recogniser::new(options(&server.address()), "en")
}

/// Events for an utterance of `frames`, sent at once.
async fn hear(recogniser: &Recogniser, frames: usize) -> Result<Vec<SpeechEvent>, Error> {
    let (to, audio) = mpsc::channel(frames.max(1));
    for _ in 0..frames {
        to.try_send(voice()).unwrap();
    }
    drop(to);
    recogniser.listen(audio, Attempts::default()).try_collect().await
}

fn heard(text: &str) -> SpeechEvent {
    SpeechEvent::Final { text: text.to_owned() }
}

#[tokio::test]
async fn utterance_reaches_server_and_is_transcribed() {
    let server = WyomingServer::start(Script { is_chatty: true, ..Script::hears(WORDS) });
    let mut options = options(&server.address());
    options.model = Some("base-int8".to_owned());
    let recogniser = Recogniser::new(options, "de");
    recogniser.ready().await.unwrap();
    assert!(!recogniser.abilities().partials, "none were announced");
    recogniser.expect(&|| vec!["Bartok".to_owned(), "Mira".to_owned(), "x".repeat(600)]);
    assert_eq!(hear(&recogniser, 60).await.unwrap(), [heard(WORDS)]);
    let recorded = server.recorded();
    let [utterance] = &recorded.heard[..] else { panic!("{recorded:#?}") };
    let request =
        json!({"language": "de", "name": "base-int8", "transcript_names": ["Bartok", "Mira"]});
    assert_eq!(utterance.request, request);
    let format = json!({"rate": 16_000, "width": 2, "channels": 1, "timestamp": 0});
    assert_eq!((&utterance.format, utterance.seconds), (&format, 1.2));
    assert_eq!((recorded.refused.len(), recorded.left), (0, 0), "{recorded:#?}");
}

#[tokio::test]
async fn pieces_of_a_transcript_are_partials() {
    let server = WyomingServer::start(Script::hears(WORDS).streamed());
    let recogniser = recogniser(&server);
    recogniser.ready().await.unwrap();
    assert!(recogniser.abilities().partials);
    assert!(recogniser.for_another_table().abilities().partials, "it is the same service");
    let (to, audio) = mpsc::channel(8);
    let mut events = recogniser.listen(audio, Attempts::default());
    let mut partials = Vec::new();
    let speaking = async {
        for _ in 0..75 {
            to.send(voice()).await.unwrap();
        }
        // The speaker has not fallen silent yet.
        while let Some(Ok(SpeechEvent::Partial { text })) = events.next().await {
            let is_enough = text.split(' ').count() == 4;
            partials.push(text);
            if is_enough {
                break;
            }
        }
        drop(to);
    };
    speaking.await;
    assert_eq!(partials, ["well", "well met", "well met by", "well met by the"]);
    let rest: Vec<SpeechEvent> = events.try_collect().await.unwrap();
    assert_eq!(rest.last(), Some(&heard(WORDS)), "{rest:?}");
}

#[tokio::test]
async fn no_sound_needs_no_service() {
    let recogniser = Recogniser::new(options("tcp://127.0.0.1:1"), "en");
    assert_eq!(hear(&recogniser, 0).await.unwrap(), [heard("")]);
}

#[tokio::test]
async fn speech_after_a_service_end_is_appended() {
    let mut script = Script::hears("yes");
    script.hears.as_mut().unwrap().ends_after = Some(0.5);
    let server = WyomingServer::start(script);
    let recogniser = recogniser(&server);
    let (to, audio) = mpsc::channel(AT_ONCE);
    let events = recogniser.listen(audio, Attempts::default());
    let feeding = async {
        for at in 0..40 {
            to.send(voice()).await.unwrap();
            // By this frame the service has half a second, and sends what it has heard.
            if at == 25 {
                until(&server, |recorded| recorded.done > 0).await;
            }
        }
        drop(to);
    };
    let (events, ()) = tokio::join!(events.try_collect::<Vec<_>>(), feeding);
    let texts = events.unwrap();
    assert_eq!(texts, [heard("yes yes")]);
}

#[tokio::test]
async fn faults_map_to_error_kinds() {
    let said = "cannot open the boiler";
    for (fault, kind, text) in [
        (Fault::Stall, Kind::Timeout, "no answer in time"),
        (Fault::Cut, Kind::Interrupted, "the connection ended before"),
        (Fault::Error(said), Kind::Unavailable, "the service failed: \"cannot open the boiler\""),
        (Fault::LongLine, Kind::Protocol, "a line of more than \"8192\" bytes"),
        (Fault::HugeData, Kind::Protocol, "a data_length of \"1099511627776\""),
        (Fault::HugePayload, Kind::Protocol, "a payload_length of \"1099511627776\""),
        (Fault::Rubbish, Kind::Protocol, "it sends a line"),
    ] {
        for when in [When::Midway, When::Asked, When::Described] {
            if (when, fault) == (When::Described, Fault::Stall) {
                // `PATIENCE` is fixed; see `silent_service_is_given_up`.
                continue;
            }
            let server = WyomingServer::start(Script::hears(WORDS).with(when, fault));
            let mut options = options(&server.address());
            if fault == Fault::Stall {
                options.first_byte_timeout = SHORT;
            }
            let recogniser = Recogniser::new(options, "en");
            let error = match when {
                When::Described => recogniser.ready().await.unwrap_err(),
                _ => hear(&recogniser, 60).await.unwrap_err(),
            };
            assert_eq!(error.kind(), kind, "{when:?} {fault:?}: {error}");
            let shown = error.to_string();
            assert!(shown.contains(text), "{when:?} {fault:?}: {error}");
            assert!(shown.contains(&server.address()), "{when:?} {fault:?}: {error}");
        }
    }
}

#[tokio::test]
async fn events_of_an_utterance_are_bounded() {
    for event in [
        r#"{"type": "transcript-chunk", "data": {"text": " well"}}"#,
        r#"{"type": "transcript-start", "data": {}}"#,
        r#"{"type": "mood-changed", "data": {"to": "merry"}}"#,
    ] {
        let (address, flood) = flooding(event).await;
        let recogniser = Recogniser::new(options(&address), "en");
        let heard = tokio::time::timeout(Duration::from_secs(60), hear(&recogniser, 60)).await;
        let error = heard.expect("it ends").unwrap_err();
        assert_eq!(error.kind(), Kind::Protocol, "{event}: {error}");
        assert!(error.to_string().contains(&EVENTS.to_string()), "{event}: {error}");
        flood.abort();
    }
}

#[tokio::test]
async fn silent_service_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let begun = Instant::now();
    let waiting = tokio::spawn(Recogniser::new(options(&address), "en").ready());
    let asked = async {
        let (stream, _) = listener.accept().await.unwrap();
        let (mut service, mut line) = (BufReader::new(stream), String::new());
        service.read_line(&mut line).await.unwrap();
        (service, line)
    };
    let asked = tokio::time::timeout(Duration::from_secs(60), asked).await;
    let (_service, line) = asked.expect("it is asked");
    assert!(line.contains("describe"), "{line}");
    pause();
    let paused = Instant::now();
    let error = waiting.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), Kind::Timeout, "{error}");
    assert!(error.to_string().contains("no answer in time"), "{error}");
    assert!(begun.elapsed() >= Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(paused.elapsed() < Duration::from_secs(6), "{:?}", paused.elapsed());
}

#[tokio::test]
async fn unreachable_or_wrong_service_is_an_error() {
    let nobody = Recogniser::new(options("tcp://127.0.0.1:1"), "en");
    for error in [nobody.ready().await.unwrap_err(), hear(&nobody, 5).await.unwrap_err()] {
        assert_eq!(error.kind(), Kind::Unreachable);
        let expected = "'tcp://127.0.0.1:1': nothing listens there (start the recogniser there, \
                        such as wyoming-faster-whisper, at port 10300, or correct base_url)";
        assert_eq!(error.to_string(), expected);
    }
    let voice = WyomingServer::start(Script::speaks());
    let error = recogniser(&voice).ready().await.unwrap_err().to_string();
    assert!(error.contains("not a recogniser: it speaks ('loopback-mouth')"), "{error}");
    let server = WyomingServer::start(Script::hears(WORDS));
    let mut options = options(&server.address());
    options.model = Some("base".to_owned());
    let error = Recogniser::new(options, "en").ready().await.unwrap_err().to_string();
    assert!(error.ends_with("unknown model 'base' (it has base-int8, tiny-int8)"), "{error}");
}

#[tokio::test]
async fn connection_ends_with_a_dropped_request() {
    let server = WyomingServer::start(Script::hears(WORDS).with(When::Asked, Fault::Stall));
    let recogniser = recogniser(&server);
    let (to, audio) = mpsc::channel(AT_ONCE);
    let events = recogniser.listen(audio, Attempts::default());
    to.send(voice()).await.unwrap();
    drop(to);
    until(&server, |recorded| !recorded.heard.is_empty()).await;
    drop(events);
    tokio::task::spawn_blocking(move || server.left(1)).await.unwrap();
}

#[tokio::test]
async fn probe_says_how_quick_it_is() {
    let server = WyomingServer::start(Script::hears(WORDS).streamed());
    let line = probe(options(&server.address()), "fr").await.unwrap();
    assert!(line.starts_with("loopback-ears at 127.0.0.1:"), "{line}");
    assert!(
        line.contains(", with partials, answers in ") && line.contains(" ms and hears"),
        "{line}"
    );
    assert!(line.ends_with("tiny-int8, base-int8, none for language 'fr'"), "{line}");
    assert_eq!(server.recorded().heard[0].seconds, 0.5);
}
