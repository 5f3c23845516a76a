//! Whisper through the real program, with its real weights, whole and damaged.

use std::{fs, process::Command};

use serde_json::{Value, json};

#[path = "../crates/whisper-thin/examples/error_rate/sounds.rs"]
mod sounds;

use crate::support::{
    program::{Place, Ran, repository, run},
    speech::{padded, plain_wav, speech},
    weights::{self, weights},
};

const SET: &str = "whisper-tiny.en";
const ROLL: &str = "Bartok, roll two d six plus three";

/// A folder whose program hears with the weights, if they are here.
fn place() -> Option<Place> {
    Place::new().with_whisper()
}

/// Line that `glyphoxa ask` reports when `text` is said, and its stderr.
fn said(place: &Place, voice: &str, text: &str) -> (Value, String) {
    place.write("said.wav", plain_wav(&speech(voice, text)));
    let ran = place.run(&["ask", "--json", "--in", "said.wav"]).ends_with(0);
    (ran.line(), ran.stderr)
}

/// Finding of `doctor` about hearing.
fn doctor(place: &Place) -> Value {
    let findings = place.run(&["doctor", "--json"]).lines();
    findings.into_iter().find(|finding| finding["what"] == "hearing").expect("it looks at hearing")
}

#[track_caller]
fn assert_rolled(line: &Value) {
    assert_eq!(line["tools"][0]["arguments"], json!({"expression": "2d6+3"}), "{line:#}");
    assert_eq!(line["outcome"], "spoken", "{line:#}");
}

#[test]
fn dice_and_names_are_heard_by_whisper() {
    let Some(place) = place() else { return };
    for voice in ["slt", "rms", "awb"] {
        let (line, stderr) = said(&place, voice, ROLL);
        assert_rolled(&line);
        let heard = line["heard"].as_str().unwrap();
        assert!(heard.starts_with("Bartok") && heard.ends_with(['.', '3']), "{line:#}");
        assert_eq!(stderr, "", "nothing is wrong");
    }
    let hearing = doctor(&place);
    assert_eq!(hearing["ok"], true, "{hearing:#}");
    assert!(hearing["detail"].as_str().unwrap().starts_with("Whisper tiny.en"), "{hearing:#}");
}

#[test]
fn demo_recording_is_heard_by_whisper() {
    let recording = repository("assets/demo/player.wav");
    let Some(place) = place() else { return };
    let ran = place.run(&["ask", "--json", "--in", recording.to_str().unwrap()]).ends_with(0);
    let line = ran.line();
    assert_eq!(line["heard"], "Bartok, please roll 2d6 plus 3.");
    assert_eq!(line["npc"], "Bartok the Barkeep", "{line:#}");
    assert_rolled(&line);
}

#[test]
fn utterances_are_heard_apart_by_whisper() {
    let Some(place) = place() else { return };
    let news = padded(1.5, &speech("rms", "what is the news"), 0.0);
    place.write("both.wav", plain_wav(&[speech("rms", ROLL), news].concat()));
    let lines = place.run(&["ask", "--json", "--in", "both.wav"]).ends_with(0).lines();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert_rolled(&lines[0]);
    let heard = lines[1]["heard"].as_str().unwrap().to_lowercase();
    assert!(heard.contains("what is the news"), "{lines:#?}");
}

/// Half a minute of talk that is for no NPC at the table.
fn talk() -> Vec<f32> {
    let off_topic = include_str!("data/hearing_off_topic.txt");
    let sentences = off_topic.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let said = sentences.flat_map(|said| padded(0.1, &speech("rms", said), 0.0));
    said.take(30 * 16_000).map(|sample| f32::from(sample) / 32_768.0).collect()
}

fn question() -> Vec<f32> {
    let said = speech("rms", "what is the news from the harbour");
    said.into_iter().map(|sample| f32::from(sample) / 32_768.0).collect()
}

/// A cast of one, who answers whatever is understood.
const ALONE: &str = "npcs: [{ name: Bartok, voice: { provider: flite, voice_id: kal16 }, lines: [{ say: Aye. }] }]\n";

/// Lines that `place` makes of a sound; printed.
fn outcomes(place: &Place, name: &str, sound: &[f32]) -> Vec<Value> {
    #[expect(clippy::cast_possible_truncation, reason = "samples between -1 and 1")]
    let sound = sound.iter().map(|sample| (sample.clamp(-1.0, 1.0) * 32_767.0) as i16);
    place.write("sound.wav", plain_wav(&padded(1.0, &sound.collect::<Vec<_>>(), 1.0)));
    let lines = place.run(&["ask", "--json", "--in", "sound.wav"]).lines();
    let heard: Vec<_> = lines.iter().map(|line| (&line["heard"], &line["outcome"])).collect();
    eprintln!("{name}: {heard:?}");
    lines
}

fn is_answered(line: &Value) -> bool {
    !line["npc"].is_null()
}

