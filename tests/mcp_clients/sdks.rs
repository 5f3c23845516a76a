//! The protocol's own clients: in Python, and in TypeScript those of both lines.

use std::process::Command;

use serde_json::{Value, json};

use super::{LUCK, Served, TOOLS, has_roll, run_by, script};
use crate::{
    support::program::run,
    third_party::{installed, node},
};

#[test]
fn python_client_calls_tools_in_both_eras() {
    let Some(folder) = installed("mcp-python") else { return };
    let served = Served::start();
    let token = served.token("dm");
    for (mode, revision) in [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28")] {
        let mut client = Command::new(folder.join("bin/python"));
        client.arg(script("client.py")).args([served.url().as_str(), &token, mode, workflow()]);
        client.env("NO_PROXY", "127.0.0.1");
        check(client, revision);
    }
    served.ends_in_order(&token);
}

#[test]
fn typescript_clients_call_tools_in_both_eras() {
    let Some(folder) = installed("mcp-clients") else { return };
    let Some(node) = node("mcp-clients") else { return };
    let served = Served::start();
    let token = served.token("dm");
    for (line, revision) in [("sdk", "2025-11-25"), ("client", "2026-07-28")] {
        let mut client = run_by(&node, &script("client.mjs"));
        client.arg(&folder).args([line, &served.url(), &token, workflow()]);
        check(client, revision);
    }
    served.ends_in_order(&token);
}

/// Name of the workflow that clients run.
fn workflow() -> &'static str {
    LUCK.lines().find_map(|line| line.strip_prefix("name: ")).unwrap()
}

/// Runs a client; what it has understood is what was served.
#[track_caller]
fn check(client: Command, revision: &str) {
    let seen = run(client, "").ends_with(0).line();
    assert_eq!(seen["protocol"], revision, "{seen:#}");
    check_tools(&seen);
    check_calls(&seen);
    let count = |key: &str| seen[key].as_array().map_or(0, Vec::len);
    assert!(count("resources") > 0 && count("templates") > 0, "{seen:#}");
    assert!(seen["read"][0].as_u64() > Some(0), "{seen:#}");
    for prompt in ["interview-npc", "recap-for-players"] {
        assert!(seen["prompts"].as_array().unwrap().contains(&json!(prompt)), "{seen:#}");
    }
    assert!(seen["prompt"].as_u64() > Some(0), "{seen:#}");
    assert_ne!(seen["refused"], "none", "a wrong token was let in: {seen:#}");
}

/// Names with dots arrive as they are, and each tool says what it is.
#[track_caller]
fn check_tools(seen: &Value) {
    let tools = seen["tools"].as_array().unwrap();
    for tool in TOOLS {
        assert!(tools.contains(&json!(tool)), "no {tool}: {seen:#}");
    }
    for lacking in ["undescribed", "unannotated", "without_output_schema"] {
        assert_eq!(seen[lacking], json!([]), "{lacking}: {seen:#}");
    }
}

#[track_caller]
fn check_calls(seen: &Value) {
    for call in ["roll", "spoken", "asked", "health", "run"] {
        assert_eq!(seen[call]["error"], false, "{call}: {seen:#}");
        assert!(seen[call]["structured"].is_object(), "{call}: {seen:#}");
        assert_ne!(seen[call]["text"], "", "{call}: {seen:#}");
    }
    assert!(has_roll(&seen["roll"]["structured"]), "{seen:#}");
    let spoken = &seen["spoken"];
    assert_eq!(spoken["structured"]["heard"], "The bridge is out.", "{seen:#}");
    assert_eq!(spoken["structured"]["how"], "spoken", "{seen:#}");
    // Half a second at 16 bits, whatever it is packed in.
    let sound = &spoken["sounds"][0];
    assert!(sound[0].as_str().is_some_and(|it| it.starts_with("audio/")), "{seen:#}");
    assert!(sound[1].as_u64() > Some(1_000), "{seen:#}");
    assert!(seen["asked"]["text"].as_str().is_some_and(|it| it.contains("Aye")), "{seen:#}");
    let unknown = &seen["unknown_npc"];
    assert_eq!(unknown["error"], true, "{seen:#}");
    assert!(unknown["text"].as_str().is_some_and(|it| it.contains("'Nobody'")), "{seen:#}");
    assert!(seen["run"]["progress"].as_u64() > Some(0), "{seen:#}");
}
