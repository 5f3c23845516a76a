//! Rates the ends of turns with recordings of people: `GLYPHOXA_MODELS` names the folder of models,
//! with Smart Turn and Whisper, `GLYPHOXA_PEOPLE` a folder of WAV files of one speaker each. Run
//! with `--nocapture`. The words are Whisper's.
//!
//! Pauses in a recording have their real length. If a `.txt` with the text is beside it, the end
//! counts as one if the text ends with a mark, and as broken off if it ends with "..." (a prompt
//! before a number). Complete ones are also broken off artificially: at the quietest place in their
//! middle, nearly always the end of a word. The length of such a pause is drawn as in
//! `logic/turn/tests/table.rs`.

use std::{
    env, fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::StreamExt;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::sync::mpsc;

use crate::{
    audio::{FRAME, Frame, SampleRate, decode},
    logic::{
        turn::{Detector, EndOfTurn, Endpointer, Input, Judgement, Output, Patience, reads},
        vad::{Vad, VadOptions},
    },
    provider::{
        Attempts, EntryList, HereOptions, Options, Registry, SpeechEvent, SpeechToText, TurnJudge,
        VoiceList,
    },
    skipped::skipped,
    weights::Weights,
};

/// Samples of 200 ms.
const SILENCE: usize = 3_200;
/// Latencies of Whisper, in milliseconds, from 150 ms of silence on; see
/// `logic/turn/tests/table.rs`.
const TAKES: [u64; 3] = [148, 230, 280];
/// The last partial covers speech until this long before the end: half the interval of partials.
const EARLIER: u64 = 200;
/// Time from the start of silence to a sound model's judgement.
const JUDGED: Duration = Duration::from_millis(305);

/// 16 kHz mono samples of a WAV file.
fn samples(path: &Path) -> Vec<i16> {
    let file = fs::File::open(path).unwrap();
    let mut samples = Vec::new();
    decode(file, Some("wav"), Some(SampleRate::HZ_16000), &mut |piece| {
        samples.extend_from_slice(piece);
        Ok(())
    })
    .unwrap();
    samples
}

fn frames(samples: &[i16]) -> Vec<Frame> {
    samples.chunks(320).map(|it| Frame::padded(it, SampleRate::HZ_16000)).collect()
}

/// Sound after a pause.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Follows {
    /// More, after this time.
    More(Duration),
    /// Something, at an unknown time.
    Something,
    /// Nothing: the speaker has finished.
    Nothing,
}

/// A pause in a recording, or its end.
struct Pause {
    at: usize,
    follows: Follows,
    /// Judgement of the model 200 ms into it.
    says: Judgement,
    /// Words recognised since the previous pause.
    words: String,
    /// Words recognised [`EARLIER`].
    earlier: String,
}

/// Turn judge and recogniser.
struct Services<'a> {
    judge: &'a dyn TurnJudge,
    recogniser: &'a dyn SpeechToText,
}

impl Services<'_> {
    /// Every pause of more than 200 ms, and the end, which `last` follows.
    async fn pauses(&self, sound: &[i16], last: Follows) -> Vec<Pause> {
        let voiced = voiced(sound);
        let next = voiced.iter().skip(1).map(|next| Some(*next)).chain([None]);
        let (mut pauses, mut begun) = (Vec::new(), 0);
        for (before, next) in voiced.iter().zip(next) {
            let length = next.map(|next| FRAME * u32::try_from(next - before).unwrap());
            if length.is_some_and(|length| length <= Duration::from_millis(200)) {
                continue;
            }
            let at = before + 1;
            let mut heard = sound[..sound.len().min(at * 320)].to_vec();
            heard.resize(at * 320, 0);
            let follows = sound.get(at * 320..).unwrap_or_default();
            heard.extend(follows.iter().chain(std::iter::repeat(&0)).take(SILENCE));
            let from = heard.len().saturating_sub(8 * 16_000);
            let says = self.judge.judge(frames(&heard[from..])).unwrap().await.unwrap();
            let said = &sound[begun..sound.len().min(at * 320)];
            let words = self.heard_as(said).await;
            let earlier = &said[..said.len().saturating_sub(SILENCE)];
            let earlier = self.heard_as(earlier).await;
            begun = next.map_or(begun, |next| (next * 320).saturating_sub(SILENCE));
            let follows = length.map_or(last, Follows::More);
            pauses.push(Pause { at, follows, says: Judgement(says), words, earlier });
        }
        pauses
    }

    async fn heard_as(&self, sound: &[i16]) -> String {
        let (to, audio) = mpsc::channel(2_000);
        let mut events = self.recogniser.listen(audio, Attempts::default());
        for frame in frames(sound) {
            to.send(frame).await.unwrap();
        }
        drop(to);
        let mut text = String::new();
        while let Some(event) = events.next().await {
            if let SpeechEvent::Final { text: last } = event.unwrap() {
                text = last;
            }
        }
        text
    }

    /// The pauses of a recording, and of the one broken off from it.
    async fn recording(&self, file: &Path) -> Vec<Pause> {
        let (sound, said) = (samples(file), fs::read_to_string(file.with_extension("txt")));
        let said = said.unwrap_or_default();
        let said = said.trim_end();
        let last = if said.ends_with("...") { Follows::Something } else { Follows::Nothing };
        // Text without a final mark may be finished or not.
        let is_known = said.is_empty() || said.ends_with(['.', '!', '?']);
        let mut all = self.pauses(&sound, last).await;
        all.retain(|pause| is_known || pause.follows != Follows::Nothing);
        if is_known && !said.is_empty() && last == Follows::Nothing {
            let broken = self.pauses(broken_off(&sound), Follows::Something).await;
            all.extend(broken.into_iter().filter(|it| it.follows == Follows::Something));
        }
        all
    }
}

