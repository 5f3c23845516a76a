//! Figures of `./dev proof`: many pages that talk at once, and how much later another one is answered by them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::{Duration, Instant},
};

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{
    runtime::{Builder, Runtime},
    task::JoinHandle,
    time::{interval, sleep},
};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    hostile::peak,
    rehearsal_table::{Page, enters},
    support::{
        chat_server::{ChatServer, Script},
        program::{Place, release_program},
        speech::{padded, speech},
    },
};

/// Pages that talk beside the one that is answered: 50 sockets in all.
const CROWD: u32 = 49;
/// Sound of a message.
const FRAME: Duration = Duration::from_millis(20);
/// Samples of it, at 16 kHz.
const SAMPLES: usize = 320;
/// Bytes of a frame to pages: 960 samples at 48 kHz.
const SPEECH_BYTES: usize = 1_920;
/// Frames from one report of what a page has played to the next.
const REPORT: u64 = 5;
/// What the crowd says; nothing in it is for an NPC.
const WORDS: &str = "The weather was fine all day";
/// Answers that are measured in each part.
const ANSWERS: usize = 100;
/// Answers before, which are not.
const FIRST: usize = 5;
/// Time from the end of an answer to the next line: longer than the silence that a table leaves between two
/// answers, up to 450 ms after it has handed over the first. Sooner lines would measure that silence.
const BETWEEN: Duration = Duration::from_millis(500);

/// What the crowd's microphones hear.
const SILENCE: u8 = 0;
const SPEECH: u8 = 1;
/// The pages are closed.
const OVER: u8 = 2;

/// Messages of a page, one every 20 ms, again and again.
type Sayings = Vec<Option<Message>>;

/// Times in ms, sorted.
struct Times(Vec<f64>);

impl Times {
    /// The time that `percent` of all are not longer than.
    fn at(&self, percent: usize) -> f64 {
        self.0[(self.0.len() * percent).div_ceil(100) - 1]
    }

    /// Tells how much later these are than `alone`, and asserts that it is little.
    #[track_caller]
    fn assert_near(&self, alone: &Self, beside: &str) {
        let added = |percent| self.at(percent) - alone.at(percent);
        eprintln!(
            "first sound of an answer beside {CROWD} pages of {beside}: p50 {:+.2} ms, p99 {:+.2} ms (alone {:.2} \
             and {:.2} ms)",
            added(50),
            added(99),
            alone.at(50),
            alone.at(99)
        );
        assert!(added(50) <= 2.0 && added(99) <= 5.0, "answers are late, see above");
    }
}

/// Silence is read, judged and dropped, so it measures the sockets and the table; no recogniser hears it.
/// Speech goes to a recogniser, and everybody is shown its words.
#[test]
fn fifty_pages_talk_beside_one_in_time() {
    let Some(program) = release_program("a page beside fifty that talk") else { return };
    let (ears, voice) = (ChatServer::start(), ChatServer::start());
    ears.otherwise(|_| Script::json(200, &json!({ "text": WORDS })));
    let place = table(&ears, &voice);
    let live = place.start_program(&program, &["rehearse", "--port", "0", "--no-open"]);
    let said = live.says("this link lets one browser in, once: http://127.0.0.1:");
    // By itself, so that the crowd's threads do not hold up the measured page.
    let own = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (host, cookie) = own.block_on(enters(&said));
    let mut page = own.block_on(Page::open(&host, &cookie, "Ada"));
    own.block_on(asks(&mut page, FIRST));
    let alone = own.block_on(asks(&mut page, ANSWERS));

    let (others, before) = (Runtime::new().expect("a runtime"), peak(&live));
    let microphones = Arc::new(AtomicU8::new(SILENCE));
    let crowd = others.block_on(opened(&host, &cookie, &microphones));
    own.block_on(asks(&mut page, FIRST));
    let silent = own.block_on(asks(&mut page, ANSWERS));
    assert_eq!(utterances(&ears), 0, "silence was recognised");

    microphones.store(SPEECH, Ordering::Relaxed);
    own.block_on(asks(&mut page, FIRST));
    let spoken = own.block_on(asks(&mut page, ANSWERS));
    microphones.store(OVER, Ordering::Relaxed);
    others.block_on(async {
        for page in crowd {
            page.await.expect("no page was cut off");
        }
    });
    let recognised = utterances(&ears);
    let lines = live.said();
    let lost = lines.iter().filter(|line| line.contains("the table was too busy for frames"));
    eprintln!(
        "{recognised} utterances of {CROWD} pages, {} of them with lost frames; {} MiB more memory",
        lost.count(),
        peak(&live).saturating_sub(before)
    );
    assert!(recognised >= usize::try_from(CROWD).expect("a size"), "{recognised}");
    silent.assert_near(&alone, "silence");
    spoken.assert_near(&alone, "speech");
    assert_eq!(live.terminate(), 0);
}

