//! The recogniser of this machine in real time: from the end of speech to the whole text, CPU time,
//! with one, three and five people who speak at once.
//!
//! Prints one JSON line for each number of speakers; one with a speaker who was not heard fails the bench
//! at its end. flite speaks; `GLYPHOXA_MODELS` names the folder of model files, without which the bench
//! is skipped. `--quick` has two speakers with one sentence each.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench without its programs is none")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "an index from a share of a length"
)]

use std::{process::Command, sync::Arc, time::Duration};

use futures::StreamExt;
use glyphoxa::measure::{
    Attempts, Frame, Registry, SampleRate, SpeechEvent, SpeechToText, TOOL_IDENTITIES, load_config,
};
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval, sleep, sleep_until},
};

use self::skipped::skipped;

#[path = "support/skipped.rs"]
mod skipped;

/// Sentences of people.
const SENTENCES: [&str; 6] = [
    "bartok roll two d six plus three",
    "what is the news from the harbour tonight",
    "i draw my sword and look around the room",
    "bartok bring another round for my friends and put it on my tab",
    "how much gold do you want for that old horse in the stable",
    "roll a d twenty with advantage",
];
/// Voices of the people.
const VOICES: [&str; 3] = ["slt", "rms", "awb"];
/// Utterances of each speaker; one with `--quick`.
const ROUNDS: usize = 10;
/// Frames of silence that a table hands on.
const HANDED_ON: usize = 6;
/// Silence that ends an utterance.
const PATIENCE: Duration = Duration::from_millis(500);
/// Sound of one frame.
const FRAME: Duration = Duration::from_millis(20);

/// Times of one utterance.
struct Heard {
    /// From the last frame of speech until the text that became the final was there.
    whole: Duration,
    /// Until the final.
    last: Duration,
    /// Texts before the final.
    partials: usize,
    /// The latest frame.
    late: Duration,
    /// True if the final contains words.
    has_words: bool,
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(run());
}

/// Measures one number of speakers after the other.
async fn run() {
    #[expect(clippy::disallowed_methods, reason = "as config reads it")]
    let environment = |name: &str| std::env::var(name).ok();
    let config = load_config(None, &environment, TOOL_IDENTITIES).expect("the shipped files");
    if let Some(options) = config.services.recognisers.only_here()
        && let Err(why) = options.found()
    {
        return skipped("hearing", &why.to_string());
    }
    let quick = std::env::args().any(|argument| argument == "--quick");
    let numbers: &[u32] = if quick { &[2] } else { &[1, 3, 5] };
    let rounds = if quick { 1 } else { ROUNDS };
    let services = Registry::default();
    let recognisers = services.recognisers(&config.services).expect("no address");
    let stt = recognisers.iter().next().expect("one is configured").service();
    let began = Instant::now();
    stt.ready().await.expect("the model files can be read");
    let load = began.elapsed().as_millis();
    let info = config.services.recognisers.entries[0].entry.info();
    let voices = VOICES.iter().take(if quick { 1 } else { VOICES.len() });
    let sounds: Vec<Vec<Frame>> =
        voices.flat_map(|voice| SENTENCES.map(|said| speech(voice, said))).collect();
    let sounds = Arc::new(sounds);
    let mut lost = 0;
    for &speakers in numbers {
        let (cpu, wall) = (cpu_seconds(), Instant::now());
        let by_speaker = speak(stt, &sounds, (speakers, rounds)).await;
        let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
        let all_partials = |of: &Vec<Heard>| of.iter().map(|it| it.partials).sum::<usize>();
        let each: Vec<usize> = by_speaker.iter().map(all_partials).collect();
        let unheard = by_speaker.iter().filter(|of| !of.iter().any(|it| it.has_words)).count();
        let heard: Vec<Heard> = by_speaker.into_iter().flatten().collect();
        let without_words = heard.iter().filter(|it| !it.has_words).count();
        lost += without_words;
        let times = |of: fn(&Heard) -> Duration| {
            let mut all: Vec<f64> = heard.iter().map(|it| of(it).as_secs_f64() * 1e3).collect();
            all.sort_by(f64::total_cmp);
            let at = |share: f64| all[((all.len() - 1) as f64 * share).round() as usize].round();
            format!("{{\"p50\":{},\"p95\":{}}}", at(0.5), at(0.95))
        };
        let partials = each.iter().sum::<usize>() as f64 / heard.len() as f64;
        println!(
            "{{\"bench\":\"hearing\",\"recogniser\":\"{info}\",\"load_ms\":{load},\"speakers\":\
             {speakers},\"utterances\":{},\"whole_ms\":{},\"final_ms\":{},\"frame_late_ms\":{},\
             \"partials\":{partials:.1},\"partials_of_each_speaker\":{each:?},\"without_words\":\
             {without_words},\"speakers_unheard\":{unheard},\"cpu_s_per_minute_and_speaker\":{:.1},\"resident_mb\":{}}}",
            heard.len(),
            times(|it| it.whole),
            times(|it| it.last),
            times(|it| it.late),
            cpu / (wall / 60.0) / f64::from(speakers),
            resident_mb(),
        );
    }
    assert!(lost == 0, "{lost} utterances were not heard");
}

