//! Tests with released weights, if the environment names their folder (the README names the
//! source).

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::{Model, Options, Scratch, TranscribeError, Window};

/// The folder; reports the skipped test without one.
pub(super) fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("WHISPER_MODEL").map(PathBuf::from);
    if folder.is_none() {
        skipped("WHISPER_MODEL names no folder with model.bin, tokenizer.json and config.json");
    }
    folder
}

/// Reports skipped tests on stderr, past libtest's capture, and in the file that
/// `GLYPHOXA_TEST_SKIPPED` names.
fn skipped(reason: &str) {
    let line = format!("SKIPPED: tests with Whisper's weights, for {reason}\n");
    _ = std::io::stderr().write_all(format!("\n{line}").as_bytes());
    let Some(file) = std::env::var_os("GLYPHOXA_TEST_SKIPPED") else { return };
    let file = File::options().append(true).create(true).open(file);
    file.unwrap().write_all(line.as_bytes()).unwrap();
}

/// A glide up and down with overtones: neither speech nor silence.
fn glide(seconds: usize) -> Vec<f32> {
    let mut phase = 0.0f32;
    let sample = |i: usize| {
        phase += 0.01 + 0.05 * (i as f32 / 9000.0).sin().abs();
        0.1 * (phase.sin() + 0.5 * (2.0 * phase).sin())
    };
    (0..seconds * 16_000).map(sample).collect()
}

#[test]
fn silence_is_doubtful_in_every_window() {
    let Some(folder) = folder() else { return };
    let model = Model::load(folder).unwrap();
    let mut scratch = Scratch::new();
    for window in [Window::default(), Window::Full] {
        let options = Options {
            window,
            prompt: "Names: Thorin, Elara.",
            language: Some("en"),
            ..Options::default()
        };
        let heard = model.transcribe(&mut scratch, &[0.0; 32_000], &options, &|| false).unwrap();
        assert!(heard.is_doubtful(), "{heard:?}");
        assert!(heard.tokens.len() < 10, "{heard:?}");
    }
}

#[test]
fn prompts_are_cut_into_few_tokens() {
    let Some(folder) = folder() else { return };
    let model = Model::load(folder).unwrap();
    // GPT-2 has " Names", ":", " Thor", "in", ",", " El", "ara", "."; the multilingual vocabulary other pieces
    let tokens = model.prompt("Names: Thorin, Elara.");
    assert!(tokens.len() == 8 || model.is_multilingual() && tokens.len() <= 10, "{tokens:?}");
    assert_eq!(model.tokens.decode(&tokens), "Names: Thorin, Elara.");
}

#[test]
fn call_that_is_not_wanted_any_more_ends_soon() {
    let Some(folder) = folder() else { return };
    let model = Model::load(folder).unwrap();
    let samples = glide(10);
    let options = Options { window: Window::Full, ..Options::default() };
    let mut waits = Vec::new();
    for after in (0..10).map(|i| Duration::from_millis(5 + 40 * i)) {
        let stopped = AtomicBool::new(false);
        let begin = Instant::now();
        let wanted = || {
            let stop = begin.elapsed() >= after;
            stopped.fetch_or(stop, Ordering::Relaxed);
            stop
        };
        let heard = model.transcribe(&mut Scratch::new(), &samples, &options, &wanted);
        if stopped.into_inner() {
            assert_eq!(heard, Err(TranscribeError::Cancelled));
            waits.push(begin.elapsed() - after);
        }
    }
    waits.sort();
    // the median, because other programs may have taken the processor
    let middle = waits[waits.len() / 2];
    eprintln!("stops took {waits:?}");
    assert!(cfg!(debug_assertions) || middle < Duration::from_millis(15), "{waits:?}");
}
