//! Failures of the service: the cascade answers the same turn, and one notice reports it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{
    CASCADE, HELLO, KEY, Setting, WELCOME, answers, asked_again_after_the_end, assert_by_cascade,
    assert_by_service, because, say, say_at, seen, told,
};
use crate::support::{
    NOBODY,
    program::Ran,
    voice_models::{Answer, Fault, Service, VoiceServer},
};

/// One line to Bartok.
#[track_caller]
fn ask(server: &VoiceServer) -> Ran {
    say(server, &[HELLO])
}

/// The cascade answers one line for a service with this answer; why.
#[track_caller]
fn answered_for(service: Service, answer: Answer) -> String {
    let server = VoiceServer::start(service, KEY);
    let shown = format!("{answer:?}");
    server.push(answer);
    let ran = ask(&server).ends_with(0);
    let line = ran.line();
    assert_by_cascade(&line);
    assert_eq!(told(&ran), 1, "told once of {shown}: {ran:#?}");
    assert_eq!(answers(&server), 1, "asked once: {shown}");
    because(&line).to_owned()
}

fn the_cascade_answers_for_a_lost_answer(service: Service) {
    for answer in [Answer::cut(), Answer::failed(), Answer::expired()] {
        assert!(answered_for(service, answer).contains(service.name()));
    }
}

fn the_cascade_answers_after_three_silent_s(service: Service) {
    let begun = Instant::now();
    answered_for(service, Answer::stall());
    assert!(begun.elapsed() >= Duration::from_secs(3), "{:?}", begun.elapsed());
}

fn the_cascade_answers_for_a_refused_session(service: Service) {
    for fault in [Fault::Refuse(401), Fault::Refuse(429), Fault::Refuse(503), Fault::RefuseSetup] {
        let server = VoiceServer::start(service, KEY);
        server.always(fault);
        let ran = ask(&server).ends_with(0);
        assert_by_cascade(&ran.line());
        assert_eq!(told(&ran), 1, "told once of {fault:?}: {ran:#?}");
        assert_eq!(answers(&server), 0, "{fault:?}");
    }
}

fn the_cascade_answers_for_a_mute_service(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.always(Fault::Mute);
    let place = Setting { wait: 500, ..Setting::new(&server) }.place();
    let ran = say_at(&place, &[HELLO]).ends_with(0);
    assert_by_cascade(&ran.line());
    assert_eq!(told(&ran), 1, "{ran:#?}");
}

fn cascade_answers_when_service_is_unreachable(service: Service) {
    let server = VoiceServer::start(service, KEY);
    let setting = Setting::new(&server);
    let place = setting.place();
    let config = setting.config().replace(&server.base_url(), &service.base_url(NOBODY));
    place.write("glyphoxa.yaml", config);
    let ran = say_at(&place, &[HELLO]).ends_with(0);
    assert_by_cascade(&ran.line());
    assert!(server.seen().is_empty());
}

/// The service repeats the key in its refusal.
fn refused_key_is_reported_and_never_shown(service: Service) {
    const WRONG: &str = "sk-wrong-realtime-key";
    let server = VoiceServer::start(service, KEY);
    let setting = Setting::new(&server);
    let place = setting.place();
    place.write("glyphoxa.yaml", setting.config().replace(KEY, WRONG));
    let ran = say_at(&place, &[HELLO, "Bartok, and?", "Bartok, well?"]).ends_with(0);
    ran.lines().iter().for_each(assert_by_cascade);
    assert!(because(&ran.lines()[0]).contains("check api_key"), "{ran:#?}");
    assert!(!format!("{ran:?}").contains(WRONG), "{ran:#?}");
    assert!((1..=2).contains(&told(&ran)), "at first, and when it rests: {ran:#?}");
    assert!(server.seen().iter().all(|it| it.refused.is_some()), "nobody got in");
}

fn service_that_fails_three_times_rests(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.otherwise(Answer::cut());
    let said = [HELLO, "Bartok, one", "Bartok, two", "Bartok, three", "Bartok, four"];
    let ran = say(&server, &said).ends_with(0);
    ran.lines().iter().for_each(assert_by_cascade);
    assert_eq!(answers(&server), 3, "{ran:#?}");
    assert_eq!(told(&ran), 2, "at first, and when it rests: {ran:#?}");
}

fn one_failure_is_forgotten_by_the_next_answer(service: Service) {
    let server = VoiceServer::start(service, KEY);
    for answer in [Answer::cut(), Answer::say(WELCOME, 1.0), Answer::cut(), Answer::cut()] {
        server.push(answer);
    }
    server.push(Answer::say(WELCOME, 1.0));
    let said = [HELLO, "Bartok, one", "Bartok, two", "Bartok, three", "Bartok, four"];
    let lines = say(&server, &said).ends_with(0).lines();
    [0, 2, 3].iter().for_each(|at| assert_by_cascade(&lines[*at]));
    [1, 4].iter().for_each(|at| assert_by_service(&lines[*at], WELCOME));
}

fn heard_part_of_a_cut_answer_is_recorded(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.push(Answer::cut_in("One two three four five six seven eight.", 4.0));
    let line = ask(&server).ends_with(0).line();
    let outcome = line["outcome"].as_str().expect("an outcome");
    assert!(["cut_short", "spoken"].contains(&outcome), "{line:#}");
    assert!(line["audio_ms"].as_u64() > Some(1_500), "{line:#}");
    let reply = line["reply"].as_str().expect("a reply");
    assert!(reply.starts_with("One two three") && !reply.contains("eight"), "{reply}");
}

