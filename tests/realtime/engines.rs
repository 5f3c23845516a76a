//! An NPC's engine, changed by the game master between two turns.

use serde_json::Value;

use super::{CASCADE, KEY, PRICES, WAIT, seen, talk};
use crate::support::{
    answers::text,
    chat_server::{ChatServer, Script},
    ears::Ears,
    program::{Place, Ran},
    voice_models::{Answer, Service, VoiceServer},
};

const SECRET: &str = "Odo, I hid the key under the oak";
/// The engine that hears and speaks, as turns name it.
const VOICE_MODEL: &str = "speech_to_speech";
const WHERE: &str = "Odo, where is it";

/// Odo, who speaks by the cascade; `more` are further lines of `providers` and what follows them.
fn odo(more: &str) -> Place {
    Place::with_config(&format!(
        "providers:\n{more}\nnpcs:\n  - name: Odo\n    personality: A ferryman.\n    voice: {{ \
         provider: flite, voice_id: rms }}\n    lines: [{{ say: \"{CASCADE}\" }}]\n"
    ))
}

/// The line of `providers` for `server`.
fn entry(server: &VoiceServer) -> String {
    let (url, price) = (server.base_url(), PRICES.entry());
    let (name, model) = (server.service().name(), server.service().model());
    format!(
        "  speech_to_speech: {{ name: {name}, model: {model}, api_key: {KEY}, base_url: \"{url}\", \
         first_byte_timeout_ms: {WAIT}, price: {price} }}\n"
    )
}

/// The game master types these lines, one after the other.
fn typed(place: &Place, lines: &[&str]) -> Ran {
    place.run_typing(&["ask", "--json", "--as-dm"], &lines.join("\n")).ends_with(0)
}

/// Engines and replies of the turns.
fn answered(lines: &[Value]) -> Vec<(&str, &str)> {
    lines.iter().map(|line| (text(&line["made_by"], "engine"), text(line, "reply"))).collect()
}

fn engine_price_is_shown_before_any_change(service: Service) {
    let server = VoiceServer::start(service, KEY);
    let ran = typed(&odo(&entry(&server)), &["/npc engine odo s2s", SECRET]);
    // The price of a second is the service's own.
    let cost = match service {
        Service::OpenAi => "costs about 1.18 to 2.26 at the configured prices",
        Service::Gemini => "costs about",
    };
    let sent = format!("own voices are sent to {} at 127.0.0.1", service.model());
    let told = [cost, &sent, "/npc engine name:Odo engine:s2s confirm:True"];
    for part in told {
        assert!(ran.stderr.contains(part), "'{part}' is not told: {}", ran.stderr);
    }
    assert_eq!(answered(&ran.lines()), [("cascaded", CASCADE)]);
    assert!(server.seen().is_empty(), "nobody has connected: {:#?}", server.seen());
}

fn changed_engine_knows_what_was_said(service: Service) {
    let server = VoiceServer::start(service, KEY);
    server.push(Answer::say("Under the oak, you said.", 1.0));
    let change = ["/npc engine Odo s2s confirm", "/npc engine Odo speech_to_speech"];
    let ran = typed(&odo(&entry(&server)), &[SECRET, change[0], WHERE, change[1]]);
    let wanted = [("cascaded", CASCADE), (VOICE_MODEL, "Under the oak, you said.")];
    assert_eq!(answered(&ran.lines()), wanted, "{ran:#?}");
    assert!(ran.stderr.contains("write `engine: s2s` into its file to keep it"), "{}", ran.stderr);
    assert!(ran.stderr.contains("Odo has the engine s2s already"), "{}", ran.stderr);
    let session = talk(&server);
    assert!(session.has_item("user", "the key under the oak"), "{:#?}", session.items);
    assert!(session.has_item("assistant", CASCADE), "{:#?}", session.items);
    assert!(session.has_item("user", "where is it"), "{:#?}", session.items);
}

fn cascade_goes_on_from_the_voice_model(service: Service) {
    let (server, model) = (VoiceServer::start(service, KEY), ChatServer::start());
    server.push(Answer::say("I saw a heron on the river.", 1.0));
    model.otherwise(|_| Script::text(&["As I said, a heron."]));
    let brain =
        format!("  llm: {{ name: openai, base_url: \"{}\", model: brain }}\n", model.base_url());
    let place = odo(&(entry(&server) + &brain));
    let lines = [
        "/npc engine Odo s2s confirm",
        "Odo, what did you see",
        "/npc engine Odo cascaded",
        "/npc engine Odo cascaded confirm",
        WHERE,
    ];
    let ran = typed(&place, &lines);
    let wanted =
        [(VOICE_MODEL, "I saw a heron on the river."), ("cascaded", "As I said, a heron.")];
    assert_eq!(answered(&ran.lines()), wanted, "{ran:#?}");
    let told = "costs nothing at the configured prices. The players' voices are sent to no other";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let asked = model.requests();
    let [asked] = asked.as_slice() else { panic!("one request: {asked:#?}") };
    let asked = asked.json.to_string();
    assert!(asked.contains("what did you see") && asked.contains("I saw a heron"), "{asked}");
    seen(&server);
}

#[test]
fn engine_without_its_service_is_refused() {
    let ran = typed(&odo(&Ears::start().entry()), &["/npc engine Odo s2s confirm", SECRET]);
    let told = "no speech-to-speech service is configured (add providers.speech_to_speech:";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(answered(&ran.lines()), [("cascaded", CASCADE)]);
}

fn guarded_table_keeps_the_cascade(service: Service) {
    let server = VoiceServer::start(service, KEY);
    let place = odo(&(entry(&server) + "lines_and_veils: [spiders]\n"));
    let ran = typed(&place, &["/npc engine Odo s2s confirm", SECRET]);
    assert!(ran.stderr.contains("lines_and_veils are set"), "{}", ran.stderr);
    assert_eq!(answered(&ran.lines()), [("cascaded", CASCADE)]);
    assert!(server.seen().is_empty(), "{:#?}", server.seen());
}

fn players_may_not_change_engines(service: Service) {
    let server = VoiceServer::start(service, KEY);
    let place = odo(&entry(&server));
    let ran = place.run_typing(&["ask", "--json"], "/npc engine Odo s2s confirm\nOdo, hello");
    assert!(ran.stderr.contains("only the game master may /npc engine"), "{}", ran.stderr);
    assert!(server.seen().is_empty(), "{:#?}", server.seen());
}

on_both! {
    engine_price_is_shown_before_any_change,
    changed_engine_knows_what_was_said,
    cascade_goes_on_from_the_voice_model,
    guarded_table_keeps_the_cascade,
    players_may_not_change_engines,
}