#[test]
fn noise_and_talk_get_no_answer_by_whisper() {
    let (Some(table), Some(weights)) = (place(), weights()) else { return };
    // He is alone with the speaker, and answers to any word.
    let alone = Place::with_config(ALONE).env("GLYPHOXA_MODELS", &weights.display().to_string());
    for (name, sound) in sounds::all() {
        let lines = outcomes(&alone, name, &sound);
        assert!(!lines.iter().any(is_answered), "{name}: {lines:#?}");
    }
    // It is no sound that decides who is meant by talk, but who is there.
    let lines = outcomes(&table, "30 s of talk, five NPCs", &talk());
    assert!(!lines.is_empty() && !lines.iter().any(is_answered), "{lines:#?}");
    let lines = outcomes(&alone, "30 s of talk, alone with one", &talk());
    assert!(lines.iter().any(is_answered), "{lines:#?}");
    // He does answer to what is said.
    let lines = outcomes(&alone, "a question, alone with one", &question());
    assert!(lines.iter().all(is_answered) && lines.len() == 1, "{lines:#?}");
}

/// A copy of the weights in the place's own folder, with `model.bin` replaced.
fn with_damaged(model: impl FnOnce(&[u8]) -> Vec<u8>) -> Option<Place> {
    let place = Place::with_config(ALONE);
    let from = weights()?.join(SET);
    for entry in fs::read_dir(&from).expect("the weights") {
        let entry = entry.expect("a file");
        let name = entry.file_name().into_string().expect("a name");
        let bytes = fs::read(entry.path()).expect("a file of the weights");
        let bytes = if name == "model.bin" { Vec::new() } else { bytes };
        place.write(&format!("data/models/{SET}/{name}"), bytes);
    }
    let whole = fs::read(from.join("model.bin")).expect("the model");
    place.write(&format!("data/models/{SET}/model.bin"), model(&whole));
    Some(place)
}

/// Nothing is heard, and the error says why and what to do.
#[track_caller]
fn assert_not_heard(place: &Place, why: &str, set: &str) {
    place.write("said.wav", plain_wav(&speech("rms", ROLL)));
    let mut ran = place.run(&["ask", "--json", "--in", "said.wav"]).ends_with(1);
    // A busy machine says first that it is still loading something.
    let is_news = |line: &&str| !line.contains("still loading the speech recogniser");
    ran.stderr = ran.stderr.lines().filter(is_news).collect::<Vec<_>>().join("\n");
    let message = ran.message();
    let hearing = doctor(place);
    assert_eq!(hearing["ok"], false, "{hearing:#}");
    for told in [message, hearing["detail"].as_str().unwrap()] {
        assert!(told.contains(why), "{told}");
        assert!(told.contains(&format!("glyphoxa models get {set}")), "{told}");
    }
}

#[test]
fn cut_model_is_named_and_not_heard_with() {
    let cut = |whole: &[u8]| whole[..whole.len() / 2].to_vec();
    let Some(place) = with_damaged(cut) else { return };
    assert_not_heard(&place, "damaged", SET);
}

#[test]
fn hostile_model_is_named_and_not_heard_with() {
    // As many variables as there can be, each as large as there can be.
    let Some(place) = with_damaged(|whole| {
        let mut hostile = vec![0xff; whole.len()];
        hostile[..64].copy_from_slice(&whole[..64]);
        hostile
    }) else {
        return;
    };
    assert_not_heard(&place, "cannot hear with the model files", SET);
}

/// espeak's German is no voice that Whisper knows: it hears two words in three wrong, and these right.
#[test]
fn german_stop_words_are_heard_by_whisper() {
    let Some(models) = weights::with("whisper-base") else { return };
    let german = "language: de\nnpcs: [{ name: Bartok, language: de, voice: { provider: espeak, \
                  voice_id: de }, lines: [{ say: Ja. }] }]\n";
    let place = Place::with_config(german).env("GLYPHOXA_MODELS", &models.display().to_string());
    for (text, outcome) in
        [("Stopp", "stopped"), ("Halt", "stopped"), ("Guten Abend, Bartok.", "spoken")]
    {
        let mut command = Command::new("espeak-ng");
        command.args(["-v", "de", "-s", "140", "-w"]).arg(place.path("said.wav")).arg(text);
        run(command, "").ends_with(0);
        let line = place.run(&["ask", "--json", "--in", "said.wav"]).line();
        assert_eq!(line["outcome"], outcome, "{text}: {line:#}");
    }
}

#[test]
fn other_language_asks_for_matching_weights() {
    let german = "language: de\nnpcs: [{ name: Bartok, voice: { provider: espeak, voice_id: de }, lines: [{ say: Ja. }] }]\n";
    let Some(models) = weights() else { return };
    // Beside English, the folder may know other languages.
    let mut place = Place::new();
    let english = place.path("models");
    std::fs::create_dir_all(&english).unwrap();
    std::os::unix::fs::symlink(models.join(SET), english.join(SET)).unwrap();
    place = place.env("GLYPHOXA_MODELS", &english.display().to_string());
    place.write("glyphoxa.yaml", german);
    assert_not_heard(&place, "whisper-base is not here", "whisper-base");
}

#[test]
fn without_weights_everything_names_them() {
    let place = Place::with_config(ALONE);
    assert_not_heard(&place, "whisper-tiny.en is not here", SET);
    let Ran { stderr, .. } = place.run(&["ask", "--text", "Bartok, hello"]);
    assert!(!stderr.contains("whisper"), "nothing is wrong: {stderr}");
}
