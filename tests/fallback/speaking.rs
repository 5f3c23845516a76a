//! Lists of voices. Every way in which one may fail is met where they take over from each other
//! (`src/engine/speech/paid_speech/tests.rs`).

use serde_json::json;

use super::{INNARDS, say};
use crate::support::{
    NOBODY,
    chat_server::{ChatServer, Recorded, Script},
    program::Place,
};

const WORDS: &str = "The key is under the mat.";

/// An entry called `name`; `more` are further keys of it.
fn voice(name: &str, base_url: &str, more: &str) -> String {
    format!("    - {{ service: openai, as: {name}, base_url: \"{base_url}\", model: m{more} }}\n")
}

/// A table with the voices of `entries` and an NPC that says one sentence with `keys` of its voice.
fn table(entries: &[String], keys: &str) -> Place {
    let tts = entries.concat();
    Place::with_config(&format!(
        "data_dir: data\nproviders:\n  tts:\n{tts}npcs:\n  - {{ name: Bartok, voice: {{ {keys} }}, \
         lines: [{{ say: \"{WORDS}\" }}] }}\n"
    ))
}

/// Requests for speech.
fn spoken(server: &ChatServer) -> Vec<Recorded> {
    let requests = server.requests().into_iter();
    requests.filter(|it| it.line.ends_with("/audio/speech")).collect()
}

#[test]
fn second_voice_speaks_until_the_first_is_back() {
    let (first, second) = (ChatServer::start(), ChatServer::start());
    first.push(Script::error(500, "server_error", INNARDS));
    let entries = [("first", &first), ("second", &second)];
    let entries = entries.map(|(name, server)| voice(name, &server.base_url(), ""));
    let ran = say(&table(&entries, "voice_id: alloy"), 2).ends_with(0);
    for (line, spoke) in ran.lines().iter().zip(["second", "first"]) {
        assert_eq!((&line["outcome"], &line["reply"]), (&json!("spoken"), &json!(WORDS)));
        assert_eq!((&line["made_by"]["spoke"], &line["tts"]), (&json!(spoke), &json!(spoke)));
    }
    let (first, second) = (spoken(&first), spoken(&second));
    assert_eq!((first.len(), second.len()), (2, 1), "it is asked once a turn");
    assert_eq!(
        (&second[0].json["voice"], &second[0].json["input"]),
        (&json!("alloy"), &json!(WORDS))
    );
    assert!(!ran.stdout.contains(INNARDS), "{ran:#?}");
}

#[test]
fn voices_in_place_of_others_are_chosen_by_name() {
    let replaced = ", fallback_voices: { alloy: { provider: flite, voice_id: slt }, \"*\": { \
                    provider: second, voice_id: nova } }";
    let second = ChatServer::start();
    let away = format!("http://{NOBODY}/v1");
    let entries = [voice("first", &away, replaced), voice("second", &second.base_url(), "")];
    for (voice_id, spoke, asked) in [("alloy", "flite", 0), ("onyx", "second", 1)] {
        let place = table(&entries, &format!("voice_id: {voice_id}"));
        let line = say(&place, 1).ends_with(0).line();
        assert_eq!(line["made_by"]["spoke"], spoke, "{line:#}");
        assert_eq!(spoken(&second).len(), asked);
        let doctor = place.run(&["doctor"]).stdout;
        let told = format!("✓ voice: Bartok speaks (in its fallback voice, {spoke} '");
        assert!(doctor.contains(&told), "{doctor}");
    }
    assert!(spoken(&second).iter().all(|request| request.json["voice"] == "nova"));
}

#[test]
fn words_are_shown_when_no_voice_is_left() {
    let (first, second) = (ChatServer::start(), ChatServer::start());
    for server in [&first, &second] {
        server.otherwise(|_| Script::error(401, "invalid_request_error", INNARDS));
    }
    let entries = [("first", &first), ("second", &second)];
    let entries = entries.map(|(name, server)| voice(name, &server.base_url(), ""));
    let line = say(&table(&entries, "voice_id: alloy"), 1).ends_with(1).line();
    assert_eq!((&line["outcome"], &line["unspoken"]), (&json!("voice_error"), &json!(WORDS)));
    let detail = line["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("first: ") && detail.contains("; second: "), "{detail}");
}

#[test]
fn mistakes_in_lists_of_voices_name_the_fix() {
    let near = |name| voice(name, "http://127.0.0.1:1/v1", "");
    let by = |provider: &str| {
        let replaced = format!(", fallback_voices: {{ alloy: {{ provider: {provider} }} }}");
        vec![voice("main", "http://127.0.0.1:1/v1", &replaced)]
    };
    let known = "expected flite or espeak or piper or kokoro or openai or wyoming or \
                 elevenlabs or deepgram or cartesia or main";
    for (entries, keys, said) in [
        (
            vec![near("main"), near("main")],
            "voice_id: alloy",
            "two voice services are called 'main' (give one of them another name: `as: spare`)"
                .to_owned(),
        ),
        (
            vec![near("flite")],
            "voice_id: slt",
            "'flite' is the name of another voice service (choose another name)".to_owned(),
        ),
        (
            vec![near("main")],
            "provider: mian, voice_id: alloy",
            format!("'voice.provider' is 'mian' ({known})"),
        ),
        (by("siri"), "voice_id: alloy", format!("'fallback_voices.provider' is 'siri' ({known})")),
        (
            by("wyoming"),
            "voice_id: alloy",
            "voice 'wyoming' needs a speech service, and none is configured".to_owned(),
        ),
    ] {
        let ran = table(&entries, keys).run(&["check"]).ends_with(2);
        assert!(ran.stderr.contains(&said), "{said}: {ran:#?}");
    }
    table(&[near("main")], "provider: main, voice_id: alloy").run(&["check"]).ends_with(0);
    table(&[near("main")], "provider: openai, voice_id: alloy").run(&["check"]).ends_with(0);
}
