//! Calls of the service go through the host, once, and only those that are to be run.

use serde_json::{Value, json};

use super::{
    CASCADE, KEY, Setting, answers, assert_by_service, say, say_at, sdk::assert_typed, seen, talk,
};
use crate::support::voice_models::{Answer, Seen, Service, VoiceServer};

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

fn call_runs_once_and_its_result_is_answered(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.push(Answer::call("roll", dice()));
    server.push(Answer::say("The dice have fallen.", 1.2));
    let line = say(&server, &[ROLL]).ends_with(0).line();
    assert_by_service(&line, "The dice have fallen.");
    let calls = line["tools"].as_array().expect("calls");
    assert_eq!(calls.len(), 1, "{line:#}");
    assert_eq!((&calls[0]["tool"], &calls[0]["ok"]), (&"dice-roller.roll".into(), &true.into()));
    let total = calls[0]["result"]["total"].as_i64().expect("a total");
    let session = talk(&server);
    assert_typed(service, std::slice::from_ref(&session), &["session.update", "response.create"]);
    let [(call, output)] = <[_; 1]>::try_from(session.results.clone()).expect("one result");
    assert_eq!(call, "call_0_0");
    assert!(output.contains(&total.to_string()), "{output}");
    assert_eq!(session.answers, 2);
    if service == Service::Gemini {
        let last = session.orders.last().expect("orders");
        assert!(last.get("toolResponse").is_some(), "it answers without being told to: {last:#}");
        return assert_eq!(session.modes, [("roll".to_owned(), "BLOCKING".to_owned())]);
    }
    assert_eq!(session.ordered("response.create"), 2);
    let kinds: Vec<&str> =
        session.orders.iter().rev().take(2).filter_map(|it| it["type"].as_str()).collect();
    assert_eq!(
        kinds,
        ["response.create", "conversation.item.create"],
        "the result, then once more"
    );
}

fn calls_at_once_are_answered_once(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.push(Answer::calls(&[("roll", dice()), ("roll", json!({"expression": "1d20"}))]));
    server.push(Answer::say("Both have fallen.", 1.2));
    let line = say(&server, &[ROLL]).ends_with(0).line();
    assert_by_service(&line, "Both have fallen.");
    assert_eq!(line["tools"].as_array().map(Vec::len), Some(2), "{line:#}");
    let session = talk(&server);
    let mut answered: Vec<&str> = session.results.iter().map(|(call, _)| call.as_str()).collect();
    answered.sort_unstable();
    assert_eq!(answered, ["call_0_0", "call_0_1"]);
    assert_eq!(session.answers, 2);
    let asked = session.ordered("response.create");
    assert!(service == Service::Gemini || asked == 2, "{asked}");
}

fn words_before_a_call_are_heard_too(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.push(Answer::say_and_call("Let me throw them.", 1.0, ("roll", dice())));
    server.push(Answer::say("There they lie.", 1.0));
    let line = say(&server, &[ROLL]).ends_with(0).line();
    assert_by_service(&line, "Let me throw them. There they lie.");
    assert!(line["audio_ms"].as_u64() > Some(1_800), "{line:#}");
    assert_eq!(talk(&server).results.len(), 1);
}

fn tool_off_the_whitelist_is_not_declared(service: Service) {
    let server = VoiceServer::start(service, KEY);
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

fn equal_tools_are_declared_once(service: Service) {
    let server = VoiceServer::start(service, KEY);
    say(&server, &["Bartok, hello", "Bartok, and you?", "Bartok, well?"]).ends_with(0);
    let session = talk(&server);
    let all = declared(std::slice::from_ref(&session));
    let with_roll = all.iter().filter(|names| names.as_slice() == ["roll"]).count();
    assert_eq!((session.answers, with_roll), (3, 1), "{all:?}");
}

fn tools_are_declared_with_their_schemas(service: Service) {
    let server = VoiceServer::start(service, KEY);
    let place = Setting { tools: "\"dice-roller.*\"", ..Setting::new(&server) }.place();
    say_at(&place, &["Bartok, hello"]).ends_with(0);
    let session = talk(&server);
    let names = session.declared.last().expect("a declaration");
    assert!(names.contains(&"roll_table".to_owned()) && names.len() == 4, "{names:?}");
    let (list, schema) = match service {
        Service::OpenAi => ("/session/tools", "parameters"),
        Service::Gemini => ("/setup/tools/0/functionDeclarations", "parametersJsonSchema"),
    };
    let tools = session.orders.iter().filter_map(|it| it.pointer(list)?.as_array()).flatten();
    for tool in tools {
        assert!(tool["description"].as_str().is_some_and(|it| !it.is_empty()), "{tool:#}");
        assert_eq!(tool[schema]["type"], "object", "{tool:#}");
    }
}

fn calls_of_a_broken_off_answer_are_not_run(service: Service) {
    let cut_off = Answer::call_then_cut_off("roll", dice());
    let cancelled = Answer::call_then_cancelled("roll", dice());
    // A call that Gemini takes back may have been run by then.
    let broken = match service {
        Service::OpenAi => vec![cancelled, cut_off],
        Service::Gemini => vec![cut_off],
    };
    for broken in broken {
        let server = VoiceServer::start(service, KEY);
        server.push(broken);
        let line = say(&server, &[ROLL]).ends_with(0).line();
        assert_eq!(line["tools"], json!([]), "{line:#}");
        assert_eq!((&line["outcome"], &line["reply"]), (&"spoken".into(), &CASCADE.into()));
        for session in seen(&server) {
            assert!(session.results.is_empty(), "{session:#?}");
        }
    }
}

fn call_of_a_lost_session_is_not_run_again(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.push(Answer::call("roll", dice()));
    server.push(Answer::cut());
    let line = say(&server, &[ROLL]).ends_with(0).line();
    assert_eq!((&line["outcome"], &line["reply"]), (&"spoken".into(), &CASCADE.into()), "{line:#}");
    assert_eq!(line["made_by"]["engine"], "cascaded", "{line:#}");
    assert_eq!(line["tools"].as_array().map(Vec::len), Some(1), "{line:#}");
    assert_eq!(answers(&server), 2, "{line:#}");
}

/// A service that only calls is stopped, and the turn is answered.
fn calls_without_end_are_bounded(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.otherwise(Answer::call("roll", dice()));
    let line = say(&server, &[ROLL]).ends_with(0).line();
    assert_eq!(line["reply"], CASCADE, "{line:#}");
    assert!((2..=20).contains(&answers(&server)), "{} answers", answers(&server));
    if service == Service::OpenAi {
        let orders = talk(&server).orders;
        let last = orders.iter().rfind(|it| it["type"] == "response.create").expect("orders");
        assert_eq!(last["response"]["tool_choice"], "none", "{last:#}");
    }
}

on_both! {
    call_runs_once_and_its_result_is_answered,
    calls_at_once_are_answered_once,
    words_before_a_call_are_heard_too,
    tool_off_the_whitelist_is_not_declared,
    equal_tools_are_declared_once,
    tools_are_declared_with_their_schemas,
    calls_of_a_broken_off_answer_are_not_run,
    call_of_a_lost_session_is_not_run_again,
    calls_without_end_are_bounded,
}
