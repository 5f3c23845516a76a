//! Calls of the service go through the host, once, and only those that are to be run.

use serde_json::{Value, json};

use super::{
    CASCADE, KEY, Setting, answers, assert_by_service, say, say_at, sdk::assert_typed, seen, talk,
};
use crate::support::realtime::{Answer, RealtimeServer, Seen};

const ROLL: &str = "Bartok, roll for me";

fn dice() -> Value {
    json!({"expression": "2d6+3"})
}

/// Declarations of all sessions, in order; equal ones in a row of one session are a mistake.
#[track_caller]
fn declared(sessions: &[Seen]) -> Vec<Vec<String>> {
    for session in sessions {
        let again = session.declared.windows(2).any(|two| two[0] == two[1]);
        assert!(!again, "declared twice: {:#?}", session.declared);
    }
    sessions.iter().flat_map(|it| it.declared.clone()).collect()
}

#[test]
fn call_runs_once_and_its_result_is_answered() {
    let server = RealtimeServer::start(KEY);
    server.push(Answer::call("roll", dice()));
    server.push(Answer::say("The dice have fallen.", 1.2));
    let line = say(&server, &[ROLL]).ends_with(0).line();
    assert_by_service(&line, "The dice have fallen.");
    let calls = line["tools"].as_array().expect("calls");
    assert_eq!(calls.len(), 1, "{line:#}");
    assert_eq!((&calls[0]["tool"], &calls[0]["ok"]), (&"dice-roller.roll".into(), &true.into()));
    let total = calls[0]["result"]["total"].as_i64().expect("a total");
    let session = talk(&server);
    assert_typed(std::slice::from_ref(&session), &["session.update", "response.create"]);
    let [(call, output)] = <[_; 1]>::try_from(session.results.clone()).expect("one result");
    assert_eq!(call, "call_0_0");
    assert!(output.contains(&total.to_string()), "{output}");
    assert_eq!((session.answers, session.ordered("response.create")), (2, 2));
    let kinds: Vec<&str> =
        session.orders.iter().rev().take(2).filter_map(|it| it["type"].as_str()).collect();
    assert_eq!(
        kinds,
        ["response.create", "conversation.item.create"],
        "the result, then once more"
    );
}

#[test]
fn calls_at_once_are_answered_once() {
    let server = RealtimeServer::start(KEY);
    server.push(Answer::calls(&[("roll", dice()), ("roll", json!({"expression": "1d20"}))]));
    server.push(Answer::say("Both have fallen.", 1.2));
    let line = say(&server, &[ROLL]).ends_with(0).line();
    assert_by_service(&line, "Both have fallen.");
    assert_eq!(line["tools"].as_array().map(Vec::len), Some(2), "{line:#}");
    let session = talk(&server);
    let mut answered: Vec<&str> = session.results.iter().map(|(call, _)| call.as_str()).collect();
    answered.sort_unstable();
    assert_eq!(answered, ["call_0_0", "call_0_1"]);
    assert_eq!(session.ordered("response.create"), 2);
}

#[test]
fn words_before_a_call_are_heard_too() {
    let server = RealtimeServer::start(KEY);
    server.push(Answer::say_and_call("Let me throw them.", 1.0, ("roll", dice())));
    server.push(Answer::say("There they lie.", 1.0));
    let line = say(&server, &[ROLL]).ends_with(0).line();
    assert_by_service(&line, "Let me throw them. There they lie.");
    assert!(line["audio_ms"].as_u64() > Some(1_800), "{line:#}");
    assert_eq!(talk(&server).results.len(), 1);
}

#[test]
fn tool_off_the_whitelist_is_not_declared() {
    let server = RealtimeServer::start(KEY);
    server.push(Answer::call("roll_table", json!({"table_name": "wild_magic"})));
    server.push(Answer::say("I have no such table.", 1.0));
    let line = say(&server, &[ROLL]).ends_with(0).line();
    let calls = line["tools"].as_array().expect("calls");
    assert!(calls.iter().all(|call| call["ok"] != true), "{line:#}");
    assert_eq!(line["visible"], json!(["roll"]), "{line:#}");
    let declared = declared(&seen(&server));
    assert!(declared.iter().flatten().all(|name| name == "roll"), "{declared:?}");
    assert!(declared.iter().any(|names| names == &["roll"]), "{declared:?}");
}

#[test]
fn equal_tools_are_declared_once() {
    let server = RealtimeServer::start(KEY);
    say(&server, &["Bartok, hello", "Bartok, and you?", "Bartok, well?"]).ends_with(0);
    let session = talk(&server);
    let all = declared(std::slice::from_ref(&session));
    let with_roll = all.iter().filter(|names| names.as_slice() == ["roll"]).count();
    assert_eq!((session.answers, with_roll), (3, 1), "{all:?}");
}

#[test]
fn tools_are_declared_with_their_schemas() {
    let server = RealtimeServer::start(KEY);
    let place = Setting { tools: "\"dice-roller.*\"", ..Setting::new(&server) }.place();
    say_at(&place, &["Bartok, hello"]).ends_with(0);
    let session = talk(&server);
    let names = session.declared.last().expect("a declaration");
    assert!(names.contains(&"roll_table".to_owned()) && names.len() == 4, "{names:?}");
    let tools = session.orders.iter().filter_map(|it| it["session"]["tools"].as_array());
    for tool in tools.flatten() {
        assert!(tool["description"].as_str().is_some_and(|it| !it.is_empty()), "{tool:#}");
        assert_eq!(tool["parameters"]["type"], "object", "{tool:#}");
    }
}

#[test]
fn calls_of_a_broken_off_answer_are_not_run() {
    for broken in
        [Answer::call_then_cancelled("roll", dice()), Answer::call_then_cut_off("roll", dice())]
    {
        let server = RealtimeServer::start(KEY);
        server.push(broken);
        let line = say(&server, &[ROLL]).ends_with(0).line();
        assert_eq!(line["tools"], json!([]), "{line:#}");
        assert_eq!((&line["outcome"], &line["reply"]), (&"spoken".into(), &CASCADE.into()));
        for session in seen(&server) {
            assert!(session.results.is_empty(), "{session:#?}");
        }
    }
}

#[test]
fn call_of_a_lost_session_is_not_run_again() {
    let server = RealtimeServer::start(KEY);
    server.push(Answer::call("roll", dice()));
    server.push(Answer::cut());
    let line = say(&server, &[ROLL]).ends_with(0).line();
    assert_eq!((&line["outcome"], &line["reply"]), (&"spoken".into(), &CASCADE.into()), "{line:#}");
    assert_eq!(line["made_by"]["engine"], "cascaded", "{line:#}");
    assert_eq!(line["tools"].as_array().map(Vec::len), Some(1), "{line:#}");
    assert_eq!(answers(&server), 2, "{line:#}");
}

/// A service that only calls is stopped, and the turn is answered.
#[test]
fn calls_without_end_are_bounded() {
    let server = RealtimeServer::start(KEY);
    server.otherwise(Answer::call("roll", dice()));
    let line = say(&server, &[ROLL]).ends_with(0).line();
    assert_eq!(line["reply"], CASCADE, "{line:#}");
    assert!((2..=20).contains(&answers(&server)), "{} answers", answers(&server));
    let session = talk(&server);
    let last = session.orders.iter().rfind(|it| it["type"] == "response.create").expect("orders");
    assert_eq!(last["response"]["tool_choice"], "none", "{last:#}");
}
