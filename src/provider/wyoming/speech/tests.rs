//! Sentences over loopback.

use futures::TryStreamExt;
use serde_json::json;
use tokio::time::timeout;

use super::*;
use crate::{
    domain::Pronunciation,
    provider::wyoming::{
        options::tests::{SHORT, flooding, options},
        wyoming_server::{Fault, Script, Sentence, When, WyomingServer},
    },
};

fn speech(server: &WyomingServer) -> Speech {
    Speech::new(options(&server.address()))
}

fn request(text: &str, id: &str) -> SpeakRequest {
    SpeakRequest {
        text: text.to_owned(),
        voice: Voice::as_is(NAME, id),
        foreign: None,
        pronunciation: Arc::from([]),
        style: None,
        attempts: Attempts::default(),
    }
}

/// Its rate and number of samples.
async fn spoken(speech: &Speech, request: SpeakRequest) -> Result<(u32, usize), Error> {
    let chunks: Vec<Pcm> = speech.speak(request).try_collect().await?;
    let samples = chunks.iter().map(|pcm| pcm.samples.len()).sum();
    Ok((chunks[0].rate.hz(), samples))
}

#[tokio::test]
async fn sentence_is_asked_for_in_its_voice() {
    for is_streamed in [false, true] {
        let script = if is_streamed { Script::speaks().streamed() } else { Script::speaks() };
        let server = WyomingServer::start(Script { is_chatty: true, ..script });
        let speech = speech(&server);
        let mut said = request("Well met, Mira.", "en_US-libritts-high#p8699");
        let (word, respelling) = ("Mira".to_owned(), "meera".to_owned());
        said.pronunciation = Arc::from([Pronunciation { word, respelling }]);
        // 60 ms per letter, 16 letters.
        assert_eq!(spoken(&speech, said).await.unwrap(), (22_050, 21_168));
        assert_eq!(spoken(&speech, request("Hello.", "")).await.unwrap(), (22_050, 7_938));
        let voice = json!({"name": "en_US-libritts-high", "speaker": "p8699"});
        let sentence =
            |text: &str, voice| Sentence { text: text.to_owned(), voice, in_pieces: is_streamed };
        let expected =
            [sentence("Well met, meera.", voice), sentence("Hello.", serde_json::Value::Null)];
        let recorded = server.recorded();
        assert_eq!(recorded.spoken, expected);
        assert_eq!((recorded.refused.len(), recorded.left), (0, 0), "{recorded:#?}");
    }
}

#[tokio::test]
async fn other_sample_rates_and_stereo_are_accepted() {
    for (rate, channels) in [(8_000, 1), (16_000, 2), (48_000, 2)] {
        let mut script = Script::speaks();
        let speaks = script.speaks.as_mut().unwrap();
        (speaks.rate, speaks.channels) = (rate, channels);
        let server = WyomingServer::start(script);
        let heard = spoken(&speech(&server), request("Hello.", "")).await.unwrap();
        assert_eq!(heard, (rate, usize::try_from(rate * 36 / 100).unwrap()), "{channels} channels");
    }
    let mut script = Script::speaks();
    script.speaks.as_mut().unwrap().channels = 6;
    let server = WyomingServer::start(script);
    let error = spoken(&speech(&server), request("Hello.", "")).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Protocol);
    assert!(error.to_string().contains("sound with \"6\" channels"), "{error}");
}

