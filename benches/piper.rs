//! Piper voices: loading, first sound, real time factor, memory; five characters out of one voice.
//!
//! `GLYPHOXA_MODELS` names the folder of models; its first Piper voice is measured, or that of
//! `GLYPHOXA_VOICE`. Prints one JSON line a figure.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench that cannot go on ends")]
#![expect(clippy::cast_precision_loss, reason = "lengths of seconds of sound")]
#![expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "samples and indices")]

use std::{
    f32::consts::{PI, TAU},
    fs,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::StreamExt;
use glyphoxa::measure::{Attempts, Pcm, Piper, PiperOptions, SpeakRequest, TextToSpeech, Voice};

/// About five seconds.
const SENTENCE: &str = "Ah, adventurers! Take a seat, and tell me what brings you to Ravenford on \
                        a night like this.";
/// Runs of a figure.
const RUNS: usize = 7;
/// Who, pitch and formants in semitones, speed.
const CAST: [(&str, f32, f32, f32); 5] = [
    ("Bartok the Barkeep", -2.0, -2.5, 0.97),
    ("Greymantle the Sage", -4.0, 1.0, 0.86),
    ("Captain Hale", 1.0, -0.5, 1.08),
    ("Mira Quickfingers", 8.0, 3.5, 1.12),
    ("Vesper of the Glass", 4.5, -2.5, 0.8),
];

/// A sentence that was spoken.
struct Spoken {
    /// Until its first sound.
    first: Duration,
    /// Until its last.
    whole: Duration,
    /// Its sound, between -1 and 1.
    samples: Vec<f32>,
    /// Samples of a second.
    hz: f32,
}

impl Spoken {
    /// How long it lasts.
    fn seconds(&self) -> f32 {
        self.samples.len() as f32 / self.hz
    }
}

#[tokio::main]
async fn main() {
    let Some(models) = std::env::var_os("GLYPHOXA_MODELS").map(PathBuf::from) else {
        println!("{{\"skipped\": \"GLYPHOXA_MODELS names no folder of models\"}}");
        return;
    };
    let id = std::env::var_os("GLYPHOXA_VOICE").and_then(|id| id.into_string().ok());
    let id = id.unwrap_or_else(|| "joe".to_owned());
    let voice = Voice::as_is("piper", &id);
    let piper: Arc<dyn TextToSpeech> = Arc::new(Piper::new(&PiperOptions { models: vec![models] }));
    let before = resident();
    let begun = Instant::now();
    piper.warm(&voice).await.expect("GLYPHOXA_MODELS has that voice");
    println!(
        "{{\"bench\": \"piper\", \"what\": \"load\", \"ms\": {:.0}, \"rss_mb\": {:.0}, \"rss_before_mb\": {before:.0}, \"load_average\": \"{}\"}}",
        milliseconds(begun.elapsed()),
        resident(),
        fs::read_to_string("/proc/loadavg").unwrap_or_default().trim(),
    );
    let mut all = Vec::new();
    for _ in 0..RUNS {
        all.push(speak(&piper, voice.clone()).await);
    }
    let median = |of: &dyn Fn(&Spoken) -> f32| middle(all.iter().map(of).collect());
    println!(
        "{{\"bench\": \"piper\", \"what\": \"sentence\", \"seconds\": {:.2}, \"first_ms\": {:.0}, \"rtf\": {:.3}, \"rss_mb\": {:.0}}}",
        median(&Spoken::seconds),
        median(&|it| milliseconds(it.first)),
        median(&|it| it.whole.as_secs_f32() / it.seconds()),
        resident(),
    );
    let at_once = 3;
    let begun = Instant::now();
    let many = futures::future::join_all((0..at_once).map(|_| speak(&piper, voice.clone()))).await;
    let sound: f32 = many.iter().map(Spoken::seconds).sum();
    println!(
        "{{\"bench\": \"piper\", \"what\": \"at_once\", \"tables\": {at_once}, \"first_ms\": {:.0}, \"rtf\": {:.3}, \"rss_mb\": {:.0}}}",
        many.iter().map(|it| milliseconds(it.first)).fold(0.0, f32::max),
        begun.elapsed().as_secs_f32() / sound,
        resident(),
    );
    characters(&piper, &voice).await;
}

/// Five people out of one voice.
async fn characters(piper: &Arc<dyn TextToSpeech>, voice: &Voice) {
    for (name, pitch_shift, formant_shift, speed_factor) in CAST {
        let voice = Voice { pitch_shift, formant_shift, speed_factor, ..voice.clone() };
        let said = speak(piper, voice).await;
        let (low, median, high) = pitch(&said);
        println!(
            "{{\"bench\": \"piper\", \"what\": \"character\", \"npc\": \"{name}\", \"pitch_shift\": {pitch_shift}, \"formant_shift\": {formant_shift}, \"speed_factor\": {speed_factor}, \"seconds\": {:.2}, \"pitch_hz\": {median:.0}, \"pitch_p10\": {low:.0}, \"pitch_p90\": {high:.0}, \"formants_hz\": {:?}, \"centroid_hz\": {:.0}}}",
            said.seconds(),
            formants(&said).map(f32::round),
            centroid(&said),
        );
    }
}

/// Has `voice` say the sentence.
async fn speak(piper: &Arc<dyn TextToSpeech>, voice: Voice) -> Spoken {
    let begun = Instant::now();
    let mut chunks = piper.speak(SpeakRequest {
        text: SENTENCE.to_owned(),
        voice,
        language: "en".to_owned(),
        pronunciation: Arc::from([]),
        attempts: Attempts::default(),
    });
    let mut said =
        Spoken { first: Duration::ZERO, whole: Duration::ZERO, samples: Vec::new(), hz: 1.0 };
    while let Some(chunk) = chunks.next().await {
        let Pcm { samples, rate } = chunk.expect("it speaks");
        if said.samples.is_empty() {
            said.first = begun.elapsed();
        }
        said.hz = rate.hz() as f32;
        said.samples.extend(samples.iter().map(|sample| f32::from(*sample) / 32_768.0));
    }
    said.whole = begun.elapsed();
    said
}

/// Pieces of 45 ms that are loud enough to be a voice.
fn pieces(said: &Spoken) -> impl Iterator<Item = &[f32]> {
    let length = (said.hz * 0.045) as usize;
    let loud =
        move |piece: &&[f32]| piece.iter().map(|it| it * it).sum::<f32>() > 0.0016 * length as f32;
    said.samples.windows(2 * length).step_by(length / 4).filter(loud)
}

/// Low, middle and high pitch, where there is one.
fn pitch(said: &Spoken) -> (f32, f32, f32) {
    let mut all: Vec<f32> = pieces(said).filter_map(|piece| pitch_of(piece, said.hz)).collect();
    all.sort_by(f32::total_cmp);
    let at = |part: usize| all.get(all.len() * part / 100).copied().unwrap_or_default();
    (at(10), at(50), at(90))
}

/// The pitch of a piece, if it has one: its period is where it is most like itself.
fn pitch_of(piece: &[f32], hz: f32) -> Option<f32> {
    let (one, _) = piece.split_at(piece.len() / 2);
    let likeness = |lag: usize| {
        let other = piece.get(lag..lag + one.len()).unwrap_or_default();
        let product: f32 = one.iter().zip(other).map(|(a, b)| a * b).sum();
        let loud = |it: &[f32]| it.iter().map(|it| it * it).sum::<f32>() + 1e-9;
        product / (loud(one) * loud(other)).sqrt()
    };
    let first = (hz / 450.0) as usize;
    let all: Vec<f32> = (first..(hz / 55.0) as usize).map(likeness).collect();
    let best = all.iter().copied().fold(0.0, f32::max);
    if best < 0.7 {
        return None;
    }
    let mut at = all.iter().position(|it| *it > 0.9 * best)?;
    while all.get(at + 1).is_some_and(|next| *next > all.get(at).copied().unwrap_or_default()) {
        at += 1;
    }
    Some(hz / (first + at) as f32)
}

/// The middle of the three lowest resonances over all pieces, by linear prediction.
fn formants(said: &Spoken) -> [f32; 3] {
    let all: Vec<[f32; 3]> = pieces(said).filter_map(|piece| tops(piece, said.hz)).collect();
    [0, 1, 2].map(|n| middle(all.iter().filter_map(|it| it.get(n).copied()).collect()))
}

/// The three lowest tops of a piece's spectrum.
fn tops(piece: &[f32], hz: f32) -> Option<[f32; 3]> {
    const ORDER: usize = 24;
    let emphasised =
        piece.windows(2).map(|w| w.last().zip(w.first()).map_or(0.0, |(b, a)| b - 0.95 * a));
    let length = piece.len() as f32;
    let faded: Vec<f32> = emphasised
        .enumerate()
        .map(|(n, it)| it * (0.54 - 0.46 * (TAU * n as f32 / length).cos()))
        .collect();
    let same =
        |lag: usize| -> f32 { faded.iter().zip(faded.iter().skip(lag)).map(|(a, b)| a * b).sum() };
    let same: Vec<f32> = (0..=ORDER).map(same).collect();
    let mut prediction = vec![1.0_f32];
    let mut error = same.first()? * 1.0001;
    for n in 1..=ORDER {
        let sum: f32 =
            prediction.iter().zip(same.iter().take(n + 1).rev()).map(|(a, b)| a * b).sum();
        let reflected = -sum / error;
        prediction.push(0.0);
        let turned: Vec<f32> = prediction.iter().rev().copied().collect();
        prediction.iter_mut().zip(turned).for_each(|(a, b)| *a += reflected * b);
        error *= 1.0 - reflected * reflected;
    }
    let loud = |n: usize| {
        let turn = TAU * 20.0 * n as f32 / hz;
        let sum = prediction.iter().enumerate().fold((0.0, 0.0), |(re, im), (k, a)| {
            (re + a * (turn * k as f32).cos(), im - a * (turn * k as f32).sin())
        });
        1.0 / (sum.0 * sum.0 + sum.1 * sum.1)
    };
    let all: Vec<f32> = (0..250).map(loud).collect();
    let found: Vec<f32> = all
        .windows(3)
        .enumerate()
        .filter(|(n, w)| matches!(w, [a, b, c] if b > a && b > c && *n > 10))
        .map(|(n, _)| 20.0 * (n + 1) as f32)
        .take(3)
        .collect();
    found.try_into().ok()
}

/// Where the middle of the spectrum's energy is.
fn centroid(said: &Spoken) -> f32 {
    let (mut weighted, mut all) = (0.0, 0.0);
    for piece in pieces(said).step_by(4) {
        let piece = piece.get(..1_024).unwrap_or(piece);
        for n in 1..256 {
            let turn = 2.0 * PI * n as f32 / 512.0;
            let sum = piece.iter().enumerate().fold((0.0, 0.0), |(re, im), (k, sample)| {
                let fade = 0.5 - 0.5 * (TAU * k as f32 / piece.len() as f32).cos();
                (
                    re + sample * fade * (turn * k as f32).cos(),
                    im + sample * fade * (turn * k as f32).sin(),
                )
            });
            let power = sum.0 * sum.0 + sum.1 * sum.1;
            weighted += power * n as f32 * said.hz / 512.0;
            all += power;
        }
    }
    weighted / f32::max(all, 1e-9)
}

/// The median.
fn middle(mut all: Vec<f32>) -> f32 {
    all.sort_by(f32::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or_default()
}

/// A time as it is printed.
fn milliseconds(time: Duration) -> f32 {
    time.as_secs_f32() * 1_000.0
}

/// Resident memory of this process, in MB.
fn resident() -> f32 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f32>().ok()).unwrap_or_default()
        / 1_024.0
}
