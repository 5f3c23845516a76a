//! Ends of turns, through the real program: by what was said, heard in real time.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde_json::Value;

use crate::support::{
    deepgram::DeepgramServer,
    program::Place,
    skipped::{skipped, third_party},
    speech::{padded, plain_wav, speech},
    weights::weights,
};

/// Bartok, who takes a moment to begin.
const CAST: &str = r#"
npcs:
  - name: Bartok the Barkeep
    aliases: [Bartok]
    voice: { provider: flite, voice_id: kal16 }
    lines: [{ say: "That is how it is." }]
"#;

/// Lines of a recording, heard in real time by Whisper at a table whose turns end as `turn` says.
fn heard(models: &Path, turn: &str, samples: &[i16]) -> Vec<Value> {
    let place = Place::with_config(&format!("turn: {{ {turn} }}{CAST}"));
    lines(&place.env("GLYPHOXA_MODELS", &models.display().to_string()), samples)
}

/// Lines of a recording that is understood as `texts`, divided by its pauses, as soon as it is heard.
fn heard_at_once(turn: &str, texts: &[&str], samples: &[i16]) -> Vec<Value> {
    let server = DeepgramServer::start("dg-key-of-endings");
    server.says(texts);
    let config = format!("providers:\n{}turn: {{ {turn} }}{CAST}", server.entry());
    lines(&Place::with_config(&config), samples)
}

fn lines(place: &Place, samples: &[i16]) -> Vec<Value> {
    place.write("said.wav", plain_wav(samples));
    let said = ["--speaker", "Anna", "--at", "0", "--in", "said.wav"];
    let ran = place.run(&[&["ask", "--json", "--realtime"][..], &said].concat());
    assert!(ran.stderr.is_empty(), "nothing is wrong: {}", ran.stderr);
    ran.lines()
}

/// Wait for the end of the utterance of `lines`, and for its final, in ms.
#[track_caller]
fn waited(lines: &[Value]) -> f64 {
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert_eq!(lines[0]["outcome"], "spoken", "{lines:#?}");
    lines[0]["ms"]["speech_end_to_final"].as_f64().expect("a time")
}

#[test]
fn missing_sound_model_is_reported_and_skipped() {
    for detector in ["model", "both"] {
        let place = Place::with_config(&format!("turn: {{ detector: {detector} }}{CAST}"));
        let asked = ["ask", "--json", "--text", "Bartok, what is the news?"];
        let ran = place.run(&asked).ends_with(0);
        let said = "smart-turn is not here";
        assert!(ran.stderr.contains(said) && ran.stderr.contains("glyphoxa models get smart-turn"));
        let doctor = place.run(&["doctor"]);
        let finding = doctor.stdout.lines().find(|line| line.contains("end of turn"));
        assert!(finding.is_some_and(|it| it.starts_with('✗') && it.contains(said)), "{finding:?}");
        let broken = place.path("data/models/smart-turn/smart-turn-v3.2-cpu.onnx");
        std::fs::create_dir_all(broken.parent().unwrap()).unwrap();
        std::fs::write(broken, vec![8; 100_000]).unwrap();
        let ran = place.run(&asked).ends_with(0);
        assert!(ran.stderr.contains("differs from the published file"), "{}", ran.stderr);
    }
}

/// Held while Whisper or Smart Turn hears in real time: two at once would make each other late.
static HEARS: Mutex<()> = Mutex::new(());

/// Says `said` up to six times, since hearing on a busy machine may be late: once the end is waited
/// for much shorter than by silence.
#[track_caller]
fn assert_sooner(models: &Path, turn: &str, said: &[i16]) {
    let mut waits = Vec::new();
    while waits.len() < 6 && waits.iter().all(|wait| *wait >= 750.0) {
        waits.push(waited(&heard(models, turn, said)));
    }
    assert!(waits.iter().any(|wait| *wait < 750.0), "{turn}: {waits:?} ms");
}

