//! Piper voices through the real program. Where `GLYPHOXA_MODELS` names a folder of models with a
//! Piper voice, one speaks; elsewhere those tests say SKIPPED.

use std::{os::unix::fs::symlink, path::PathBuf};

use serde_json::Value;

use crate::support::{
    cast::shipped,
    program::Place,
    skipped::skipped,
    speech::read_wav,
    timbre::{Sound, formants, pitch},
};

/// Pip has only a Piper voice, Mira a second one.
fn cast(voice: &str) -> String {
    format!(
        r#"
npcs:
  - name: Pip
    voice: {{ provider: piper, voice_id: {voice} }}
    lines: [{{ say: "Ah, adventurers! Take a seat, and tell me what brings you here." }}]
  - name: Mira
    pronunciation: {{ Mira: meera }}
    voice:
      provider: piper
      voice_id: {voice}
      pitch_shift: 8
      formant_shift: 3
      speed_factor: 1.1
      fallback: {{ provider: flite, voice_id: slt, pitch_shift: 1 }}
    lines: [{{ say: "Mira hears you." }}]
"#
    )
}

#[test]
fn fallback_voice_speaks_without_piper_files() {
    let place = Place::with_config(&cast("joe"));
    let ran = place.run(&["ask", "--json", "--text", "Mira, hello", "--out", "o.wav"]);
    let line = ran.ends_with(0).line();
    assert_eq!((&line["outcome"], &line["tts"]), (&Value::from("spoken"), &Value::from("flite")));

    let ran = place.run(&["ask", "--json", "--text", "Pip, hello", "--out", "o.wav"]).ends_with(1);
    let line = ran.line();
    assert_eq!(line["outcome"], "voice_error", "{line:#}");
    let detail = line["detail"].as_str().expect("a detail");
    assert!(detail.contains("no Piper voice 'joe' in '"), "{detail}");
    assert!(detail.contains("(glyphoxa models get piper-joe, or "), "{detail}");

    let doctor = place.run(&["doctor"]).ends_with(1).stdout;
    assert!(
        doctor.contains("✓ voice: Mira speaks (in its fallback voice, flite 'slt'"),
        "{doctor}"
    );
    assert!(doctor.contains("✗ voice: no Piper voice 'joe'"), "{doctor}");
}

#[test]
fn keys_of_voices_are_checked() {
    let voice = |text: &str| {
        let npc =
            format!("npcs: [{{ name: Pip, voice: {{ {text} }}, lines: [{{ say: Hi. }}] }}]\n");
        Place::with_config(&npc).run(&["check"])
    };
    voice("provider: piper, voice_id: 'libritts#p3922', formant_shift: -2").ends_with(0);
    for (text, part) in [
        ("provider: piper, voice_id: ../joe", "unknown voice '../joe'"),
        ("provider: flite, formant_shift: 2", "'formant_shift' has no effect on 'flite'"),
        ("provider: piper, formant_shift: 7", "formant_shift"),
        ("provider: piper, fallback: { provider: openai, voice_id: x }", "openai"),
        ("provider: piper, fallback: { provider: flite, voice_id: nobody }", "unknown voice"),
        ("provider: piper, fallback: { provider: piper, fallback: {} }", "fallback"),
    ] {
        let ran = voice(text).ends_with(2);
        assert!(ran.stderr.contains(part) || ran.stdout.contains(part), "{text}: {ran:#?}");
    }
}

/// The folder of models, and a voice in it.
fn models() -> Option<(PathBuf, String)> {
    let models = std::env::var_os("GLYPHOXA_MODELS").map(PathBuf::from);
    let models = models.and_then(|models| models.canonicalize().ok());
    let names = models.iter().flat_map(|models| models.read_dir().into_iter().flatten());
    let names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let voice = names.filter_map(|name| name.strip_prefix("piper-").map(str::to_owned)).min();
    if voice.is_none() {
        skipped("tests with a Piper voice", "GLYPHOXA_MODELS names no folder with piper-joe");
    }
    Some((models?, voice?))
}

#[test]
fn several_characters_speak_out_of_one_voice() {
    let Some((models, voice)) = models() else { return };
    let place = Place::with_config(&cast(&voice));
    std::fs::create_dir(place.path("data")).unwrap();
    symlink(models, place.path("data/models")).unwrap();
    let asked =
        ["ask", "--json", "--text", "Pip, hello", "--text", "Mira, hello", "--out", "o.wav"];
    let lines = place.run(&asked).ends_with(0).lines();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    for (line, npc) in lines.iter().zip(["Pip", "Mira"]) {
        let spoken = (line["npc"].as_str(), line["outcome"].as_str(), line["tts"].as_str());
        assert_eq!(spoken, (Some(npc), Some("spoken"), Some("piper")), "{line:#}");
        assert!(line["audio_ms"].as_u64().is_some_and(|ms| ms > 700), "{line:#}");
    }
    let doctor = place.run(&["doctor"]).ends_with(0).stdout;
    let found = format!("✓ voice: Mira speaks (piper '{voice}'");
    assert!(doctor.contains(&found) && doctor.contains("✓ speech service: "), "{doctor}");
}

/// Sound of a voice.
#[derive(Debug)]
struct Character {
    npc: &'static str,
    pitch: f32,
    formants: [f32; 3],
    seconds: f32,
}

impl Character {
    /// True if listeners can tell the two apart: pitch is more than 15 of 100 apart, or the resonances
    /// are more than 8, the three taken together.
    fn is_told_from(&self, other: &Self) -> bool {
        let apart = |a: f32, b: f32| a.max(b) / a.min(b) - 1.0;
        let middle = |it: &Self| it.formants.iter().product::<f32>().cbrt();
        apart(self.pitch, other.pitch) > 0.15 || apart(middle(self), middle(other)) > 0.08
    }
}

#[test]
fn shipped_voices_are_acoustically_distinct() {
    let Some((models, _)) = models().filter(|(_, voice)| voice == "joe") else { return };
    let cast = shipped();
    // No two renderings are alike: the longer, the closer their middles are.
    let sentence = "Ah, adventurers! Take a seat, and tell me what brings you here tonight. \
                    The road from Ravenford is long, and nobody walks it for the weather.";
    let npcs: String = cast.iter().map(|npc| npc.saying(sentence)).collect();
    let place = Place::with_config(&format!("npcs:\n{npcs}"));
    let place = place.env("GLYPHOXA_MODELS", &models.display().to_string());
    let characters: Vec<Character> = cast
        .iter()
        .map(|npc| {
            let said = ["ask", "--json", "--text", "hello", "--npc", npc.name, "--out", "o.wav"];
            let line = place.run(&said).ends_with(0).line();
            assert_eq!(line["tts"].as_str(), npc.value("provider"), "{line:#}");
            let sound = Sound::of_48_khz(&read_wav(&place.path("o.wav")).samples);
            let (_, pitch, _) = pitch(&sound);
            let (formants, seconds) = (formants(&sound), sound.seconds());
            Character { npc: npc.name, pitch, formants, seconds }
        })
        .collect();
    println!("npc                  pitch   F1   F2   F3 seconds");
    for Character { npc, pitch, formants: [one, two, three], seconds } in &characters {
        println!("{npc:20} {pitch:5.0} {one:4.0} {two:4.0} {three:4.0} {seconds:7.2}");
    }
    for (at, one) in characters.iter().enumerate() {
        for other in &characters[at + 1..] {
            assert!(one.is_told_from(other), "{one:?} and {other:?}");
        }
    }
}