#[tokio::test]
async fn unknown_voices_are_refused_with_the_nearest() {
    let server = WyomingServer::start(Script::speaks());
    let speech = speech(&server);
    let (joe, lessac) =
        (Voice::as_is(NAME, "en_US-joe-medium"), Voice::as_is(NAME, "en_US-jo-medium"));
    assert!(speech.lacks(&lessac).is_none(), "nobody knows yet");
    speech.warm(&joe).await.unwrap();
    assert!(speech.lacks(&joe).is_none());
    let errors = [
        speech.lacks(&lessac).unwrap(),
        speech.warm(&lessac).await.unwrap_err(),
        spoken(&speech, request("Hello.", "en_US-jo-medium")).await.unwrap_err(),
    ];
    for error in errors {
        let expected = format!(
            "'{}': unknown voice 'en_US-jo-medium' (it has en_US-joe-medium, ",
            server.address()
        );
        assert_eq!(error.kind(), Kind::Missing);
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
    assert!(server.recorded().spoken.is_empty());
}

#[tokio::test]
async fn restarted_service_is_asked_again() {
    let server = WyomingServer::start(Script::speaks());
    let speech = speech(&server);
    let program = Arc::new(Program {
        offers: vec![crate::provider::wyoming::info::Offer {
            name: "another".to_owned(),
            ..Default::default()
        }],
        ..Program::default()
    });
    let at = Instant::now();
    *speech.0.known.write().unwrap() = Some(Described { program, at });
    assert!(spoken(&speech, request("Hello.", "en_US-joe-medium")).await.is_ok());
}

#[tokio::test]
async fn faults_map_to_error_kinds() {
    let (said, cut) = ("no words for 'Well met.' today", "the connection ended before");
    for (fault, before, midway, text) in [
        (Fault::Stall, Kind::Timeout, Kind::Interrupted, "no answer in time"),
        (Fault::Cut, Kind::Interrupted, Kind::Interrupted, cut),
        (Fault::Error(said), Kind::Unavailable, Kind::Unavailable, "\"no words for '…' today\""),
        (Fault::LongLine, Kind::Protocol, Kind::Protocol, "a line of more than \"8192\" bytes"),
        (Fault::HugeData, Kind::Protocol, Kind::Protocol, "a data_length of \"1099511627776\""),
        (
            Fault::HugePayload,
            Kind::Protocol,
            Kind::Protocol,
            "a payload_length of \"1099511627776\"",
        ),
        (Fault::Rubbish, Kind::Protocol, Kind::Protocol, "it sends a line"),
    ] {
        for script in [Script::speaks(), Script::speaks().streamed()] {
            let server = WyomingServer::start(script.clone().with(When::Asked, fault));
            let mut options = options(&server.address());
            if fault == Fault::Stall {
                options.first_byte_timeout = SHORT;
            }
            let error = spoken(&Speech::new(options), request("Well met.", "")).await.unwrap_err();
            assert_eq!(error.kind(), before, "{fault:?}: {error}");
            assert!(error.to_string().contains(text), "{fault:?}: {error}");
        }
        for script in [Script::speaks(), Script::speaks().streamed()] {
            let server = WyomingServer::start(script.with(When::Midway, fault));
            let mut options = options(&server.address());
            if fault == Fault::Stall {
                options.idle_timeout = SHORT;
            }
            let mut sound = Speech::new(options).speak(request("Well met.", ""));
            assert!(sound.next().await.unwrap().is_ok(), "{fault:?}: there was some");
            let error = sound.try_collect::<Vec<_>>().await.unwrap_err();
            let text = if fault == Fault::Stall { cut } else { text };
            assert_eq!(error.kind(), midway, "{fault:?}: {error}");
            assert!(error.to_string().contains(text), "{fault:?}: {error}");
        }
    }
}

#[tokio::test]
async fn blanks_are_sound_of_a_service() {
    let server = WyomingServer::start(Script::speaks().with(When::Asked, Fault::Blank));
    let mut sound = speech(&server).speak(request("Well met.", ""));
    let blank = sound.next().await.unwrap().unwrap();
    assert_eq!((blank.samples.len(), blank.rate.hz()), (48_000, 16_000));
}

/// A sentence at a service that repeats `event`, with `patience`.
async fn flooded(event: &str, patience: Duration) -> Error {
    let (address, flood) = flooding(event).await;
    let speech = Speech::new(Options { first_byte_timeout: patience, ..options(&address) });
    let (program, at) = (Arc::default(), Instant::now());
    *speech.0.known.write().unwrap() = Some(Described { program, at });
    let sentence = timeout(Duration::from_secs(60), spoken(&speech, request("Hello.", "")));
    let error = sentence.await.expect("it ends").unwrap_err();
    flood.abort();
    error
}

#[tokio::test]
async fn events_without_sound_end_a_sentence() {
    let empty = r#"{"type": "audio-chunk", "data": {"rate": 16000, "width": 2, "channels": 1}}"#;
    for event in [empty, r#"{"type": "mood-changed", "data": {}}"#] {
        let error = flooded(event, Duration::from_secs(60)).await;
        assert_eq!(error.kind(), Kind::Protocol, "{error}");
        assert!(error.to_string().contains(&EVENTS.to_string()), "{error}");
        // The clock comes before queued events.
        assert_eq!(flooded(event, Duration::ZERO).await.kind(), Kind::Timeout);
    }
}

#[tokio::test]
async fn unreachable_or_wrong_service_is_an_error() {
    let nobody = Speech::new(options("tcp://127.0.0.1:1"));
    let error = spoken(&nobody, request("Hello.", "")).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Unreachable);
    let expected = "'tcp://127.0.0.1:1': nothing listens there (start the voice service there, \
                    such as wyoming-piper, at port 10200, or correct base_url)";
    assert_eq!(error.to_string(), expected);
    let ears = WyomingServer::start(Script::hears("x"));
    let error = spoken(&speech(&ears), request("Hello.", "")).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Missing);
    let expected = "not a voice service: it hears ('loopback-ears')";
    assert!(error.to_string().contains(expected), "{error}");
}

#[tokio::test]
async fn dropping_the_sound_takes_the_sentence_back() {
    let server = WyomingServer::start(Script::speaks().with(When::Midway, Fault::Stall));
    let mut sound = speech(&server).speak(request("Well met.", ""));
    assert!(sound.next().await.unwrap().is_ok());
    drop(sound);
    tokio::task::spawn_blocking(move || server.left(1)).await.unwrap();
}

#[tokio::test]
async fn probe_says_how_quick_it_is() {
    let server = WyomingServer::start(Script::speaks().streamed());
    let (line, voices) = probe(options(&server.address())).await.unwrap();
    assert!(line.starts_with("loopback-mouth at 127.0.0.1:"), "{line}");
    assert!(line.contains(", takes texts in pieces, answers in "), "{line}");
    assert!(line.contains(" ms and begins a word in "), "{line}");
    assert_eq!(voices.len(), 3);
    let ears = WyomingServer::start(Script::hears("x"));
    let error = probe(options(&ears.address())).await.unwrap_err();
    assert!(error.to_string().contains("not a voice service: it hears"), "{error}");
}
