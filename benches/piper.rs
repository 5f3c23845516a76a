//! Piper and Kokoro voices: loading, first sound, real time factor, memory; what the voices of the five
//! shipped NPCs are like.
//!
//! `GLYPHOXA_MODELS` names the folder of models; its Piper voice joe is measured, or that of
//! `GLYPHOXA_VOICE`, and, where Kokoro is there, bm_george, or `GLYPHOXA_KOKORO_VOICE`. The NPCs speak
//! through the program, as their files have it. Prints one JSON line a figure. What is not there is
//! skipped, and said so on stderr. `--quick` has one sentence instead of seven, and one NPC.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench that cannot go on ends")]
#![expect(clippy::cast_precision_loss, reason = "lengths of seconds of sound")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::StreamExt;
use glyphoxa::measure::{
    Attempts, Cores, Kokoro, KokoroOptions, OneShot, Pcm, Piper, PiperOptions, SpeakRequest, Voice,
};
use tempfile::TempDir;

use self::{
    cast::shipped,
    skipped::skipped,
    timbre::{Sound, centroid, formants, middle, pitch},
};

#[path = "../tests/support/cast.rs"]
#[expect(dead_code, reason = "another bench asks for single values")]
mod cast;
#[path = "support/skipped.rs"]
mod skipped;
#[path = "../tests/support/timbre.rs"]
mod timbre;

/// About five seconds.
const SENTENCE: &str = "Ah, adventurers! Take a seat, and tell me what brings you to Ravenford on \
                        a night like this.";
/// Runs of a figure; one with `--quick`.
const RUNS: usize = 7;
/// A sentence that was spoken.
struct Spoken {
    /// Until its first sound.
    first: Duration,
    /// Until its last.
    whole: Duration,
    /// The speech.
    sound: Sound,
}

#[tokio::main]
async fn main() {
    let Some(models) = std::env::var_os("GLYPHOXA_MODELS").map(PathBuf::from) else {
        return skipped("piper", "GLYPHOXA_MODELS names no folder of models");
    };
    let quick = std::env::args().any(|argument| argument == "--quick");
    let runs = if quick { 1 } else { RUNS };
    let named = |key| std::env::var_os(key).and_then(|id| id.into_string().ok());
    let id = named("GLYPHOXA_VOICE");
    if id.is_none() && !models.join("piper-joe").is_dir() {
        skipped("voices of Piper and the cast", "GLYPHOXA_MODELS has no piper-joe");
    } else {
        let id = id.unwrap_or_else(|| "joe".to_owned());
        let piper = Piper::new(&PiperOptions { models: vec![models.clone()] }, Cores::default());
        let piper = Service { name: "piper", service: Arc::new(piper) };
        piper.measured(&Voice::as_is("piper", &id), runs).await;
        drop(piper);
        characters(&models, if quick { 1 } else { usize::MAX });
    }
    if !models.join("kokoro").is_dir() {
        return skipped("voices of Kokoro", "GLYPHOXA_MODELS has no kokoro");
    }
    let id = named("GLYPHOXA_KOKORO_VOICE").unwrap_or_else(|| "bm_george".to_owned());
    let options = KokoroOptions { models: vec![models], slowest: 1_000.0 };
    let kokoro = Kokoro::new(&options, Cores::default());
    let kokoro = Service { name: "kokoro", service: Arc::new(kokoro) };
    kokoro.measured(&Voice::as_is("kokoro", &id), runs).await;
}

/// A measured service.
struct Service {
    /// In the lines that are printed.
    name: &'static str,
    /// The synthesiser.
    service: Arc<dyn OneShot>,
}