/// Frames with speech.
fn voiced(sound: &[i16]) -> Vec<usize> {
    let mut vad = Vad::new(VadOptions::default());
    let frame = |(index, frame): (usize, &Frame)| vad.push(frame.samples()).voiced.then_some(index);
    frames(sound).iter().enumerate().filter_map(frame).collect()
}

/// A recording cut at the quietest 60 ms between 40 and 70 % of its speech.
fn broken_off(sound: &[i16]) -> &[i16] {
    let voiced = voiced(sound);
    let (Some(first), Some(last)) = (voiced.first(), voiced.last()) else { return &[] };
    let at = |share: usize| (first + (last - first) * share / 100) * 320;
    let loudness = |at: &usize| -> f64 {
        sound[*at..sound.len().min(at + 960)].iter().map(|it| f64::from(*it).powi(2)).sum()
    };
    let places = (at(40)..at(70)).step_by(80);
    let quietest = places.min_by(|a, b| loudness(a).total_cmp(&loudness(b)));
    &sound[..quietest.map_or(0, |at| at + 480)]
}

/// Silence before this pause ends a turn, with this latency of Whisper.
fn wait(ends: EndOfTurn, pause: &Pause, takes: u64) -> Duration {
    let (mut machine, start) = (Endpointer::new(ends), Instant::now());
    let silent = start + FRAME * 39;
    let since = |ms: u64| silent + Duration::from_millis(ms);
    let partial = silent + Duration::from_millis(takes) - Duration::from_millis(EARLIER);
    let read = |text: &str| reads(text, &[]);
    let (reading, stable_since) = (read(&pause.earlier), partial);
    let earlier = Input::Partial { reading, stable_since };
    let mut news = vec![
        (since(150 + takes), Input::Pause { reading: read(&pause.words) }),
        (silent + JUDGED, Input::Judged(pause.says)),
    ];
    if !pause.earlier.is_empty() {
        news.push((partial, earlier));
    }
    news.extend((0..40).map(|frame| (start + FRAME * frame, Input::Frame { voiced: true })));
    news.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    loop {
        let due = machine.wake_at().unwrap_or(silent);
        let next = news.pop_if(|(at, _)| *at < due || *at <= silent);
        let (at, input) = next.unwrap_or((due, Input::Tick));
        if let Some(Output::Close { .. }) = machine.handle(at, input) {
            return at - silent;
        }
    }
}

/// Lengths of pauses, drawn; see `logic/turn/tests/table.rs`.
fn drawn() -> Vec<Duration> {
    let mut rng = StdRng::seed_from_u64(15);
    let mut pause = || {
        let (u, v): (f64, f64) = (rng.random_range(f64::EPSILON..1.0), rng.random());
        let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
        Duration::from_secs_f64((-1.658 + 1.294 * normal).exp())
    };
    (0..4_000).map(|_| pause()).collect()
}

/// Results of one way to end turns.
struct Figures {
    /// Mean wait at ends, in ms.
    mean: f64,
    /// Number of pauses in recordings that ended an utterance.
    cut: usize,
    /// Percent of the recordings broken off.
    cut_off: f64,
}