/// All speakers say `rounds` utterances, all at once; what was heard of each.
async fn speak(
    stt: &Arc<dyn SpeechToText>,
    sounds: &Arc<Vec<Vec<Frame>>>,
    (speakers, rounds): (u32, usize),
) -> Vec<Vec<Heard>> {
    let mut tasks = JoinSet::new();
    for speaker in 0..speakers as usize {
        let (stt, sounds) = (Arc::clone(stt), Arc::clone(sounds));
        tasks.spawn(async move {
            let mut all = Vec::new();
            for round in 0..rounds {
                all.push(utterance(&*stt, &sounds[(speaker * 7 + round) % sounds.len()]).await);
                sleep(Duration::from_millis(300)).await;
            }
            all
        });
    }
    tasks.join_all().await
}

/// One utterance in real time, as a table hands it on.
async fn utterance(stt: &dyn SpeechToText, frames: &[Frame]) -> Heard {
    let (audio, queue) = mpsc::channel(1_600);
    let mut events = stt.listen(queue, Attempts::default());
    let speaking = async move {
        let mut ticks = interval(FRAME);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let mut late = Duration::ZERO;
        for frame in frames {
            let due = ticks.tick().await;
            late = late.max(due.elapsed());
            let _ = audio.send(frame.clone()).await;
        }
        let end = Instant::now();
        for _ in 0..HANDED_ON {
            ticks.tick().await;
            let _ = audio.send(Frame::silence(SampleRate::HZ_16000)).await;
        }
        sleep_until(end + PATIENCE).await;
        drop(audio);
        (end, late)
    };
    let hearing = async move {
        let mut texts = Vec::new();
        while let Some(event) = events.next().await {
            match event.expect("it hears") {
                SpeechEvent::Partial { text } | SpeechEvent::Pause { text } => {
                    texts.push((Instant::now(), text))
                }
                SpeechEvent::EagerEnd { .. } | SpeechEvent::Resumed => {}
                SpeechEvent::Final { text } => return (texts, Instant::now(), text),
            }
        }
        unreachable!("a final")
    };
    let ((end, late), (texts, last, text)) = tokio::join!(speaking, hearing);
    let whole = texts.iter().find(|(at, known)| *known == text && *at >= end);
    Heard {
        whole: whole.map_or(last, |(at, _)| *at).saturating_duration_since(end),
        last: last.saturating_duration_since(end),
        partials: texts.len(),
        late,
        has_words: text.chars().any(char::is_alphanumeric),
    }
}

/// Speech of flite, without the silence around it but for 200 ms before.
fn speech(voice: &str, text: &str) -> Vec<Frame> {
    let output = Command::new("flite").args(["-voice", voice, "-t", text, "/dev/stdout"]).output();
    let output = output.expect("flite is installed by ./dev setup").stdout;
    let bytes = output.get(44..).expect("a WAV header").chunks_exact(2);
    let samples: Vec<i16> = bytes.map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect();
    let is_voice = |sample: &i16| sample.unsigned_abs() > 300;
    let from = samples.iter().position(is_voice).unwrap_or(0);
    let to = samples.iter().rposition(is_voice).map_or(samples.len(), |at| at + 1);
    let quiet = std::iter::repeat_n(0, 3_200);
    let spoken: Vec<i16> = quiet.chain(samples[from..to].iter().copied()).collect();
    spoken.chunks(320).map(|chunk| Frame::padded(chunk, SampleRate::HZ_16000)).collect()
}

/// CPU time of this process.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u32 = fields.skip(11).take(2).filter_map(|field| field.parse::<u32>().ok()).sum();
    f64::from(ticks) / 100.0
}

/// Memory of this process.
fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1_024
}
