//! Money: what is shown is what the service billed, and no cap is passed.

use super::{HELLO, KEY, PRICES, Setting, answers, assert_by_cascade, because, say, say_at, seen};
use crate::support::{
    ears::Ears,
    speech::{padded, plain_wav, speech},
    voice_models::{Answer, Prices, Service, VoiceServer},
};
use serde_json::{Value, json};

/// Sound spoken costs 0.001 a token, everything else next to nothing.
const DEAR: Prices = Prices {
    input: 0.01,
    cached_input: 0.01,
    output: 0.01,
    audio_input: 0.01,
    audio_cached: 0.01,
    audio_output: 1_000.0,
};

fn spent(line: &Value) -> f64 {
    line["spent"].as_f64().expect("a sum")
}

/// The last line has counted what the service has billed.
#[track_caller]
fn assert_counted(server: &VoiceServer, lines: &[Value]) {
    seen(server);
    let (spent, bill) = (spent(lines.last().expect("a line")), server.bill(&PRICES));
    assert!(bill > 0.0 && (spent - bill).abs() < 1e-6, "{spent} counted, {bill} billed");
}

fn spent_is_what_the_service_billed(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.push(Answer::say("Nine herrings for the stew.", 2.0));
    server.push(Answer::say("And three for the cat.", 1.5));
    let lines = say(&server, &[HELLO, "Bartok, and then?"]).ends_with(0).lines();
    assert_counted(&server, &lines);
    let billed = server.billed();
    let has_cache = service == Service::OpenAi;
    assert_eq!(billed[1].text_cached > 0, has_cache, "{billed:?}");
    assert!(billed[1].audio_cached <= billed[1].audio_in, "{billed:?}");
}

fn rounds_with_calls_are_counted_too(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.push(Answer::call("roll", json!({"expression": "2d6+3"})));
    server.push(Answer::say("The dice have fallen.", 1.0));
    let lines = say(&server, &["Bartok, roll for me"]).ends_with(0).lines();
    assert_eq!(server.billed().len(), 2);
    assert_counted(&server, &lines);
}

fn spoken_lines_are_counted_by_their_sound(service: Service) {
    let (ears, server) = (Ears::start(), VoiceServer::start(service, KEY));
    let place = Setting { providers: ears.entry(), ..Setting::new(&server) }.place();
    place.write("said.wav", plain_wav(&padded(0.5, &speech("rms", HELLO), 1.0)));
    let lines = place.run(&["ask", "--json", "--in", "said.wav"]).ends_with(0).lines();
    assert!(server.billed()[0].audio_in > 5, "{:?}", server.billed());
    assert_counted(&server, &lines);
}

fn cap_holds_and_the_cascade_goes_on(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.otherwise(Answer::say("A long story of herrings.", 20.0));
    let budget = "budget: { session_max: 3 }";
    let place = Setting { prices: DEAR, more: budget, ..Setting::new(&server) }.place();
    let lines = say_at(&place, &[HELLO; 9]).lines();
    seen(&server);
    let (bill, counted) = (server.bill(&DEAR), spent(&lines[8]));
    assert!((0.4..=3.0).contains(&bill), "{bill} billed under a cap of 3.00");
    assert!(counted >= bill - 1e-6, "{counted} counted, {bill} billed");
    assert!((1..9).contains(&answers(&server)), "{} answers", answers(&server));
    // The lines of an NPC cost nothing.
    assert_by_cascade(&lines[8]);
    assert!(because(&lines[8]).contains("session_max"), "{:#}", lines[8]);
}

fn nothing_is_asked_that_cannot_be_paid(service: Service) {
    let (ears, server) = (Ears::start(), VoiceServer::start(service, KEY));
    let (more, providers) = ("budget: { session_max: 0.01 }", ears.entry());
    let setting = Setting { prices: DEAR, more, providers, ..Setting::new(&server) };
    let place = setting.place();
    place.write("said.wav", plain_wav(&padded(0.5, &speech("rms", HELLO), 1.0)));
    let line = place.run(&["ask", "--json", "--in", "said.wav"]).ends_with(0).line();
    assert_by_cascade(&line);
    assert_eq!(answers(&server), 0, "{line:#}");
    assert!(spent(&line) < 1e-9, "{line:#}");
    let sessions = seen(&server);
    assert!(sessions.iter().all(|it| it.sound.is_empty()), "no sound is sent: {sessions:#?}");
}

fn counts_of_nothing_are_not_believed(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.push(Answer::uncounted("Nine herrings for the stew, and three for the cat.", 4.0));
    let lines = say(&server, &[HELLO]).ends_with(0).lines();
    seen(&server);
    let (spent, bill) = (spent(&lines[0]), server.bill(&PRICES));
    assert!(spent >= bill * 0.8, "{spent} counted, {bill} billed");
}

/// A service that counts nothing still ends at the cap.
fn uncounted_answers_end_at_the_cap(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.otherwise(Answer::uncounted("A long story of herrings.", 20.0));
    let budget = "budget: { session_max: 3 }";
    let place = Setting { prices: DEAR, more: budget, ..Setting::new(&server) }.place();
    say_at(&place, &[HELLO; 9]);
    seen(&server);
    let bill = server.bill(&DEAR);
    assert!(bill <= 3.0 + 0.5, "{bill} billed under a cap of 3.00, at up to 0.50 an answer");
}

/// The session breaks off; what was sent may have been billed.
fn lost_answers_are_booked(service: Service) {
    for lost in [Answer::cut_in("One two three four five six.", 4.0), Answer::cut()] {
        let server = VoiceServer::start(service, KEY);
        server.push(lost);
        let lines = say(&server, &[HELLO]).lines();
        seen(&server);
        let (spent, bill) = (spent(&lines[0]), server.bill(&PRICES));
        assert!(bill > 0.0 && spent >= bill - 1e-6, "{spent} counted, {bill} billed");
    }
}

/// An answer without end costs no more than was set aside for it.
fn endless_answer_costs_what_was_set_aside(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.push(Answer::endless_sound());
    let budget = "budget: { session_max: 3 }";
    let place = Setting { prices: DEAR, more: budget, ..Setting::new(&server) }.place();
    let lines = say_at(&place, &[HELLO]).lines();
    seen(&server);
    let counted = spent(&lines[0]);
    assert!(counted > 0.0 && counted <= 3.0 + 1e-6, "{counted} under a cap of 3.00");
}

on_both! {
    spent_is_what_the_service_billed,
    rounds_with_calls_are_counted_too,
    spoken_lines_are_counted_by_their_sound,
    cap_holds_and_the_cascade_goes_on,
    nothing_is_asked_that_cannot_be_paid,
    counts_of_nothing_are_not_believed,
    uncounted_answers_end_at_the_cap,
    lost_answers_are_booked,
    endless_answer_costs_what_was_set_aside,
}
