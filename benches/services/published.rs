//! Services at published times, each request up to 20 % faster or slower by a seeded generator.
//!
//! Times of the recogniser are as seen from here, since sound streams all along; a request to the
//! model or the voice goes over the network and back as well.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::{
    FutureExt, StreamExt,
    future::{BoxFuture, ready},
    stream::{self, BoxStream, FuturesUnordered},
};
use glyphoxa::measure::{
    Attempts, ChatEvent, ChatModel, ChatRequest, Error, Frame, Kind, OneByOne, OneShot, Pcm,
    SampleRate, SpeakRequest, SpeechEvent, SpeechToText, SttAbilities, TextToSpeech,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};

use super::support::{
    figures::{TOKENS_BEFORE_SENTENCE, ms},
    sound::{LAST, WORD, tone},
    stand_ins::{UTTERANCE, sentences},
};

/// One way.
const NETWORK: Duration = Duration::from_millis(20);
/// From the end of a word to the partial that has it.
const PARTIAL: Duration = Duration::from_millis(150);
/// From the end of speech, of a recogniser that ends utterances.
const EAGER_END: Duration = Duration::from_millis(200);
const FINAL: Duration = Duration::from_millis(500);
/// From our end of the utterance, of one that doesn't.
const COMMITTED: Duration = Duration::from_millis(250);
const FIRST_TOKEN: Duration = Duration::from_millis(200);
/// 80 a second.
const TOKEN: Duration = Duration::from_micros(12_500);
const FIRST_BYTE: Duration = Duration::from_millis(90);
/// After which a model that stalls is given up.
pub const FIRST_BYTE_TIMEOUT: Duration = Duration::from_millis(500);
const JITTER: f64 = 0.2;
/// Words of the utterance.
const WORDS: usize = 6;
/// Chunks of 20 ms in the sound of a sentence.
const CHUNKS: usize = 5;
/// Sentences that may wait for the voice, more than all tables have.
const WAITING: usize = 256;
/// Events of an utterance, and a few more.
const EVENTS: usize = 16;

/// Draws how much slower than published a request is answered.
#[derive(Clone)]
pub struct Jitter(Arc<Mutex<StdRng>>);

impl Jitter {
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(StdRng::seed_from_u64(seed))))
    }

    fn factor(&self) -> f64 {
        let mut rng = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rng.random_range(1.0 - JITTER..=1.0 + JITTER)
    }

    /// Time to the answer of a service that takes `time`, with the network.
    fn answered(&self, time: Duration) -> Duration {
        (time + NETWORK * 2).mul_f64(self.factor())
    }
}

/// What comes through a channel, as a service's answers.
fn answers<T: Send + 'static>(
    mut channel: mpsc::Receiver<T>,
) -> BoxStream<'static, Result<T, Error>> {
    stream::poll_fn(move |context| channel.poll_recv(context)).map(Ok).boxed()
}

/// Times that the services of a table took for a turn.
#[derive(Clone, Default)]
pub struct Own(Arc<Mutex<Stages>>);

#[derive(Default)]
struct Stages {
    /// Our end of the utterance to its final.
    heard: Duration,
    /// Request to the first sentence.
    thought: Duration,
    /// First sentence to its first sound.
    spoke: Option<Duration>,
}

impl Own {
    /// A turn begins.
    pub fn begin(&self) {
        self.with(|stages| *stages = Stages::default());
    }

    /// Sum of the turn's stages in ms.
    pub fn sum(&self) -> f64 {
        self.with(|it| ms(it.heard + it.thought + it.spoke.unwrap_or_default()))
    }

