//! Turns that another engine makes, and tools that follow the tier.

use serde_json::{Value, json};

use crate::{
    hostile::has_python,
    support::{
        program::{Place, repository},
        voice_models::{Answer, Service, VoiceServer},
    },
};

use super::{KEY, WAIT, assert_by_service, because, seen};

/// Bartok, who speaks by `server`; his tool `home.dig` takes 0.8 s, and `declared` is what is said of it.
pub fn place(server: &VoiceServer, declared: &str) -> Place {
    let (url, tools) = (server.base_url(), repository("tests/support/mcp/server.py"));
    let (name, model) = (server.service().name(), server.service().model());
    Place::with_config(&format!(
        r#"providers:
  speech_to_speech: {{ name: {name}, model: {model}, api_key: {KEY}, base_url: "{url}", first_byte_timeout_ms: {WAIT}, free: true }}
npcs:
  - name: Bartok
    engine: s2s
    personality: A gruff innkeeper.
    budget_tier: deep
    tools: [dice-roller.roll, "home.dig"]
    voice: {{ provider: flite, voice_id: rms }}
    lines:
      - {{ when: [dig], tool: {{ name: home.dig }}, say: "I found {{result}}." }}
      - say: "Hm."
mcp:
  servers:
    - name: home
      required: true
      command: "python3 '{}' plain"
      env: {{ MORE: yes, PACE: "0.1" }}
      tools: {{ dig: {{ effects: none, open_world: false, max_duration_ms: 6000, {declared} }} }}
"#,
        tools.display()
    ))
}

/// Says lines, one after the other, and gives what became of them.
pub fn ask(place: &Place, said: &[&str]) -> Vec<Value> {
    let lines = said.iter().flat_map(|line| ["--text", line]);
    let arguments: Vec<&str> = ["ask", "--json"].into_iter().chain(lines).collect();
    place.run(&arguments).ends_with(0).lines()
}

fn careful_thought_is_left_to_the_cascade(service: Service) {
    if !has_python() {
        return;
    }
    let server = VoiceServer::start(service, KEY);
    server.push(Answer::say("Welcome, friend.", 1.0));
    server.push(Answer::say("It is mine now.", 1.0));
    let place = place(&server, "estimated_duration_ms: 2000");
    let lines = ask(&place, &["Bartok, hello", "Bartok, think carefully and dig", "And the gold?"]);
    assert_by_service(&lines[0], "Welcome, friend.");
    assert_eq!(lines[1]["made_by"]["engine"], "cascaded", "{:#}", lines[1]);
    assert_eq!(because(&lines[1]), "home.dig takes 2000 ms, and slow_tool_ms is 1500");
    assert_eq!(
        (&lines[1]["reply"], &lines[1]["tier"]["effective"]),
        (&json!("I found gold."), &json!("deep"))
    );
    assert_by_service(&lines[2], "It is mine now.");
    let sessions = seen(&server);
    let [session] = &sessions[..] else { panic!("one session: {sessions:#?}") };
    let place_of = |role: &str, text: &str| {
        session.items.iter().position(|(by, said)| by == role && said.contains(text))
    };
    let (asked, dug) =
        (place_of("user", "think carefully and dig"), place_of("assistant", "I found gold."));
    assert!(asked.is_some() && asked < dug, "it knows both, in order: {:#?}", session.items);
    assert!(dug < place_of("user", "And the gold?"), "{:#?}", session.items);
}

fn declared_tools_are_those_of_the_tier(service: Service) {
    if !has_python() {
        return;
    }
    let server = VoiceServer::start(service, KEY);
    let place = place(&server, "estimated_duration_ms: 1000");
    server.otherwise(Answer::say("Aye.", 0.5));
    let promise = "Bartok, what did I promise you?";
    let said = ["Bartok, hello", "Nice weather", "Nice beer", promise, promise, "Nice fire"];
    let lines = ask(&place, &said);
    let tiers: Vec<&Value> = lines.iter().map(|line| &line["tier"]["effective"]).collect();
    assert_eq!(tiers, ["standard", "fast", "fast", "standard", "standard", "fast"]);
    let mut visible: Vec<Value> = lines.iter().map(|line| line["visible"].clone()).collect();
    assert!(visible[0].to_string().contains("dig") && !visible[1].to_string().contains("dig"));
    visible.dedup();
    let sessions = seen(&server);
    // Where tools cannot change, they are those of the next session.
    let most = if service == Service::OpenAi { 1 } else { visible.len() + 1 };
    assert!(sessions.len() <= most, "{sessions:#?}");
    let declared = sessions.iter().flat_map(|it| &it.declared);
    let declared: Vec<Value> = declared.map(|names| json!(names)).collect();
    assert!(declared.ends_with(&visible), "only when they change: {declared:#?}");
    assert!(declared.len() <= visible.len() + 1, "{declared:#?}");
}

fn tool_beyond_the_tier_is_refused(service: Service) {
    if !has_python() {
        return;
    }
    let server = VoiceServer::start(service, KEY);
    let place = place(&server, "estimated_duration_ms: 1000");
    server.push(Answer::say("Aye.", 0.5));
    // As a model may that remembers the tools of a turn before.
    server.push(Answer::call("dig", json!({})));
    server.push(Answer::say("Not now.", 0.5));
    let lines = ask(&place, &["Bartok, hello", "Nice weather"]);
    let call = &lines[1]["tools"][0];
    assert_eq!(
        (&lines[1]["tier"]["effective"], &call["ok"]),
        (&json!("fast"), &json!(false)),
        "{:#}",
        lines[1]
    );
    assert_by_service(&lines[1], "Not now.");
    let sessions = seen(&server);
    let results: Vec<_> = sessions.iter().flat_map(|it| &it.results).collect();
    assert!(results.len() == 1 && !results[0].1.contains("gold"), "{results:#?}");
}

on_both! {
    careful_thought_is_left_to_the_cascade,
    declared_tools_are_those_of_the_tier,
    tool_beyond_the_tier_is_refused,
}
