//! Deepgram as a recogniser, through the real program, against a counterpart on this machine.

mod chain;
mod faults;
mod flux;
mod nova;
mod sdk;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{
    deepgram::{DeepgramServer, Seen},
    program::{Place, Ran},
    speech::{plain_wav, speech},
};

/// The key that counterparts want.
const KEY: &str = "dg-key-of-tests";
/// Bartok, who always has the same to say.
const CAST: &str = r#"
npcs:
  - name: Bartok the Barkeep
    aliases: [Bartok]
    voice: { provider: flite, voice_id: kal16 }
    lines: [{ say: "That is how it is." }]
"#;
/// A minute of sound costs this: a cent for each second.
const MINUTE: f64 = 0.6;

/// A configuration whose table is heard by `model` of `server`; `more` keys of the entry.
fn config(server: &DeepgramServer, model: &str, more: &str) -> String {
    let url = server.base_url();
    format!(
        "providers:\n  stt: {{ name: deepgram, base_url: \"{url}\", api_key: {KEY}, model: {model}{more} }}\n\
         prices:\n  {model}: {{ minute: {MINUTE} }}\nbudget: {{ session_max: 5.00 }}\n{CAST}"
    )
}

/// Plays the speakers' recordings, each at a time in seconds, heard as they are spoken.
fn talk(config: &str, said: &[(&str, f64, Vec<i16>)]) -> Ran {
    talk_at(&Place::with_config(config), &[], said)
}

/// Like [`talk`], in a folder that stays, with further arguments.
fn talk_at(place: &Place, more: &[&str], said: &[(&str, f64, Vec<i16>)]) -> Ran {
    let mut arguments = ["ask", "--json", "--realtime"].map(str::to_owned).to_vec();
    arguments.extend(more.iter().map(|it| (*it).to_owned()));
    for (number, (speaker, at, samples)) in said.iter().enumerate() {
        let file = format!("{number}.wav");
        place.write(&file, plain_wav(samples));
        let of = ["--speaker", speaker, "--at", &at.to_string(), "--in", &file].map(str::to_owned);
        arguments.extend(of);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    place.run(&arguments)
}

/// The sockets that received sound.
fn heard(server: &DeepgramServer) -> Vec<Seen> {
    server.seen().into_iter().filter(|it| it.seconds > 0.0).collect()
}

/// The lines by their speakers.
fn by_speaker(lines: Vec<Value>) -> BTreeMap<String, Value> {
    lines.into_iter().map(|line| (line["speaker"].as_str().unwrap().to_owned(), line)).collect()
}

/// Nothing was answered aloud, and the game master reads `part` of why.
#[track_caller]
fn assert_unheard(line: &Value, part: &str) {
    assert_eq!(line["outcome"], "hearing_error", "{line:#}");
    assert_eq!((&line["reply"], &line["audio_ms"]), (&"".into(), &0.into()), "{line:#}");
    let detail = line["detail"].as_str().unwrap();
    assert!(detail.contains(part) && detail.ends_with(')'), "{part}: {detail}");
    assert!(!detail.contains(KEY), "{detail}");
}

/// Bartok has answered what was heard so.
#[track_caller]
fn assert_answered(line: &Value, heard: &str) {
    assert_eq!((&line["heard"], &line["stt"]), (&heard.into(), &"deepgram".into()), "{line:#}");
    assert_eq!(line["reply"], "That is how it is.", "{line:#}");
    assert_eq!(line["outcome"], "spoken", "{line:#}");
}

#[test]
fn invalid_deepgram_settings_are_refused() {
    let server = DeepgramServer::start(KEY);
    let said = |model: &str, more: &str| {
        Place::with_config(&config(&server, model, more)).run(&["check"]).ends_with(2).stderr
    };
    assert!(said("nova-3", ", eager: 0.2").contains("eager"));
    assert!(
        said("flux-general-en", ", language: de")
            .contains("'flux-general-en' understands English only")
    );
    let openai = config(&server, "w", ", max_streams: 3").replace("name: deepgram", "name: openai");
    let ran = Place::with_config(&openai).run(&["check"]).ends_with(2);
    assert!(
        ran.stderr.contains("'providers.stt.max_streams' has no effect on 'openai'"),
        "{ran:#?}"
    );
    let home = "providers: { stt: { name: deepgram, model: nova-3, free: true } }";
    let ran = Place::with_config(home).run(&["check"]).ends_with(2);
    assert!(ran.stderr.contains("DEEPGRAM_API_KEY"), "{ran:#?}");
    assert!(server.seen().is_empty(), "nobody was asked");
}

#[test]
fn doctor_tries_it_and_says_how_long_that_takes() {
    for model in ["nova-3", "flux-general-en"] {
        let server = DeepgramServer::start(KEY);
        let ran = Place::with_config(&config(&server, model, "")).run(&["doctor"]);
        let opens = format!("opens a socket for '{model}' in ");
        assert!(ran.stdout.contains(&opens), "{ran:#?}");
        let wrong = config(&server, model, "").replace(KEY, "dg-another");
        let ran = Place::with_config(&wrong).run(&["doctor"]);
        assert!(ran.stdout.contains("the key was refused with status 401"), "{ran:#?}");
        assert!(!ran.stdout.contains("dg-another"), "{ran:#?}");
    }
}

#[test]
fn refused_key_is_reported_and_never_shown() {
    let server = DeepgramServer::start(KEY);
    let place = Place::with_config(&config(&server, "nova-3", "").replace(KEY, "dg-another"));
    place.write("said.wav", plain_wav(&speech("rms", "Bartok, hello")));
    let ran = place.run(&["ask", "--json", "--in", "said.wav"]);
    assert_ne!(ran.status, 0, "{ran:#?}");
    let message = ran.message();
    assert!(message.contains("the key was refused with status 401"), "{message}");
    assert!(message.ends_with("(check api_key)") && !message.contains("dg-another"), "{message}");
}
