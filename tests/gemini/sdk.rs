//! The counterpart itself, and what the program sends it, held against the vendor's own client.
//! `./dev test` installs it.

use serde_json::{Value, json};

use super::KEY;
use crate::{
    support::{
        program::run,
        voice_models::{Answer, Seen, Service, VoiceServer},
    },
    third_party::{client, installed},
};

/// Mistakes that the client makes on purpose, each in a session of its own, with the code of its close and a
/// part of the reason.
const MISTAKES: [(&str, u16, &str); 9] = [
    ("key", 1007, "API key not valid"),
    ("model", 1008, "is not found for API version v1beta"),
    ("voice", 1007, "is not available"),
    ("thinking", 1007, "Unknown name \"thinkingConfig\""),
    ("handle", 1007, "invalid argument"),
    ("sound", 1007, "outside of an activity"),
    ("result", 1007, "no call"),
    ("field", 1007, "Unknown name \"sound\" at 'realtime_input'"),
    ("setup", 1007, "only the first"),
];

/// All that was sent in `sessions` is of the vendor's types and has nothing else in it.
#[track_caller]
pub fn assert_typed(sessions: &[Seen]) {
    let Some(folder) = installed("genai-sdk") else { return };
    let orders = sessions.iter().flat_map(|it| &it.orders);
    // Sound is left out of what was written down, and "sound" is no base64.
    let sent: String =
        orders.map(|order| format!("{order}\n").replace("\"sound\"", "\"\"")).collect();
    let told = run(client(&folder, "gemini"), &sent).ends_with(0).line();
    assert_eq!(told["unknown"], json!([]), "{told:#}");
    assert!(told["kinds"].as_array().is_some_and(|kinds| !kinds.is_empty()), "{told:#}");
}

#[test]
fn vendors_own_client_is_served_alike() {
    let Some(folder) = installed("genai-sdk") else { return };
    let server = VoiceServer::start(Service::Gemini, KEY);
    server.push(Answer::call("roll", json!({"expression": "2d6+3"})));
    server.push(Answer::say("The dice have fallen.", 1.2));
    server.push(Answer::say("It was a dark and stormy night when the ship left.", 120.0));
    server.push(Answer::say_and_call("I write it down.", 1.0, ("note", json!({}))));
    server.push(Answer::call("note", json!({})));
    server.push(Answer::say("It is written.", 1.0));
    server.push(Answer::say("Where were we?", 1.0));
    let mut client = client(&folder, "gemini");
    client.args([&server.base_url(), KEY]);
    let told = run(client, "").ends_with(0).line();
    assert_eq!(told["unknown"], json!([]), "the client's types lack more of what is said");
    assert_eq!(told["is_set_up"], true, "{told:#}");
    assert_answers(&told);
    for (mistake, code, part) in MISTAKES {
        let refused = &told["mistakes"][mistake];
        let reason = refused[1].as_str().unwrap_or_default();
        assert!(refused[0] == code && reason.contains(part), "{mistake}: {refused:#}");
    }
    assert_understood(&server);
}

/// Checks the answers that the client received.
#[track_caller]
fn assert_answers(told: &Value) {
    let ends = json!(["generation_complete", "turn_complete"]);
    let (called, stopped) = (&told["called"], &told["stopped"]);
    let call = json!([["call_0_0", "roll", {"expression": "2d6+3"}]]);
    assert_eq!((&called["calls"], &called["ends"]), (&call, &ends), "{called:#}");
    assert_eq!(
        (&called["text"], &called["usage"]["spoken"]),
        (&json!("The dice have fallen."), &json!(30)),
        "{called:#}"
    );
    assert!(called["together"].as_u64() >= Some(2), "two keys in one message: {called:#}");
    assert_eq!(stopped["ends"], json!(["interrupted", "turn_complete"]), "{stopped:#}");
    let seconds = stopped["seconds"].as_f64().expect("seconds");
    assert!((0.1..100.0).contains(&seconds), "{stopped:#}");
    let silent = &told["silent"];
    assert_eq!(silent["calls"], json!([["call_3_1", "note", {}]]), "{silent:#}");
    assert_eq!((&silent["text"], &silent["ends"]), (&json!("I write it down."), &ends));
    assert_eq!(told["idle"]["calls"], json!([["call_4_0", "note", {}]]), "{told:#}");
    assert_eq!(told["after"]["text"], "It is written.", "{told:#}");
    assert_eq!(told["resumed"]["text"], "Where were we?", "{told:#}");
    let (heard, resumed) = (&told["called"]["usage"]["heard"], &told["resumed"]["usage"]["heard"]);
    assert!(heard.as_u64() < resumed.as_u64(), "it reads what was said before: {told:#}");
}

/// The service has understood all that the client meant, and nothing else.
#[track_caller]
fn assert_understood(server: &VoiceServer) {
    let seen = server.ended();
    let [talk, resumed, refused @ ..] = seen.as_slice() else { panic!("{} sessions", seen.len()) };
    assert!(talk.mistakes.is_empty() && resumed.mistakes.is_empty(), "{:#?}", talk.mistakes);
    assert_eq!(refused.len(), MISTAKES.len());
    assert_eq!((talk.seconds(), talk.committed.as_slice()), (1.0, [1.0].as_slice()));
    assert_eq!((talk.model.as_str(), talk.voice.as_deref()), ("gemini-3.8-live", Some("Kore")));
    let modes = [("roll", "BLOCKING"), ("note", "NON_BLOCKING")];
    assert_eq!(talk.modes, modes.map(|(name, mode)| (name.to_owned(), mode.to_owned())));
    let [(call, output), ..] = talk.results.as_slice() else { panic!("{:#?}", talk.results) };
    assert_eq!((call.as_str(), output.as_str()), ("call_0_0", "{\"output\":{\"total\":9}}"));
    let scheduled: Vec<&str> = talk.scheduled.iter().map(|(_, when)| when.as_str()).collect();
    assert_eq!(scheduled, ["WHEN_IDLE", "SILENT", "WHEN_IDLE"]);
    assert!(talk.has_item("user", "tell us all of it"), "{:#?}", talk.items);
    assert_eq!((talk.answers, talk.cancels, talk.late.len()), (6, 1, 0));
    assert!(resumed.resumed.is_some() && resumed.answers == 1, "{resumed:#?}");
}
