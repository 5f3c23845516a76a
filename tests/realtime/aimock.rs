//! A service of the protocol that others have made, aimock, through the real program. `./dev test`
//! installs it.
//!
//! It knows text and calls. It takes sound and forgets it, sends none, and does not cancel or cut: so a
//! line is typed, and the cascade speaks what it would have said. Sound is tested against our
//! counterpart alone, which the vendor's client judges (`sdk.rs`).

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Command,
    time::Duration,
};

use serde_json::{Value, json};

use super::{CASCADE, KEY, Setting, assert_by_cascade, because, say_at, told};
use crate::{
    support::{
        answers::text,
        program::{Live, Place},
        voice_models::Service,
    },
    third_party::{installed, node},
};

/// Reason given when words come without sound.
const MUTE: &str = "words but no sound";

/// The service while it runs.
struct Aimock {
    address: String,
    _program: Live,
}

impl Aimock {
    /// A service on a free port, with its script at `place`; says so when it is not there.
    fn start(place: &Place) -> Option<Self> {
        let (folder, node) = (installed("aimock")?, node("aimock")?);
        place.write("aimock.json", script().to_string());
        let mut command = Command::new(node);
        command.arg(folder.join("node_modules/@copilotkit/aimock/dist/cli.js"));
        command.args(["--port", "0", "--strict", "--fixtures"]).arg(place.path("aimock.json"));
        command.env("AIMOCK_API_KEYS", KEY);
        let program = Live::of(command);
        let said = program.says("listening on http://");
        let (_, address) = said.split_once("http://").expect("an address");
        Some(Self { address: address.trim().to_owned(), _program: program })
    }

    /// The configuration of a table that it serves.
    fn table(&self) -> String {
        Setting::at(Service::OpenAi, format!("http://{}/v1", self.address)).config()
    }

    /// All that it was asked, oldest first.
    fn asked(&self) -> Vec<Value> {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket");
        let head = format!("GET /__aimock/journal HTTP/1.0\r\nAuthorization: Bearer {KEY}\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }
}

/// Script of its answers; it refuses anything else.
fn script() -> Value {
    let rolls = json!([
        {"id": "call_two", "name": "roll", "arguments": "{\"expression\":\"2d6+3\"}"},
        {"id": "call_one", "name": "roll", "arguments": "{\"expression\":\"1d20\"}"},
    ]);
    let limit = json!({"message": "Slow down.", "type": "rate_limit_error",
        "code": "rate_limit_exceeded"});
    let long = "This is an answer that is going to be cut in the middle.";
    json!({"fixtures": [
        {"match": {"userMessage": "roll", "hasToolResult": false}, "response": {"toolCalls": rolls}},
        // The result of the last call, under the id that was given to it.
        {"match": {"toolCallId": "call_one"}, "response": {"content": "The dice have fallen."}},
        {"match": {"userMessage": "slow"}, "response": {"error": limit, "status": 429}},
        {"match": {"userMessage": "long"}, "response": {"content": long},
            "truncateAfterChunks": 2, "chunkSize": 5},
    ]})
}

/// Messages of a request, as role and words.
fn messages(request: &Value) -> Vec<(&str, String)> {
    let all = request["body"]["messages"].as_array().expect("messages");
    let words = |message: &Value| match &message["content"] {
        Value::String(words) => words.clone(),
        parts => parts.to_string(),
    };
    all.iter().map(|message| (text(message, "role"), words(message))).collect()
}

#[test]
fn calls_of_a_service_made_elsewhere_are_run() {
    let place = Place::new();
    let Some(aimock) = Aimock::start(&place) else { return };
    place.write("glyphoxa.yaml", aimock.table());
    let ran = say_at(&place, &["Bartok, roll for me", "Bartok, you are slow"]).ends_with(0);
    let [line, next] = <[Value; 2]>::try_from(ran.lines()).expect("two turns");
    assert_by_cascade(&line);
    assert!(because(&line).contains(MUTE), "{line:#}");
    assert_eq!(told(&ran), 1, "{ran:#?}");
    let calls = line["tools"].as_array().expect("calls");
    assert_eq!(calls.len(), 2, "{line:#}");
    let asked = aimock.asked();
    let [begun, answered, reopened] = asked.as_slice() else { panic!("{asked:#?}") };
    let (begun, answered) = (messages(begun), messages(answered));
    assert!(begun[0].0 == "system" && begun[0].1.contains("herrings"), "{begun:#?}");
    assert!(begun[1].0 == "user" && begun[1].1.contains("roll for me"), "{begun:#?}");
    let results: Vec<&String> =
        answered.iter().filter(|(role, _)| *role == "tool").map(|(_, result)| result).collect();
    assert_eq!(results.len(), 2, "{answered:#?}");
    for (call, result) in calls.iter().zip(&results) {
        assert_eq!((&call["tool"], &call["ok"]), (&json!("dice-roller.roll"), &json!(true)));
        assert_eq!(**result, call["result"].to_string(), "{line:#}");
    }
    // The next session receives the turn that the cascade has spoken.
    let reopened = messages(reopened);
    assert!(reopened.contains(&("assistant", CASCADE.to_owned())), "{reopened:#?}");
    for part in [results[0].replace('"', "\\\""), "you are slow".to_owned()] {
        assert!(reopened.iter().any(|(_, words)| words.contains(&part)), "{part}: {reopened:#?}");
    }
    assert_by_cascade(&next);
    assert!(because(&next).contains("too many requests"), "{next:#}");
}

#[test]
fn aimock_failures_are_reported_with_cause() {
    let place = Place::new();
    let Some(aimock) = Aimock::start(&place) else { return };
    let table = aimock.table();
    place.write("glyphoxa.yaml", &table);
    let doctor = place.run(&["doctor"]);
    assert!(doctor.stdout.contains("✓ speech to speech: opens a session"), "{doctor:#?}");
    let others = table.replace(KEY, "sk-another");
    for (config, said, why) in [
        (&table, "Bartok, you are slow", "too many requests with \"rate_limit_exceeded\""),
        (&table, "Bartok, that is long", "the connection broke off"),
        (&table, "Bartok, unheard of", "closed the connection (1008)"),
        (&others, "Bartok, roll for me", "the key was refused with status 401"),
    ] {
        place.write("glyphoxa.yaml", config);
        let line = say_at(&place, &[said]).ends_with(0).line();
        assert_by_cascade(&line);
        assert!(because(&line).contains(why), "{line:#}");
    }
}
