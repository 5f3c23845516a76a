//! Both services at one table: each NPC is heard and answered by its own.

use super::{KEY, PRICES, WAIT, assert_by_service, say_at, seen};
use crate::support::{
    program::Place,
    voice_models::{Answer, Seen, Service, VoiceServer},
};

const RIVER: &str = "The river was dry.";
const FISH: &str = "The fish lay in the mud.";

/// The counterparts of OpenAI and Google.
fn servers() -> [VoiceServer; 2] {
    [Service::OpenAi, Service::Gemini].map(|service| VoiceServer::start(service, KEY))
}

/// Odo, who names no service, and Gisela with Gemini Live, whose engine is `engine`.
fn place(servers: &[VoiceServer; 2], engine: &str) -> Place {
    let [first, second] = servers.each_ref().map(|server| {
        let (name, model) = (server.service().name(), server.service().model());
        let (url, price) = (server.base_url(), PRICES.entry());
        format!(
            "    - {{ name: {name}, model: {model}, api_key: {KEY}, base_url: \"{url}\", \
             first_byte_timeout_ms: {WAIT}, price: {price} }}\n"
        )
    });
    Place::with_config(&format!(
        r#"providers:
  speech_to_speech:
{first}{second}npcs:
  - name: Odo
    personality: A ferryman.
    engine: s2s
    s2s: {{ voice: cedar }}
    voice: {{ provider: flite, voice_id: rms }}
    lines: [{{ say: "Hm." }}]
  - name: Gisela
    personality: A fishwife.
    engine: {engine}
    s2s: {{ provider: gemini-live, voice: Kore }}
    voice: {{ provider: flite, voice_id: slt }}
    lines: [{{ say: "Hm." }}]
"#
    ))
}

/// The only session of `server` that answered, in which it answered once.
#[track_caller]
fn only_answer(server: &VoiceServer) -> Seen {
    let mut sessions = seen(server);
    sessions.retain(|it| it.answers > 0);
    let [session] = <[Seen; 1]>::try_from(sessions).expect("one session");
    assert_eq!((session.answers, session.model.as_str()), (1, server.service().model()));
    session
}

#[test]
fn each_npc_is_answered_by_its_own_service() {
    let servers = servers();
    let [openai, gemini] = &servers;
    openai.push(Answer::say(RIVER, 1.0));
    gemini.push(Answer::say(FISH, 1.0));
    let place = place(&servers, "s2s");
    let lines = say_at(&place, &["Odo, how is the river", "Gisela, where are the fish"]).lines();
    for (line, npc, reply) in [(&lines[0], "Odo", RIVER), (&lines[1], "Gisela", FISH)] {
        assert_by_service(line, reply);
        assert_eq!(line["npc"], npc, "{line:#}");
    }
    let of = [only_answer(openai), only_answer(gemini)];
    let voices = of.each_ref().map(|session| session.voice.as_deref());
    assert_eq!(voices, [Some("cedar"), Some("Kore")]);
    let asked = |session: &Seen, who: &str| session.instructions.iter().any(|it| it.contains(who));
    assert!(asked(&of[0], "ferryman") && !asked(&of[0], "fishwife"), "{:#?}", of[0].instructions);
    assert!(asked(&of[1], "fishwife") && !asked(&of[1], "ferryman"), "{:#?}", of[1].instructions);
}

#[test]
fn doctor_tries_each_service() {
    let servers = servers();
    let both = place(&servers, "s2s").run(&["doctor"]).stdout;
    for server in &servers {
        let (name, model) = (server.service().name(), server.service().model());
        let found = format!("\u{2713} speech to speech: {name}: opens a session of \"{model}\"");
        assert!(both.contains(&found), "'{found}' is not said: {both}");
    }
    let first = place(&servers, "cascaded").run(&["doctor"]).stdout;
    assert!(first.contains("speech to speech: openai-realtime"), "{first}");
    assert!(!first.contains("gemini-live"), "no NPC uses it: {first}");
    for server in &servers {
        assert!(seen(server).iter().all(|it| it.answers == 0), "it costs nothing");
    }
}

#[test]
fn engine_is_changed_to_the_npcs_own_service() {
    let servers = servers();
    let [openai, gemini] = &servers;
    gemini.push(Answer::say(FISH, 1.0));
    let typed =
        ["/npc engine Gisela s2s", "/npc engine Gisela s2s confirm", "Gisela, where are the fish"];
    let place = place(&servers, "cascaded");
    let ran = place.run_typing(&["ask", "--json", "--as-dm"], &typed.join("\n")).ends_with(0);
    let told = format!("own voices are sent to {} at 127.0.0.1", gemini.service().model());
    assert!(ran.stderr.contains(&told), "{}", ran.stderr);
    assert_by_service(&ran.lines()[0], FISH);
    only_answer(gemini);
    assert!(seen(openai).iter().all(|it| it.answers == 0), "{:#?}", openai.seen());
}