impl Service {
    /// From nothing to three tables at once.
    async fn measured(&self, voice: &Voice, runs: usize) {
        let (name, service) = (self.name, &self.service);
        let before = resident();
        let begun = Instant::now();
        service.warm(voice).await.expect("GLYPHOXA_MODELS has that voice");
        println!(
            "{{\"bench\": \"{name}\", \"what\": \"load\", \"ms\": {:.0}, \"rss_mb\": {:.0}, \"rss_before_mb\": {before:.0}, \"load_average\": \"{}\"}}",
            milliseconds(begun.elapsed()),
            resident(),
            fs::read_to_string("/proc/loadavg").unwrap_or_default().trim(),
        );
        let mut all = Vec::new();
        for _ in 0..runs {
            all.push(speak(service, voice.clone()).await);
        }
        let median = |of: &dyn Fn(&Spoken) -> f32| middle(all.iter().map(of).collect());
        println!(
            "{{\"bench\": \"{name}\", \"what\": \"sentence\", \"seconds\": {:.2}, \"first_ms\": {:.0}, \"rtf\": {:.3}, \"rss_mb\": {:.0}}}",
            median(&|it| it.sound.seconds()),
            median(&|it| milliseconds(it.first)),
            median(&|it| it.whole.as_secs_f32() / it.sound.seconds()),
            resident(),
        );
        let at_once = 3;
        let begun = Instant::now();
        let many = (0..at_once).map(|_| speak(service, voice.clone()));
        let many = futures::future::join_all(many).await;
        let sound: f32 = many.iter().map(|it| it.sound.seconds()).sum();
        println!(
            "{{\"bench\": \"{name}\", \"what\": \"at_once\", \"tables\": {at_once}, \"first_ms\": {:.0}, \"rtf\": {:.3}, \"rss_mb\": {:.0}, \"most_rss_mb\": {:.0}}}",
            many.iter().map(|it| milliseconds(it.first)).fold(0.0, f32::max),
            begun.elapsed().as_secs_f32() / sound,
            resident(),
            status("VmHWM:"),
        );
    }
}

/// Prints length, pitch and timbre of the first `count` shipped NPCs' voices, spoken by the program.
fn characters(models: &Path, count: usize) {
    let folder = TempDir::new().expect("a folder");
    let cast = shipped();
    let npcs: String = cast.iter().map(|npc| npc.saying(SENTENCE)).collect();
    fs::write(folder.path().join("glyphoxa.yaml"), format!("npcs:\n{npcs}")).expect("a file");
    for npc in cast.iter().take(count) {
        let out = folder.path().join("said.wav");
        let mut ask = Command::new(env!("CARGO_BIN_EXE_glyphoxa"));
        ask.args(["ask", "--json", "--text", "hello", "--npc", npc.name, "--out"]).arg(&out);
        ask.current_dir(folder.path()).env("GLYPHOXA_MODELS", models);
        let ran = ask.output().expect("the program starts");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let bytes = fs::read(&out).expect("a recording");
        let (pairs, _) = bytes.get(44..).unwrap_or_default().as_chunks::<2>();
        let samples: Vec<i16> = pairs.iter().map(|pair| i16::from_le_bytes(*pair)).collect();
        let said = Sound::of_48_khz(&samples);
        let (low, median, high) = pitch(&said);
        println!(
            "{{\"bench\": \"character\", \"npc\": \"{}\", \"seconds\": {:.2}, \"pitch_hz\": {median:.0}, \"pitch_p10\": {low:.0}, \"pitch_p90\": {high:.0}, \"formants_hz\": {:?}, \"centroid_hz\": {:.0}}}",
            npc.name,
            said.seconds(),
            formants(&said).map(f32::round),
            centroid(&said),
        );
    }
}

/// Lets `voice` say the sentence.
async fn speak(service: &Arc<dyn OneShot>, voice: Voice) -> Spoken {
    let begun = Instant::now();
    let mut chunks = service.speak(SpeakRequest {
        text: SENTENCE.to_owned(),
        voice,
        foreign: None,
        pronunciation: Arc::from([]),
        style: None,
        attempts: Attempts::default(),
    });
    let (mut first, mut sound) = (Duration::ZERO, Sound { samples: Vec::new(), hz: 1.0 });
    while let Some(chunk) = chunks.next().await {
        let Pcm { samples, rate } = chunk.expect("it speaks");
        if sound.samples.is_empty() {
            first = begun.elapsed();
        }
        sound.hz = rate.hz() as f32;
        sound.samples.extend(samples.iter().map(|sample| f32::from(*sample) / 32_768.0));
    }
    Spoken { first, whole: begun.elapsed(), sound }
}

/// A time as it is printed.
fn milliseconds(time: Duration) -> f32 {
    time.as_secs_f32() * 1_000.0
}

/// Resident memory of this process, in MB.
fn resident() -> f32 {
    status("VmRSS:")
}

/// Value of `key` in the kernel's status of this process, in MB.
fn status(key: &str) -> f32 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f32>().ok()).unwrap_or_default()
        / 1_024.0
}
