//! Answers of models that want the program, or somebody's account, dead.

use serde_json::json;

use crate::support::{
    chat_server::{ChatServer, Script},
    program::Place,
};

/// A table with one NPC that thinks at `server`, with a key.
fn table(server: &ChatServer) -> Place {
    Place::with_config(&format!(
        "providers:\n  llm: {{ name: openai, base_url: \"{}\", model: m, api_key: tall-tales-of-trolls }}\n\
         npcs:\n  - {{ name: Bartok }}\n",
        server.base_url()
    ))
}

const ASK: [&str; 6] = ["ask", "--json", "--session", "friday", "--text", "Bartok, hello"];

#[test]
fn key_that_a_model_speaks_is_not_said_or_kept() {
    let server = ChatServer::with_key(Some("tall-tales-of-trolls"));
    server.push(Script::text(&["Well met. ", "It is tall-tales-of-trolls. ", "Sit down."]));
    let place = table(&server);
    let said = place.run(&ASK).line().to_string();
    assert!(said.contains("Well met.") && said.contains("holds a credential"), "{said}");
    assert!(!said.contains("tall-tales"), "{said}");
    let kept = std::fs::read_to_string(place.path("data/sessions/friday.json")).unwrap();
    assert!(!kept.contains("tall-tales"), "{kept}");
}

#[test]
fn answer_without_end_is_told_by_its_bound() {
    let server = ChatServer::start();
    let endless = json!({"content": "a".repeat(4 << 10)});
    let first = Script::stream().chunk(json!({"content": "Well met. "}), None);
    server.push((0..20).fold(first, |script, _| script.chunk(endless.clone(), None)));
    let said = table(&server).run(&ASK).line().to_string();
    assert!(said.contains("64 KiB of text a turn"), "{said}");
}