fn session_that_ends_between_turns_is_replaced(service: Service) {
    for fault in [Fault::Expires, Fault::Closes] {
        let server = VoiceServer::start(service, KEY);
        server.fault(fault);
        server.otherwise(Answer::say(WELCOME, 1.0));
        assert_by_service(&asked_again_after_the_end(&server), WELCOME);
        assert_eq!(seen(&server).iter().filter(|it| it.answers == 1).count(), 2, "{fault:?}");
    }
}

fn strange_events_change_nothing(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.otherwise(Answer::strange(WELCOME, 1.5));
    let ran = say(&server, &[HELLO, "Bartok, and?", "Bartok, well?"]).ends_with(0);
    ran.lines().iter().for_each(|line| assert_by_service(line, WELCOME));
    seen(&server);
}

/// Hostile input ends the line in time, with speech and a reason.
#[track_caller]
fn ends_with_a_reason(service: Service, answer: Answer) -> Value {
    let server = VoiceServer::start(service, KEY);
    let shown = format!("{answer:?}").chars().take(200).collect::<String>();
    server.push(answer);
    let line = ask(&server).line();
    assert!(line["audio_ms"].as_u64() > Some(300), "{shown}: {line:#}");
    let reasons = [&line["detail"], &line["made_by"]["because"]];
    let has_reason = reasons.iter().any(|it| it.as_str().is_some_and(|it| !it.is_empty()));
    assert!(has_reason, "{shown}: {line:#}");
    let results: usize = server.ended().iter().map(|it| it.results.len()).sum();
    assert!(results <= 64, "{results} results of {shown}");
    line
}

fn endless_sound_ends(service: Service) {
    let line = ends_with_a_reason(service, Answer::endless_sound());
    assert!(line["audio_ms"].as_u64() < Some(120_000), "{line:#}");
}

fn endless_words_end(service: Service) {
    let line = ends_with_a_reason(service, Answer::endless_words());
    assert_eq!(line["reply"], CASCADE, "no word of it was heard: {line:#}");
}

fn a_thousand_calls_end(service: Service) {
    let dice = json!({"expression": "1d6"});
    let line = ends_with_a_reason(service, Answer::many_calls(1_000, "roll", &dice));
    assert!(line["tools"].as_array().is_some_and(|calls| calls.len() <= 64), "{line:#}");
}

fn huge_event_does_not_silence_the_npc(service: Service) {
    for bytes in [2 << 20, 9 << 20] {
        let server = VoiceServer::start(service, KEY);
        server.push(Answer::huge(bytes, WELCOME, 1.0));
        let line = ask(&server).ends_with(0).line();
        assert!(line["reply"] == CASCADE || line["reply"] == WELCOME, "{line:#}");
        assert!(line["audio_ms"].as_u64() > Some(300), "{line:#}");
    }
}

fn doctor_tries_the_service(service: Service) {
    let server = VoiceServer::start(service, KEY);
    let setting = Setting::new(&server);
    let place = setting.place();
    let ran = place.run(&["doctor"]);
    assert!(ran.stdout.contains("speech to speech"), "{ran:#?}");
    assert_eq!(answers(&server), 0, "it costs nothing");
    place.write("glyphoxa.yaml", setting.config().replace(KEY, "sk-another-realtime"));
    let ran = place.run(&["doctor"]);
    // Gemini has no status for it: it closes the connection.
    let refused = match service {
        Service::OpenAi => "the key was refused with status 401",
        Service::Gemini => "API key not valid",
    };
    assert!(ran.stdout.contains(refused), "{ran:#?}");
    assert!(!format!("{ran:?}").contains("sk-another-realtime"), "{ran:#?}");
    seen(&server);
}

fn doctor_tries_the_voices(service: Service) {
    let server = VoiceServer::start(service, KEY);
    let setting = Setting::new(&server);
    let place = setting.place();
    let voice = service.voice();
    let [there, gone] = [format!("voice: {voice} "), format!("voice: {voice}r ")];
    place.write("glyphoxa.yaml", setting.config().replace(&there, &gone));
    let ran = place.run(&["doctor"]);
    assert!(ran.stdout.contains(&format!("voice \"{voice}r\"")), "{ran:#?}");
    assert!(ran.stdout.contains("model, voice and tools"), "{ran:#?}");
}

on_both! {
    the_cascade_answers_for_a_lost_answer,
    the_cascade_answers_after_three_silent_s,
    the_cascade_answers_for_a_refused_session,
    the_cascade_answers_for_a_mute_service,
    cascade_answers_when_service_is_unreachable,
    refused_key_is_reported_and_never_shown,
    service_that_fails_three_times_rests,
    one_failure_is_forgotten_by_the_next_answer,
    heard_part_of_a_cut_answer_is_recorded,
    session_that_ends_between_turns_is_replaced,
    strange_events_change_nothing,
    endless_sound_ends,
    endless_words_end,
    a_thousand_calls_end,
    huge_event_does_not_silence_the_npc,
    doctor_tries_the_service,
    doctor_tries_the_voices,
}
