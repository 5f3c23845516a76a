//! Kokoro voices through the real program. Where `GLYPHOXA_MODELS` names a folder of models with
//! Kokoro, one speaks; elsewhere those tests say SKIPPED.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use serde_json::Value;

use crate::support::{
    program::{Place, Ran},
    skipped::skipped,
};

/// Pip has only a voice of Kokoro, Mira and Hale a second one.
const CAST: &str = r#"
npcs:
  - name: Pip
    voice: { provider: kokoro, voice_id: bm_george }
    lines: [{ say: "Ah, adventurers! Take a seat, and tell me what brings you here." }]
  - name: Mira
    pronunciation: { Mira: meera }
    voice:
      provider: kokoro
      voice_id: af_heart
      pitch_shift: 2
      fallback: { provider: flite, voice_id: slt }
    lines: [{ say: "Mira hears you." }]
  - name: Hale
    voice: { provider: kokoro, voice_id: bm_lewis, fallback: { provider: flite, voice_id: rms } }
    lines: [{ say: "Hale hears you." }]
"#;

fn asked(place: &Place, npc: &str, ends_with: i32) -> (Value, Ran) {
    let hello = format!("{npc}, hello");
    let ran =
        place.run(&["ask", "--json", "--text", &hello, "--out", "o.wav"]).ends_with(ends_with);
    (ran.line(), ran)
}

fn spoken_by(place: &Place, npc: &str) -> Value {
    let (line, _) = asked(place, npc, 0);
    assert_eq!(line["outcome"], "spoken", "{line:#}");
    line["tts"].clone()
}

#[test]
fn second_voice_speaks_where_kokoro_is_not() {
    let place = Place::with_config(CAST);
    assert_eq!(spoken_by(&place, "Mira"), "flite");
    let (line, _) = asked(&place, "Pip", 1);
    assert_eq!(line["outcome"], "voice_error", "{line:#}");
    let detail = line["detail"].as_str().expect("a detail");
    assert!(detail.contains("kokoro is not in '"), "{detail}");
    assert!(detail.contains("(glyphoxa models get kokoro)"), "{detail}");

    let doctor = place.run(&["doctor"]).ends_with(1).stdout;
    assert!(
        doctor.contains("✓ voice: Mira speaks (in its fallback voice, flite 'slt'"),
        "{doctor}"
    );
    assert!(doctor.contains("✗ voice: kokoro is not in '"), "{doctor}");
}

#[test]
fn second_voice_speaks_where_kokoro_is_damaged() {
    let place = Place::with_config(CAST);
    let folder = place.path("data/models/kokoro");
    fs::create_dir_all(&folder).unwrap();
    for voice in ["bm_george", "af_heart", "bm_lewis"] {
        fs::write(folder.join(format!("{voice}.bin")), [0; 522_240]).unwrap();
    }
    // A network that ends in the middle of its graph.
    fs::write(folder.join("kokoro-v1.0.int8.onnx"), b"\x08\x08\x3a\xff\x7fgone").unwrap();
    // The first answer finds out; the second one does not try again so soon.
    assert_eq!(asked(&place, "Hale", 0).0["outcome"], "spoken");
    let doctor = place.run(&["doctor"]).ends_with(1).stdout;
    let named = "the files of Kokoro in '";
    assert!(doctor.contains(&format!("✗ voice: {named}")), "{doctor}");
    assert!(doctor.contains("it is cut off or not an ONNX network (download"), "{doctor}");
    assert!(
        doctor.contains("✓ voice: Mira speaks (in its fallback voice, flite 'slt'"),
        "{doctor}"
    );
}

#[test]
fn voices_and_limits_are_checked() {
    let check = |config: &str| Place::with_config(config).run(&["check"]);
    check(CAST).ends_with(0);
    let voice = |text: &str| {
        format!("npcs: [{{ name: Pip, voice: {{ {text} }}, lines: [{{ say: Hi. }}] }}]\n")
    };
    check(&voice("provider: kokoro, formant_shift: -2, speed_factor: 0.8")).ends_with(0);
    let ran = check(&voice("provider: kokoro, voice_id: bm_georg")).ends_with(2);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    for part in ["unknown voice 'bm_georg'", "did you mean 'bm_george'?", "af_alloy", "bm_lewis"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for limit in ["0", "11", "fast"] {
        let ran = check(&format!("providers: {{ slowest_voice: {limit} }}\n{CAST}")).ends_with(2);
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains("slowest_voice"), "{ran:#?}");
    }
}

/// The folder of models, if Kokoro is there.
fn models() -> Option<PathBuf> {
    let models = std::env::var_os("GLYPHOXA_MODELS").map(PathBuf::from);
    let models = models.and_then(|models| models.canonicalize().ok());
    let models = models.filter(|models| models.join("kokoro/bm_george.bin").is_file());
    if models.is_none() {
        skipped("tests with Kokoro", "GLYPHOXA_MODELS names no folder with kokoro");
    }
    models
}

/// A place with the cast and the models, where a second of speech may take so many seconds.
fn with_models(slowest: &str) -> Option<Place> {
    let models = models()?;
    let place = Place::with_config(&format!("providers: {{ slowest_voice: {slowest} }}\n{CAST}"));
    fs::create_dir(place.path("data")).unwrap();
    symlink(models, place.path("data/models")).unwrap();
    Some(place)
}

#[test]
fn answers_are_spoken_by_kokoro() {
    let Some(place) = with_models("10") else { return };
    for npc in ["Pip", "Mira"] {
        let (line, _) = asked(&place, npc, 0);
        assert_eq!((&line["outcome"], &line["tts"]), (&"spoken".into(), &"kokoro".into()));
        assert!(line["audio_ms"].as_u64().is_some_and(|ms| ms > 500), "{line:#}");
    }
    let doctor = place.run(&["doctor"]).ends_with(0).stdout;
    assert!(doctor.contains("✓ speech service: kokoro takes "), "{doctor}");
    assert!(doctor.contains(" s for a second of speech; 28 voices: af_alloy, "), "{doctor}");
    assert!(doctor.contains("✓ voice: Mira speaks (kokoro 'af_heart'"), "{doctor}");
}

#[test]
fn slow_speech_gets_fallback_voice_by_kokoro() {
    let Some(place) = with_models("0.01") else { return };
    let (line, ran) = asked(&place, "Mira", 0);
    assert_eq!(line["outcome"], "spoken", "{line:#}");
    let told = ran.stderr.matches("kokoro is too slow on this machine: it takes ").count();
    // Once for all, and once for Pip, who has no second voice.
    assert_eq!(told, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("NPCs cannot speak with kokoro"), "{}", ran.stderr);
    let doctor = place.run(&["doctor"]).ends_with(1).stdout;
    assert!(doctor.contains("✗ speech service: kokoro is too slow on this machine"), "{doctor}");
    assert!(doctor.contains("✗ voice: kokoro is too slow on this machine: it takes "), "{doctor}");
    assert!(
        doctor.contains("✓ voice: Hale speaks (in its fallback voice, flite 'rms'"),
        "{doctor}"
    );
    assert!(doctor.contains("(use a piper or flite voice, or raise providers.slowest_voice)"));
}
