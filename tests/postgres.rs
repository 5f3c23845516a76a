//! The memory in PostgreSQL, through the real program: what it says when the server is away, and what
//! becomes of what is said meanwhile.

use std::fs;

use serde_json::Value;

use crate::exporting;
use crate::support::{
    postgres::Server,
    program::{Place, Ran},
};

/// A folder whose memory is in that server; the password is one it does not ask for.
fn place(server: &Server) -> Place {
    let url = server.url("postgres").replace("postgres@", "postgres:hush@");
    Place::with_config(
        "npcs: [{ name: Bartok, voice: { voice_id: rms } }]\nmemory: { url: \"${DATABASE_URL}\" }\n",
    )
    .env("DATABASE_URL", &url)
}

fn shown(place: &Place) -> Vec<String> {
    let lines = place.run(&["session", "show", "one", "--json"]).ends_with(0).lines();
    let seqs: Vec<&Value> = lines.iter().map(|line| &line["seq"]).collect();
    assert!(seqs.iter().zip(1..).all(|(seq, n)| **seq == n), "{seqs:?}");
    lines.iter().filter_map(|line| line["text"].as_str().map(str::to_owned)).collect()
}

#[test]
fn postgres_outage_loses_no_turn_and_no_line() {
    let Some(mut server) = Server::start() else { return };
    let place = place(&server);
    let ask = ["ask", "--json", "--session", "one", "--speaker", "Anna"];
    let mut table = place.start(&ask);
    table.types("Bartok, the first thing");
    table.says("\"turn\"");
    server.stop();
    table.types("Bartok, the second thing");
    table.says("not being written for now");
    table.types("Bartok, the third thing");
    table.says("third");
    server.again();
    table.says("the transcript is being written again");
    table.types("Bartok, the fourth thing");
    table.says("fourth");
    server.kill();
    table.types("Bartok, the fifth thing");
    table.says("fifth");
    table.leave();

    // Waiting lines are readable by their owner only, and the next start writes them down.
    let waiting = place.path("data/memory-waiting.0.jsonl");
    let mode = fs::metadata(&waiting).unwrap().permissions();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600);
    let away = |ran: Ran| {
        let said = ran.ends_with(1).stderr;
        assert!(said.contains("the memory cannot be reached: PostgreSQL at postgres://"), "{said}");
        assert!(said.contains("start it, or correct 'memory.url'"), "{said}");
        assert!(!said.contains("hush") && said.trim().lines().count() == 1, "{said}");
    };
    away(place.run(&["session", "list"]));
    away(place.run(&["nodes"]));
    away(place.run(&["ask", "--session", "one", "--text", "Bartok, hello"]));
    server.again();
    place.run(&[&ask[..], &["--text", "Bartok, the sixth thing"]].concat()).line();
    assert!(!waiting.exists());
    let said = shown(&place);
    for word in ["first", "second", "third", "fourth", "fifth", "sixth"] {
        let asked = format!("Bartok, the {word} thing");
        assert_eq!(said.iter().filter(|text| **text == asked).count(), 1, "{word}: {said:#?}");
    }
    let stats = place.run(&["memory", "stats"]).ends_with(0).stdout;
    assert!(stats.contains("PostgreSQL 1") && stats.contains("pgvector"), "{stats}");
    assert!(!stats.contains("hush"), "{stats}");
    for _ in 0..2 {
        let nodes = place.run(&["nodes"]).ends_with(0).stdout;
        assert!(nodes.starts_with("no node runs"), "asking is not running: {nodes}");
    }
    let nodes = place.run(&["nodes", "--json"]).ends_with(0).line();
    assert_eq!(nodes, serde_json::json!({ "shards": 0, "free": [], "nodes": [] }));
}

#[test]
fn campaign_moves_to_postgres_and_back_equal() {
    let Some(server) = Server::start() else { return };
    let (from, to) = (exporting::exported(), place(&server));
    let home = exporting::other();
    let backup = from.path("backup");
    let there = exporting::there_and_back(&to, &backup.display().to_string());
    let back = exporting::there_and_back(&home, &there.display().to_string());
    for again in [there, back] {
        assert_eq!(exporting::all_entries(&again), exporting::all_entries(&backup));
    }
}

#[test]
fn invalid_postgres_address_fails_the_check() {
    for (memory, said) in [
        ("{ url: 'mysql://bot:hush@db/table' }", "url is not a PostgreSQL address"),
        ("{ url: 'postgres://bot:hush@db/t', path: m.db }", "memory has both a path and a url"),
    ] {
        let place = Place::with_config(&format!("memory: {memory}\n"));
        let refused = place.run(&["check"]);
        let all = format!("{}{}", refused.stdout, refused.stderr);
        assert!(refused.status != 0 && all.contains(said) && !all.contains("hush"), "{all}");
    }
    // An empty variable is no address.
    let place = Place::with_config(
        "npcs: [{ name: Bartok, voice: { voice_id: rms } }]\nmemory: { url: \"${DATABASE_URL:-}\" }\n",
    );
    place.run(&["session", "list"]).ends_with(0);
    assert!(place.path("data/memory.db").exists());
}
