//! A scripted recogniser, and sound that is voice.

use std::{
    collections::VecDeque,
    f32::consts::PI,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::{
    FutureExt,
    future::{BoxFuture, ready},
    stream::{self, BoxStream, StreamExt},
};
use tokio::{sync::mpsc, time::sleep};

use crate::{
    audio::{Frame, SampleRate},
    engine::tests::props::{Live, ms},
    provider::{Attempts, Error, Kind, SpeechEvent, SpeechToText, SttAbilities},
};

/// As a partial or final, makes the stream panic; as a partial before the first frame, makes
/// [`Recogniser::listen`] panic.
pub const PANICS: &str = "panics";

/// As a partial, the stream fails, or the service refuses its key.
pub const FAILS: &str = "fails";
pub const REFUSES: &str = "refuses";

/// The recogniser's results for one stream.
#[derive(Clone, Debug)]
pub struct Said {
    /// Partials, and the number of frames (200 ms before the voice included) that they come after.
    pub partials: Vec<(usize, &'static str)>,
    /// `None`: no final comes.
    pub text: Option<Result<&'static str, Kind>>,
    /// Delay of the final.
    pub takes: Duration,
}

/// A recogniser whose streams play the script in order.
pub struct Recogniser {
    pub script: Mutex<VecDeque<Said>>,
    pub abilities: SttAbilities,
    pub priced_as: &'static str,
    pub live: Live,
    /// Frames received.
    pub frames: Arc<AtomicUsize>,
    /// Takes no sound.
    pub is_stuck: AtomicBool,
}

/// Silence after which a recogniser that ends utterances does so: 500 ms.
const ENDS_AFTER: usize = 25;

impl SpeechToText for Recogniser {
    fn name(&self) -> &str {
        "stand-in"
    }

    fn priced_as(&self) -> Option<&str> {
        Some(self.priced_as)
    }

    fn abilities(&self) -> SttAbilities {
        self.abilities
    }

    fn expect(&self, _: &dyn Fn() -> Vec<String>) {}

    fn ready(&self) -> BoxFuture<'static, Result<(), Error>> {
        async { Ok(()) }.boxed()
    }

    fn listen(
        &self,
        mut audio: mpsc::Receiver<Frame>,
        _: Attempts,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>> {
        let (heard, mut events) = mpsc::channel(16);
        let said = self.script.lock().unwrap().pop_front();
        let said = said.unwrap_or(Said { partials: vec![], text: Some(Ok("")), takes: ms(0) });
        assert_ne!(said.partials.first(), Some(&(0, PANICS)), "no stream is opened");
        let alive = self.live.begin();
        let (ends_itself, count) = (self.abilities.endpointing, Arc::clone(&self.frames));
        let is_stuck = self.is_stuck.load(Ordering::SeqCst);
        let listening = async move {
            let _alive = alive;
            if is_stuck {
                std::future::pending::<()>().await;
            }
            let (mut frames, mut partials) = (0, said.partials.iter().peekable());
            let (mut silent, mut is_over) = (None, false);
            while let Some(frame) = audio.recv().await {
                frames += 1;
                count.fetch_add(1, Ordering::SeqCst);
                silent = match silent {
                    _ if frame.samples().iter().any(|sample| *sample != 0) => Some(0),
                    silent => silent.map(|frames| frames + 1),
                };
                if ends_itself
                    && let Some(Ok(text)) = said.text
                    && silent.take_if(|frames| *frames == ENDS_AFTER).is_some()
                {
                    let _ = heard.send(SpeechEvent::Final { text: text.to_owned() }).await;
                    is_over = true;
                }
                is_over &= silent.is_none();
                while let Some((_, text)) = partials.next_if(|(at, _)| *at <= frames) {
                    if let Some(kind) = failure(text) {
                        return Err(Error::new(kind, "secret hearing error"));
                    }
                    let _ = heard.send(said_so_far(text)).await;
                }
            }
            sleep(said.takes).await;
            // Nothing was said after the utterance that it has ended.
            if is_over {
                return Ok(());
            }
            assert!(!matches!(said.text, Some(Ok(PANICS))), "no final is made");
            match said.text {
                Some(Ok(text)) => {
                    let _ = heard.send(SpeechEvent::Final { text: text.to_owned() }).await;
                    Ok(())
                }
                Some(Err(kind)) => Err(Error::new(kind, "secret hearing error")),
                None => std::future::pending().await,
            }
        };
        let failed = listening.into_stream().filter_map(|ended| ready(ended.err().map(Err)));
        let events = stream::poll_fn(move |context| events.poll_recv(context)).map(Ok);
        stream::select(events, failed).boxed()
    }
}

fn failure(partial: &str) -> Option<Kind> {
    match partial {
        FAILS => Some(Kind::Unavailable),
        REFUSES => Some(Kind::Unauthorized),
        _ => None,
    }
}

/// A partial; "resumed" and the prefix "eager: " are events of that kind.
fn said_so_far(text: &str) -> SpeechEvent {
    assert_ne!(text, PANICS, "the stream breaks");
    let text = text.to_owned();
    match text.strip_prefix("eager: ") {
        Some(all) => SpeechEvent::EagerEnd { text: all.to_owned() },
        None if text == "resumed" => SpeechEvent::Resumed,
        None => SpeechEvent::Partial { text },
    }
}

/// Sound that the detector takes for voice from its third frame on, without gaps.
#[expect(clippy::cast_possible_truncation, reason = "samples are clamped")]
pub fn babble(length: Duration) -> Vec<Frame> {
    static SOUND: OnceLock<Vec<Frame>> = OnceLock::new();
    let sound = SOUND.get_or_init(|| {
        let (mut phase, mut states) = (0.0_f32, [[0.0_f32; 2]; 3]);
        let mut sample = |index: u16| {
            let t = f32::from(index) / 16_000.0;
            phase += (120.0 + 20.0 * (t * 4.0).sin()) / 16_000.0;
            let pulse = if phase >= 1.0 { 1.0 } else { 0.0 };
            phase = phase.fract();
            let vowel = (t / 0.16).floor();
            let high = 1_500.0 + 600.0 * (vowel * 2.9).cos();
            let formants = [500.0 + 250.0 * (vowel * 1.7).sin(), high, 2_500.0];
            let mut voice = 0.0;
            for (formant, [a, b]) in formants.into_iter().zip(&mut states) {
                let r = (-PI * 80.0 / 16_000.0).exp();
                let out = pulse + 2.0 * r * (2.0 * PI * formant / 16_000.0).cos() * *a - r * r * *b;
                (*b, *a) = (*a, out);
                voice += out;
            }
            let syllable = (PI * (t / 0.16).fract()).sin().sqrt();
            (voice * syllable * 2_000.0).clamp(-30_000.0, 30_000.0) as i16
        };
        let samples: Vec<i16> = (0..64_000).map(&mut sample).collect();
        let frames = samples.chunks_exact(320);
        frames.map(|samples| Frame::padded(samples, SampleRate::HZ_16000)).collect()
    });
    sound.iter().cycle().take((length.as_millis() / 20) as usize).cloned().collect()
}
