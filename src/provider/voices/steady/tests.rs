use std::time::Duration;

use futures::TryStreamExt;
use tokio::time::sleep;

use super::*;
use crate::{
    audio::SampleRate,
    provider::{
        Attempts, Kind, TextToSpeech,
        openai::VoiceOptions,
        pace::BEHIND,
        remote::chat_server::{ChatServer, Script},
        voices::{VoiceEntry, Voices},
    },
};

/// Samples of a second.
const SECOND: usize = 16_000;

/// One piece of a scripted sentence: a wait, then samples of this value.
#[derive(Clone, Copy)]
struct Piece {
    wait: Duration,
    sample: i16,
    samples: usize,
}

/// Says its pieces, and then repeats others without end.
struct Says {
    pieces: &'static [Piece],
    endless: &'static [Piece],
}

impl OneShot for Says {
    fn name(&self) -> &str {
        "scripted"
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn speak(&self, _: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        let pieces = self.pieces.iter().chain(self.endless.iter().cycle());
        stream::iter(pieces)
            .then(|piece| async move {
                sleep(piece.wait).await;
                Ok(Pcm { samples: vec![piece.sample; piece.samples], rate: SampleRate::HZ_16000 })
            })
            .boxed()
    }
}

const DRIP: Piece = Piece { wait: Duration::from_millis(400), sample: 9_000, samples: 10 };
const BLANK: Piece = Piece { wait: Duration::ZERO, sample: 30, samples: 320 };
const VOICE: Piece = Piece { wait: Duration::ZERO, sample: 9_000, samples: SECOND };

fn says(pieces: &'static [Piece], endless: &'static [Piece]) -> Arc<dyn OneShot> {
    Arc::new(Says { pieces, endless })
}

fn request(text: &str) -> SpeakRequest {
    SpeakRequest {
        text: text.to_owned(),
        voice: Voice::as_is("scripted", "first"),
        foreign: None,
        pronunciation: Arc::from([]),
        style: None,
        attempts: Attempts::default(),
    }
}

async fn spoken(voice: &Steady) -> (usize, Result<(), Error>) {
    counted(voice.speak(request("Well met."))).await
}

async fn said(voice: &dyn TextToSpeech) -> (usize, Result<(), Error>) {
    counted(voice.speak(request("Well met."))).await
}

/// Samples until the end.
async fn counted(mut sound: BoxStream<'static, Result<Pcm, Error>>) -> (usize, Result<(), Error>) {
    let mut samples = 0;
    loop {
        match sound.try_next().await {
            Ok(Some(pcm)) => samples += pcm.samples.len(),
            Ok(None) => return (samples, Ok(())),
            Err(error) => return (samples, Err(error)),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn dripping_voice_ends_after_two_seconds() {
    let begun = Instant::now();
    let (samples, ended) = spoken(&Steady::new(says(&[], &[DRIP]))).await;
    assert_eq!(ended.unwrap_err().kind(), Kind::Interrupted);
    // The first sound is not timed.
    let (took, pieces) = (begun.elapsed() - DRIP.wait, samples / DRIP.samples);
    assert!((5..=6).contains(&pieces), "{pieces} pieces");
    assert!((BEHIND..BEHIND + DRIP.wait).contains(&took), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn chunks_without_sound_give_no_more_time() {
    const NOTHING: Piece = Piece { wait: Duration::from_millis(1), samples: 0, ..DRIP };
    let begun = Instant::now();
    let (samples, ended) = spoken(&Steady::new(says(&[VOICE], &[NOTHING]))).await;
    assert_eq!((samples, ended.unwrap_err().kind()), (SECOND, Kind::Interrupted));
    let played = Duration::from_secs(1);
    assert!((BEHIND..BEHIND + 2 * played).contains(&begun.elapsed()), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn silent_voice_ends_after_two_seconds() {
    let (samples, ended) = spoken(&Steady::new(says(&[], &[BLANK]))).await;
    assert_eq!(ended.unwrap_err().kind(), Kind::Protocol);
    assert_eq!(samples, 2 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn silence_after_a_whole_sentence_is_its_end() {
    const QUIET: Piece = Piece { samples: 30 * SECOND, ..BLANK };
    let (samples, ended) = spoken(&Steady::new(says(&[VOICE, QUIET], &[]))).await;
    assert!(ended.is_ok());
    assert_eq!(samples, 3 * SECOND);
}

/// Sound at the pace of speech without end: "Well met." has 9 bytes.
#[tokio::test(start_paused = true)]
async fn endless_voice_ends_with_its_sentence() {
    const SPEECH: Piece = Piece { wait: Duration::from_secs(1), ..VOICE };
    const MOST: usize = 16 * (9 * 150 + 5_000);
    let begun = Instant::now();
    let (samples, ended) = spoken(&Steady::new(says(&[], &[SPEECH]))).await;
    assert_eq!((samples, ended.unwrap_err().kind()), (MOST, Kind::Protocol));
    assert_eq!(begun.elapsed(), Duration::from_secs(7));
    // All at once, by a service that may be slow.
    let (samples, ended) = spoken(&Steady::at_any_pace(says(&[], &[VOICE]))).await;
    assert_eq!((samples, ended.unwrap_err().kind()), (MOST, Kind::Protocol));
}

#[tokio::test(start_paused = true)]
async fn slow_listener_does_not_end_a_sentence() {
    const LATE: Piece = Piece { wait: Duration::from_millis(1_500), samples: SECOND, ..DRIP };
    let voice = Steady::new(says(&[VOICE, VOICE, LATE, VOICE], &[]));
    let mut sound = voice.speak(request("Well met."));
    let mut samples = 0;
    while let Some(pcm) = sound.try_next().await.unwrap() {
        samples += pcm.samples.len();
        sleep(Duration::from_secs(20)).await;
    }
    assert_eq!(samples, 4 * SECOND);
}

#[tokio::test]
async fn opened_services_are_watched() {
    let server = ChatServer::start();
    server.push(Script::plain(200, "audio/pcm").bytes(&[0; 6 * 24_000]));
    let entry = VoiceEntry::OpenAi(VoiceOptions::at(&server.base_url()));
    let service = Voices::default().open(&entry).unwrap();
    let (samples, ended) = said(&*service).await;
    assert_eq!((samples, ended.unwrap_err().kind()), (2 * 24_000, Kind::Protocol));
}