fn figures(all: &[Pause], ends: EndOfTurn, takes: u64) -> Figures {
    let drawn = drawn();
    let (mut over, mut cut, mut off) = (Vec::new(), 0, Vec::new());
    for pause in all {
        let wait = wait(ends, pause, takes);
        let longer = drawn.iter().filter(|it| **it > wait).count();
        match pause.follows {
            Follows::More(length) => cut += usize::from(length > wait),
            Follows::Something => off.push(100.0 * longer as f64 / drawn.len() as f64),
            Follows::Nothing => over.push(wait.as_secs_f64() * 1_000.0),
        }
    }
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len().max(1) as f64;
    Figures { mean: mean(&over), cut, cut_off: mean(&off) }
}

#[tokio::test]
async fn recordings_of_people_by_whisper() {
    let what = "tests with recordings of people";
    let Some(folder) = env::var_os("GLYPHOXA_PEOPLE") else {
        return skipped(what, "GLYPHOXA_PEOPLE names no folder of recordings");
    };
    let Some(models) = env::var_os("GLYPHOXA_MODELS") else {
        return skipped(what, "GLYPHOXA_MODELS names no folder with smart-turn");
    };
    let weights = Weights::new(models.into(), None, Vec::new());
    let turn_model = weights.file("smart-turn", "smart-turn-v3.2-cpu.onnx");
    let options = Options {
        recognisers: EntryList::here(HereOptions { weights, language: "en".to_owned() }),
        models: EntryList::default(),
        voices: VoiceList::default(),
        speech_to_speech: Vec::new(),
        embedder: None,
        image: None,
        search: None,
        turn_model,
    };
    let services = Registry::default();
    let recognisers = services.recognisers(&options).unwrap();
    recognisers.ready().await.unwrap();
    let recogniser = Arc::clone(recognisers.iter().next().unwrap().service());
    let judge = services.turn_judge(&options).await.unwrap();
    let here = Services { judge: &*judge, recogniser: &*recogniser };
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == "wav"));
    files.sort();
    let mut all = Vec::new();
    for file in &files {
        for pause in here.recording(file).await {
            let name = file.file_name().unwrap().to_string_lossy();
            let (at, says) = (pause.at as f64 * 0.02, pause.says.0);
            let (words, earlier) = (&pause.words, &pause.earlier);
            let [read, before] = [words, earlier].map(|it| reads(it, &[]));
            let follows = pause.follows;
            println!("{name:24} {at:5.2} s  {follows:?} {says:.2} {read:?} {words}");
            println!("{:24} before: {before:?} {earlier}", "");
            all.push(pause);
        }
    }
    assert_holds(&all);
}

/// Prints each way's results beside silence, even where they are worse: beginnings of prompts are
/// often whole sentences. By words, ends wait less than 400 ms, given enough of them.
fn assert_holds(all: &[Pause]) {
    let count = |is: fn(Follows) -> bool| all.iter().filter(|it| is(it.follows)).count();
    let inside = count(|it| matches!(it, Follows::More(_)));
    let off = count(|it| it == Follows::Something);
    let over = count(|it| it == Follows::Nothing);
    println!("{over} ends, {inside} pauses, {off} broken off");
    let line = |way: &str, patience, detector, takes| {
        let it = figures(all, EndOfTurn { patience, detector }, takes);
        let Figures { mean, cut, cut_off } = it;
        println!("{way:10} waits {mean:4.0} ms, cuts in at {cut:3} and {cut_off:4.1} %");
        it
    };
    line("fixed 300", Patience::Snappy, Detector::Off, 0);
    let fixed = line("fixed 500", Patience::Normal, Detector::Off, 0);
    line("fixed 900", Patience::Patient, Detector::Off, 0);
    for takes in TAKES {
        for (way, detector) in
            [("text", Detector::Text), ("model", Detector::Model), ("both", Detector::Both)]
        {
            let it = line(&format!("{way} {}", 150 + takes), Patience::Normal, detector, takes);
            if it.cut > fixed.cut || it.cut_off > fixed.cut_off {
                println!("           cuts in more often than 500 ms of silence");
            }
            if detector == Detector::Text && takes < TAKES[2] && over >= 30 {
                assert!(it.mean <= 400.0, "{way} {takes}: {} ms", it.mean);
            }
        }
    }
}
