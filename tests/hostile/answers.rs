//! Answers of models that attack the program, or an account.

use serde_json::json;

use crate::support::{
    chat_server::{ChatServer, Script},
    program::{Place, run},
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
fn endless_answer_error_names_its_limit() {
    let server = ChatServer::start();
    let endless = json!({"content": "a".repeat(4 << 10)});
    let first = Script::stream().chunk(json!({"content": "Well met. "}), None);
    server.push((0..20).fold(first, |script, _| script.chunk(endless.clone(), None)));
    let said = table(&server).run(&ASK).line().to_string();
    assert!(said.contains("64 KiB of text a turn"), "{said}");
}

/// Mark-up is taken from what is said, and what it stood in is a key again.
#[test]
fn key_within_mark_up_is_not_said() {
    for said in [
        "It is tall-*tales*-of-trolls.",
        "It is [tall-tales](http://x.test)-of-trolls.",
        "It is tall\u{200b}-tales-of-trolls.",
        "It is `tall`-tales-of-trolls.",
    ] {
        let server = ChatServer::with_key(Some("tall-tales-of-trolls"));
        server.push(Script::text(&["Well met. ", said]));
        let told = table(&server).run(&ASK).line().to_string();
        assert!(
            told.contains("Well met.") && told.contains("holds a credential"),
            "{said}: {told}"
        );
        assert!(!told.contains("of-trolls"), "{said}: {told}");
    }
}

/// A line that takes long to understand holds up the whole table.
#[test]
fn longest_line_is_understood_at_once() {
    let server = ChatServer::with_key(Some("tall-tales-of-trolls"));
    server.otherwise(|_| Script::text(&["Hm."]));
    let place = table(&server);
    for word in ["bartok ", "ya ", "bartok's "] {
        let line = word.repeat((8 << 10) / word.len());
        // Ten seconds of processor time, twenty times what it takes.
        let asked = place.after("ulimit -t 10", &["ask", "--json", "--text", &line]);
        run(asked, "").ends_with(0);
    }
    let longer = "ya ".repeat(3_000);
    let refused = place.run(&["ask", "--text", &longer]).ends_with(2);
    assert!(refused.stderr.contains("--text has 9000 bytes (use at most 8 KiB)"), "{refused:#?}");
}

#[test]
fn key_that_a_player_says_is_not_kept_or_sent() {
    let key = "sk-proj-0123456789abcdef";
    let server = ChatServer::with_key(Some("tall-tales-of-trolls"));
    server.push(Script::text(&["Keep it."]));
    let place = table(&server);
    let line = format!("Bartok, my key is {key}, and yours is tall-tales-of-trolls.");
    let ran = place.run(&["ask", "--session", "friday", "--text", &line]).ends_with(0);
    assert!(ran.stdout.contains("my key is <secret>, and yours is <secret>."), "{ran:#?}");
    let sent = server.requests()[0].json.to_string();
    assert!(!sent.contains(key) && !sent.contains("tall-tales"), "{sent}");
    for file in ["data/sessions/friday.json", "data/memory.db", "data/memory.db-wal"] {
        let kept = std::fs::read(place.path(file)).unwrap_or_default();
        let kept = String::from_utf8_lossy(&kept);
        assert!(!kept.contains(key) && !kept.contains("tall-tales"), "{file}");
    }
}

/// Arguments of a call go back with the next request, as often as the model calls.
#[test]
fn arguments_that_fill_half_the_window_stay() {
    let server = ChatServer::with_key(Some("tall-tales-of-trolls"));
    let long = json!({"expression": format!("1d6 [{}]", "a".repeat(100 << 10))}).to_string();
    server.otherwise(move |_| Script::calls(&[("x", "dice-roller_roll", &long)]));
    let place = table(&server);
    let ran = place.run(&["ask", "--verbose", "--text", "Bartok, roll a d6"]).ends_with(1);
    assert!(ran.stdout.contains("fill half of its window"), "{ran:#?}");
    assert_eq!(server.requests().len(), 1);
    assert!(ran.stdout.len() + ran.stderr.len() < 8 << 10, "it is not printed whole");
}