/// Judges the best of `tries`.
#[track_caller]
fn assert_words_decide(tries: usize) {
    let [begun, rest] = ["Bartok, I draw my sword and", "look around the room."];
    let said = [speech("rms", begun), padded(0.6, &speech("rms", rest), 0.0)].concat();
    let heard_as = |turn: &str, utterances: usize| {
        let mut results = (0..tries).map(|_| heard_at_once(turn, &[begun, rest], &said));
        results.find(|lines| lines.len() == utterances).expect("so many utterances")
    };
    let whole = heard_as("detector: text", 1);
    assert_eq!(whole[0]["heard"], format!("{begun} {rest}"));
    // Silence alone cuts it in two.
    heard_as("detector: off, patience: snappy", 2);
}

/// Six tries: on a busy machine words and sound may be late, and no figure of a line shows it.
#[test]
fn words_before_a_pause_decide_about_its_end() {
    assert_words_decide(6);
}

#[test]
fn words_decide_at_the_first_try_in_time() {
    assert_words_decide(1);
}

#[test]
fn question_ends_a_turn_sooner_in_time() {
    let text = "Bartok, what is the news from the north?";
    let question = speech("rms", text);
    let wait = |turn: &str| waited(&heard_at_once(turn, &[text], &question));
    let (by_silence, by_words) =
        (wait("detector: off, patience: patient"), wait("patience: patient"));
    assert!(by_silence >= 850.0, "{by_silence} ms");
    assert!(by_words < 750.0, "{by_words} ms");
}

/// Like [`words_before_a_pause_decide_about_its_end`], with Whisper, which a busy machine makes late.
#[test]
fn words_decide_when_turn_ends_by_whisper() {
    let Some(models) = weights() else { return };
    let _alone = HEARS.lock().unwrap_or_else(PoisonError::into_inner);
    let begun = speech("rms", "Bartok, I draw my sword and");
    let rest = padded(0.6, &speech("rms", "look around the room"), 0.0);
    let said = [begun, rest].concat();
    // Up to six times, since hearing on a busy machine may be late.
    let mut tries = (0..6).map(|_| heard(&models, "detector: text", &said));
    let whole = tries.find(|lines| lines.len() == 1).expect("one utterance").remove(0);
    let words = whole["heard"].as_str().unwrap_or_default();
    assert!(words.starts_with("Bartok") && words.contains("ook around"), "{whole:#}");
    let lines = heard(&models, "detector: off, patience: snappy", &said);
    assert!(lines.len() == 2, "silence alone cuts it in two: {lines:#?}");
    let question = speech("rms", "Bartok, what is the news from the north?");
    let by_silence = waited(&heard(&models, "detector: off, patience: patient", &question));
    assert!(by_silence >= 850.0, "{by_silence} ms");
    assert_sooner(&models, "patience: patient", &question);
}

/// A folder of models with Smart Turn in it; `None`, which is said.
fn with_smart_turn() -> Option<PathBuf> {
    let named = std::env::var_os("GLYPHOXA_MODELS").map(PathBuf::from);
    let installed = third_party("models");
    let mut folders = named.into_iter().chain([installed]);
    let has = |folder: &PathBuf| folder.join("smart-turn/smart-turn-v3.2-cpu.onnx").is_file();
    let found = folders.find(has).and_then(|folder| folder.canonicalize().ok());
    if found.is_none() {
        skipped("tests with Smart Turn", "GLYPHOXA_MODELS names no folder with smart-turn");
    }
    found
}

#[test]
fn smart_turn_ends_turn_by_sound_in_time() {
    let Some(models) = with_smart_turn() else { return };
    let _alone = HEARS.lock().unwrap_or_else(PoisonError::into_inner);
    // Of flite's sentences this one sounds finished.
    let question = speech("slt", "What news from the north, Bartok?");
    for detector in ["both", "model"] {
        assert_sooner(&models, &format!("detector: {detector}, patience: patient"), &question);
    }
}