    fn with<T>(&self, act: impl FnOnce(&mut Stages) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Has a partial after each frame marked [`WORD`], and with the one marked [`LAST`] all words.
#[derive(Clone)]
pub struct Recogniser {
    pub ends_utterances: bool,
    pub jitter: Jitter,
    pub own: Own,
}

impl SpeechToText for Recogniser {
    fn name(&self) -> &'static str {
        "stand-in"
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn abilities(&self) -> SttAbilities {
        SttAbilities { partials: true, endpointing: self.ends_utterances }
    }

    fn expect(&self, _: &dyn Fn() -> Vec<String>) {}

    fn ready(&self) -> BoxFuture<'static, Result<(), Error>> {
        ready(Ok(())).boxed()
    }

    fn listen(
        &self,
        audio: mpsc::Receiver<Frame>,
        _: Attempts,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>> {
        let (to, events) = mpsc::channel(EVENTS);
        let factor = self.jitter.factor();
        let (recogniser, due) = (self.clone(), VecDeque::new());
        tokio::spawn(Hearing { recogniser, due, words: 0, factor }.hear(audio, to));
        answers(events)
    }
}

/// Sound on its way through a recogniser.
struct Hearing {
    recogniser: Recogniser,
    /// Events in order.
    due: VecDeque<(Instant, SpeechEvent)>,
    /// Words of the utterance so far.
    words: usize,
    /// One for all events of an utterance, which keeps them in order.
    factor: f64,
}

impl Hearing {
    /// Ends with the final, with the last utterance, or with its listener.
    async fn hear(mut self, mut audio: mpsc::Receiver<Frame>, to: mpsc::Sender<SpeechEvent>) {
        let mut is_open = true;
        loop {
            let next = self.due.front().map(|(at, _)| *at);
            tokio::select! {
                frame = audio.recv(), if is_open => match frame {
                    Some(frame) => self.take(&frame),
                    None => {
                        is_open = false;
                        self.closed();
                    }
                },
                () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {
                    let Some((_, event)) = self.due.pop_front() else { continue };
                    if to.send(event).await.is_err() {
                        return;
                    }
                }
                else => return,
            }
        }
    }

    fn take(&mut self, frame: &Frame) {
        let is_last = match frame.samples().first() {
            Some(&WORD) => false,
            Some(&LAST) => true,
            _ => return,
        };
        if self.words < WORDS {
            self.words += 1;
            let text = UTTERANCE.split(' ').take(self.words).collect::<Vec<_>>().join(" ");
            self.push(PARTIAL, SpeechEvent::Partial { text });
        }
        if is_last && self.recogniser.ends_utterances {
            self.push(EAGER_END, SpeechEvent::EagerEnd { text: UTTERANCE.to_owned() });
            self.push(FINAL, SpeechEvent::Final { text: UTTERANCE.to_owned() });
            self.words = 0;
            self.factor = self.recogniser.jitter.factor();
        }
    }

    fn closed(&mut self) {
        if !self.recogniser.ends_utterances {
            let final_at = self.push(COMMITTED, SpeechEvent::Final { text: UTTERANCE.to_owned() });
            self.recogniser.own.with(|own| own.heard = final_at);
        }
    }

    /// Adds an event that comes `after` the present by the list; returns when it does.
    fn push(&mut self, after: Duration, event: SpeechEvent) -> Duration {
        let after = after.mul_f64(self.factor);
        self.due.push_back((Instant::now() + after, event));
        after
    }
}

/// Says the stand-ins' three sentences.
pub struct Model {
    pub jitter: Jitter,
    pub own: Own,
}

impl ChatModel for Model {
    fn name(&self) -> &'static str {
        "stand-in"
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn stream(&self, _: ChatRequest) -> BoxStream<'static, Result<ChatEvent, Error>> {
        let first = self.jitter.answered(FIRST_TOKEN);
        let token = TOKEN.mul_f64(self.jitter.factor());
        self.own.with(|own| own.thought = first + token * TOKENS_BEFORE_SENTENCE);
        sentences(first, token)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// At once.
    Refuses,
    /// Until [`FIRST_BYTE_TIMEOUT`].
    Stalls,
}

/// Never answers.
pub struct DownModel {
    pub fault: Fault,
    pub jitter: Jitter,
    /// Requests so far.
    pub asked: Arc<AtomicUsize>,
}

impl ChatModel for DownModel {
    fn name(&self) -> &'static str {
        "down"
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn stream(&self, _: ChatRequest) -> BoxStream<'static, Result<ChatEvent, Error>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let (after, kind) = match self.fault {
            Fault::Refuses => (self.jitter.answered(Duration::ZERO), Kind::Unavailable),
            Fault::Stalls => (FIRST_BYTE_TIMEOUT, Kind::Timeout),
        };
        let due = Instant::now() + after;
        stream::once(async move {
            sleep_until(due).await;
            Err(Error::new(kind, "it is down"))
        })
        .boxed()
    }
}

/// A voice that all tables share, with one connection for all their sentences.
pub struct PooledVoice {
    jitter: Jitter,
    /// Of each table; its number is its NPC's voice.
    owns: Vec<Own>,
    connection: mpsc::Sender<Asked>,
}

/// A sentence without sound so far.
struct Asked {
    due: Instant,
    sound: mpsc::Sender<Pcm>,
}

impl PooledVoice {
    pub fn open(seed: u64, owns: Vec<Own>) -> Arc<dyn TextToSpeech> {
        let (connection, asked) = mpsc::channel(WAITING);
        tokio::spawn(speak_all(asked));
        let voice = Arc::new(Self { jitter: Jitter::new(seed), owns, connection });
        Arc::new(OneByOne::new(voice))
    }
}

impl OneShot for PooledVoice {
    fn name(&self) -> &'static str {
        "stand-in"
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn speak(&self, request: SpeakRequest) -> BoxStream<'static, Result<Pcm, Error>> {
        let after = self.jitter.answered(FIRST_BYTE);
        let table: usize = request.voice.voice_id.parse().expect("a table's number");
        let own = self.owns.get(table).expect("one of its tables");
        own.with(|own| own.spoke = own.spoke.or(Some(after)));
        let (sound, chunks) = mpsc::channel(CHUNKS);
        let asked = Asked { due: Instant::now() + after, sound };
        assert!(self.connection.try_send(asked).is_ok(), "too many sentences wait");
        answers(chunks)
    }
}

/// Speaks each sentence when it is due, until the voice is dropped.
async fn speak_all(mut asked: mpsc::Receiver<Asked>) {
    let rate = SampleRate::HZ_24000;
    let samples = tone(480 * CHUNKS, 24_000.0);
    let mut waiting: FuturesUnordered<BoxFuture<'static, mpsc::Sender<Pcm>>> =
        FuturesUnordered::new();
    loop {
        tokio::select! {
            Some(Asked { due, sound }) = asked.recv() => {
                waiting.push(sleep_until(due).map(|()| sound).boxed());
            }
            Some(sound) = waiting.next(), if !waiting.is_empty() => {
                for chunk in samples.chunks(480) {
                    // The turn may be over.
                    _ = sound.try_send(Pcm { samples: chunk.to_vec(), rate });
                }
            }
            else => return,
        }
    }
}
