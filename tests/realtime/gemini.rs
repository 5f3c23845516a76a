//! Gemini Live alone: it speaks on while a tool is at work, takes calls back, and goes away.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    HELLO, KEY, PRICES, WELCOME, asked_again_after_the_end, assert_by_cascade, assert_by_service,
    because,
    routing::{ask, place},
    say, seen, talk, told,
};
use crate::{
    hostile::has_python,
    support::voice_models::{Answer, Fault, Late, Service, VoiceServer},
};

const DIG: &str = "Bartok, dig for me";

fn server() -> VoiceServer {
    VoiceServer::start(Service::Gemini, KEY)
}

#[test]
fn every_tool_has_its_calling_mode() {
    if !has_python() {
        return;
    }
    for (declared, mode) in [
        ("estimated_duration_ms: 1000", "BLOCKING"),
        ("estimated_duration_ms: 1000, records: true", "NON_BLOCKING"),
        ("estimated_duration_ms: 1000, late: follow_up", "NON_BLOCKING"),
        ("estimated_duration_ms: 1000, late: follow_up, urgent: true", "NON_BLOCKING"),
    ] {
        let server = server();
        ask(&place(&server, declared), &[HELLO]);
        let session = talk(&server);
        let dig = session.modes.iter().find(|(name, _)| name == "dig");
        assert_eq!(dig.map(|(_, mode)| mode.as_str()), Some(mode), "{declared}: {session:#?}");
        let unsaid = session.modes.iter().any(|(_, mode)| mode.is_empty());
        assert!(!unsaid, "it is said of every tool: {:#?}", session.modes);
    }
}

#[test]
fn record_only_results_are_scheduled_silent() {
    if !has_python() {
        return;
    }
    let server = server();
    server.push(Answer::say_and_call("I will dig.", 1.0, ("dig", json!({}))));
    let place = place(&server, "estimated_duration_ms: 1000, records: true");
    let mut live = place.start(&["ask", "--json", "--silent"]);
    live.types(DIG);
    let line: Value = serde_json::from_str(&live.says("\"turn\":1,")).unwrap();
    assert_by_service(&line, "I will dig.");
    server.until(|seen| seen.iter().any(|it| !it.scheduled.is_empty()));
    assert_eq!(live.leave(), 0);
    let session = talk(&server);
    assert_eq!(session.scheduled, [("call_0_1".to_owned(), "SILENT".to_owned())]);
    assert_eq!(session.answers, 1, "{:#?}", session.orders);
}

/// Asking for the record leads to an answer.
#[test]
fn record_without_a_word_is_answered() {
    if !has_python() {
        return;
    }
    let server = server();
    server.push(Answer::call("dig", json!({})));
    server.push(Answer::say("It is done.", 1.0));
    let place = place(&server, "estimated_duration_ms: 1000, records: true");
    let lines = ask(&place, &[DIG]);
    assert_by_service(&lines[0], "It is done.");
    let session = talk(&server);
    assert_eq!(session.scheduled, [("call_0_0".to_owned(), "WHEN_IDLE".to_owned())]);
    assert_eq!(session.answers, 2, "{:#?}", session.orders);
}

#[test]
fn late_result_waits_unless_it_is_urgent() {
    if !has_python() {
        return;
    }
    for (declared, when, idled) in [("", "WHEN_IDLE", 1), (", urgent: true", "INTERRUPT", 0)] {
        let server = server();
        // The tool is ready long before it was said.
        server.push(Answer::say_and_call("I will dig.", 6.0, ("dig", json!({}))));
        server.push(Answer::say("It takes a while.", 1.0));
        let declared = format!("estimated_duration_ms: 1000, late: follow_up{declared}");
        let lines = ask(&place(&server, &declared), &[DIG]);
        assert_eq!(lines[0]["made_by"]["engine"], "speech_to_speech", "{:#}", lines[0]);
        let session = talk(&server);
        assert_eq!(session.scheduled, [("call_0_1".to_owned(), when.to_owned())], "{declared}");
        assert_eq!((session.idled, session.answers), (idled, 2), "{declared}: {session:#?}");
    }
}

