//! A recogniser that refuses in the middle of an utterance, and another one after it in the list.

use crate::support::{
    deepgram::{DeepgramServer, Fault},
    program::Place,
    speech::speech,
};

use super::{CAST, KEY, MINUTE, heard, talk};

/// A configuration whose table is heard by `first`, else by `second`.
fn both(first: &DeepgramServer, second: &DeepgramServer) -> String {
    let entry = |name: &str, server: &DeepgramServer| {
        let url = server.base_url();
        format!(
            "    - {{ service: deepgram, as: {name}, base_url: \"{url}\", api_key: {KEY}, \
             model: nova-3 }}\n"
        )
    };
    format!(
        "providers:\n  stt:\n{}{}prices:\n  nova-3: {{ minute: {MINUTE} }}\n\
         budget: {{ session_max: 5.00 }}\n{CAST}",
        entry("near", first),
        entry("far", second),
    )
}

#[test]
fn refused_utterance_goes_to_the_next_whole() {
    let (first, second) = (DeepgramServer::start(KEY), DeepgramServer::start(KEY));
    // The table looks first whether it is there.
    first.fault(Fault::None);
    first.fault(Fault::Error(0.5, "INVALID_AUTH"));
    first.says(&["Wrong words."]);
    let texts = ["Hello there my good friend Bartok.", "Hello again Bartok."];
    second.says_each(&texts);
    let said = [
        ("Anna", 0.0, speech("rms", "hello there my good friend Bartok")),
        ("Anna", 6.0, speech("rms", "hello again Bartok")),
    ];
    let ran = talk(&both(&first, &second), &said).ends_with(0);
    assert!(!ran.stderr.contains(KEY), "{ran:#?}");
    let lines = ran.lines();
    let told: Vec<_> = lines.iter().map(|line| (&line["heard"], &line["stt"])).collect();
    let told: Vec<_> = told.into_iter().map(|(heard, by)| (heard.as_str(), by.as_str())).collect();
    assert_eq!(told, texts.map(|text| (Some(text), Some("far"))), "{lines:#?}");
    let [refused] = heard(&first).try_into().expect("only the first utterance was sent to it");
    let [whole] = heard(&second).try_into().expect("one socket hears both");
    let length = said.iter().map(|(_, _, it)| it.len()).sum::<usize>() / 16;
    assert!(refused.seconds < whole.seconds, "{refused:#?} {whole:#?}");
    assert!(whole.seconds * 1_000.0 > length as f64 * 0.5, "{length} ms were said: {whole:#?}");
}

#[test]
fn doctor_tries_every_recogniser_of_the_list() {
    let (first, second) = (DeepgramServer::start(KEY), DeepgramServer::start("another key"));
    let ran = Place::with_config(&both(&first, &second)).run(&["doctor"]);
    let line = |part: &str| ran.stdout.lines().any(|line| line.contains(part));
    assert!(line("✓ hearing: near: opens a socket for 'nova-3'"), "{ran:#?}");
    assert!(line("✗ hearing: far: "), "{ran:#?}");
}