/// Two NPCs, so that words without a name are for neither.
fn table(ears: &ChatServer, voice: &ChatServer) -> Place {
    let npc = |name: &str| {
        format!(
            "  - {{ name: {name}, voice: {{ provider: openai, voice_id: alloy }}, lines: [{{ say: Well met. }}] }}\n"
        )
    };
    Place::with_config(&format!(
        "providers:\n  stt: {{ name: openai, base_url: \"{}\", model: ears }}\n  \
         tts: {{ name: openai, base_url: \"{}\", model: tts }}\nnpcs:\n{}{}",
        ears.base_url(),
        voice.base_url(),
        npc("Bartok"),
        npc("Elara")
    ))
}

/// Utterances that were to be recognised. A table that opens also asks whether the service is there.
fn utterances(ears: &ChatServer) -> usize {
    let requests = ears.requests();
    requests.iter().filter(|it| it.line == "POST /v1/audio/transcriptions").count()
}

/// Types lines for Bartok; the times from each to his first sound, which the announcement of his turn precedes
/// at once.
async fn asks(page: &mut Page, count: usize) -> Times {
    let mut times = Vec::new();
    for _ in 0..count {
        page.passed.clear();
        let begun = Instant::now();
        page.send(&json!({ "type": "say", "text": "Good evening.", "npc": "Bartok" })).await;
        page.next("speech", |_| true).await;
        times.push(begun.elapsed().as_secs_f64() * 1_000.0);
        let line = page.next("line", |event| event["line"]["npc"] == "Bartok").await;
        assert_eq!(line["line"]["outcome"], "spoken", "{line:#}");
        sleep(BETWEEN).await;
    }
    times.sort_by(f64::total_cmp);
    Times(times)
}

/// Opens the crowd's pages, which talk from now on.
async fn opened(host: &str, cookie: &str, microphones: &Arc<AtomicU8>) -> Vec<JoinHandle<()>> {
    let sayings = Arc::new([silence(), speaking()]);
    let mut crowd = Vec::new();
    for nth in 0..CROWD {
        let mut page = Page::open(host, cookie, &format!("Player {nth}")).await;
        page.next("welcome", |_| true).await;
        crowd.push(tokio::spawn(talks(page, nth, Arc::clone(&sayings), Arc::clone(microphones))));
    }
    crowd
}

/// Talks until it is over, and reports what it plays. Pages begin one after the other, as people do.
async fn talks(page: Page, nth: u32, sayings: Arc<[Sayings; 2]>, microphones: Arc<AtomicU8>) {
    let (mut sink, mut stream) = page.socket.split();
    let mut playing = Playing::default();
    sleep(FRAME * nth / CROWD).await;
    let (mut clock, mut at) = (interval(FRAME), nth as usize * 4);
    loop {
        let message = tokio::select! {
            _ = clock.tick() => {
                let Some(all) = sayings.get(usize::from(microphones.load(Ordering::Relaxed))) else {
                    return;
                };
                at += 1;
                all[at % all.len()].clone()
            }
            received = stream.next() => {
                playing.takes(received.expect("it is open").expect("a message"))
            }
        };
        if let Some(message) = message {
            sink.send(message).await.expect("it is open");
        }
    }
}

/// Sound that a page of the crowd is sent.
#[derive(Default)]
struct Playing {
    turn: u64,
    frames: u64,
}

impl Playing {
    /// Takes a message; returns the page's report of what it has played, at times.
    fn takes(&mut self, message: Message) -> Option<Message> {
        match message {
            Message::Text(text) if text.starts_with("{\"type\":\"speech\"") => {
                let event: Value = serde_json::from_str(&text).expect("JSON");
                *self = Self { turn: event["turn"].as_u64().expect("a number"), frames: 0 };
                None
            }
            Message::Binary(sound) if sound.len() == SPEECH_BYTES => {
                self.frames += 1;
                let samples = self.frames * 960;
                let report = json!({ "type": "played", "turn": self.turn, "samples": samples });
                self.frames.is_multiple_of(REPORT).then(|| Message::text(report.to_string()))
            }
            Message::Close(reason) => panic!("a page was cut off: {reason:?}"),
            _ => None,
        }
    }
}

fn talk(on: bool) -> Option<Message> {
    Some(Message::text(json!({ "type": "talk", "on": on }).to_string()))
}

fn frames(samples: &[i16]) -> impl Iterator<Item = Option<Message>> {
    let bytes = |frame: &[i16]| frame.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>();
    samples.chunks_exact(SAMPLES).map(move |frame| Some(Message::binary(bytes(frame))))
}

/// A button that is held without a word.
fn silence() -> Sayings {
    std::iter::once(talk(true)).chain(frames(&[0; 200 * SAMPLES])).collect()
}

/// The words, and a pause of 1 s in which the button is not held.
fn speaking() -> Sayings {
    let words = padded(0.2, &speech("slt", WORDS), 0.1);
    let said = std::iter::once(talk(true)).chain(frames(&words));
    said.chain([talk(false)]).chain(std::iter::repeat_n(None, 50)).collect()
}