/// The sound of a round that has called may end, and its words may come, behind the results.
#[test]
fn late_end_of_a_round_is_not_its_answer() {
    for late in [Late::Sound, Late::Words] {
        let server = server();
        let roll = ("roll", json!({"expression": "2d6+3"}));
        server.push(Answer::say_and_call("Let me roll.", 1.0, roll).with_late(late));
        server.push(Answer::say("The dice have fallen.", 1.2));
        let ran = say(&server, &["Bartok, roll for me"]).ends_with(0);
        let line = ran.line();
        let reply = line["reply"].as_str().expect("a reply");
        assert_by_service(&line, reply);
        assert!(line["audio_ms"].as_u64() > Some(2_000), "{late:?}: {line:#}");
        for words in ["Let me roll.", "The dice have fallen."] {
            assert_eq!(reply.matches(words).count(), 1, "{late:?}: {line:#}");
        }
        assert_eq!(line["tools"].as_array().map(Vec::len), Some(1), "{late:?}: {line:#}");
        let session = talk(&server);
        let counts = (session.answers, session.results.len(), session.cancels);
        assert_eq!(counts, (2, 1, 0), "{late:?}: {session:#?}");
        assert_eq!(told(&ran), 0, "{late:?}: {ran:#?}");
    }
}

/// The service tells the tokens once the sound was played; until then the answer is booked by its size.
#[test]
fn answers_that_are_counted_late_cost_the_usual() {
    let server = server();
    server.otherwise(Answer::say(WELCOME, 2.0).with_late(Late::End));
    let ran = say(&server, &[HELLO, "Bartok, and?"]).ends_with(0);
    let lines = ran.lines();
    lines.iter().for_each(|line| assert_by_service(line, WELCOME));
    assert_eq!(talk(&server).answers, 2);
    let spent = lines.last().and_then(|line| line["spent"].as_f64()).expect("a sum");
    let bill = server.bill(&PRICES);
    let usual = bill / 2.0..=bill * 2.0;
    assert!(bill > 0.0 && usual.contains(&spent), "{spent} booked, {bill} billed");
    assert_eq!(told(&ran), 0, "{ran:#?}");
}

#[test]
fn call_that_is_taken_back_gets_no_result() {
    if !has_python() {
        return;
    }
    let server = server();
    server.push(Answer::call_then_cancelled("dig", json!({})));
    let lines = ask(&place(&server, "estimated_duration_ms: 1000"), &[DIG]);
    assert_eq!(lines[0]["outcome"], "spoken", "{:#}", lines[0]);
    assert_eq!(lines[0]["made_by"]["engine"], "cascaded", "{:#}", lines[0]);
    for session in seen(&server) {
        assert!(session.results.is_empty() && session.late.is_empty(), "{session:#?}");
    }
}

/// The service warns that no turn fits before the end of the connection; no turn waits for it.
#[test]
fn session_that_goes_away_is_replaced() {
    let server = server();
    server.fault(Fault::GoesAway(Duration::from_secs(15)));
    server.otherwise(Answer::say(WELCOME, 1.0));
    let ran = say(&server, &[HELLO, "Bartok, and?"]).ends_with(0);
    ran.lines().iter().for_each(|line| assert_by_service(line, WELCOME));
    let sessions = seen(&server);
    assert_eq!(sessions.iter().filter(|it| it.answers == 1).count(), 2, "{sessions:#?}");
    let last = sessions.iter().rfind(|it| it.answers > 0).expect("a session");
    assert!(last.has_item("user", "hello") && last.has_item("assistant", WELCOME));
    assert_eq!(told(&ran), 0, "nobody missed anything: {ran:#?}");
}

#[test]
fn session_begins_with_our_own_conversation() {
    let server = server();
    server.fault(Fault::Expires);
    server.otherwise(Answer::say(WELCOME, 1.0));
    assert_by_service(&asked_again_after_the_end(&server), WELCOME);
    let sessions = seen(&server);
    let last = sessions.iter().rfind(|it| it.answers > 0).expect("a session");
    assert!(last.has_item("assistant", WELCOME), "{:#?}", last.items);
}

#[test]
fn unannounced_close_is_reported_with_its_code() {
    let server = server();
    server.push(Answer::expired());
    let ran = say(&server, &[HELLO]).ends_with(0);
    let line = ran.line();
    assert_by_cascade(&line);
    assert!(because(&line).contains("1011"), "{line:#}");
    assert_eq!(told(&ran), 1, "{ran:#?}");
}
