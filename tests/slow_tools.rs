//! Tools that take longer than a moment: what is heard meanwhile, and what comes later.

use serde_json::{Value, json};

use crate::{
    hostile::has_python,
    support::program::{Place, repository},
};

/// Pip, whose tool takes 1.6 s and tells of its progress; `tool` is what is declared of it.
fn place(tool: &str) -> Place {
    let server = repository("tests/support/mcp/server.py");
    Place::with_config(&format!(
        "npcs:\n  - name: Pip\n    tools: [\"home.*\"]\n    budget_tier: deep\n    fillers: [\"Let me see \
         what I can find down there.\"]\n    lines:\n      - {{ when: [dig], tool: {{ name: home.dig }}, say: \
         \"I found {{result}}.\" }}\n      - say: \"Hm.\"\nmcp:\n  servers:\n    - {{ name: home, required: true, \
         command: \"python3 '{}' plain\", env: {{ MORE: yes }}, tools: {{ dig: {{ effects: none, open_world: \
         false, {tool} }} }} }}\n",
        server.display()
    ))
}

#[test]
fn first_turn_after_the_start_has_its_filler() {
    if !has_python() {
        return;
    }
    let place = place("estimated_duration_ms: 1500, max_duration_ms: 6000");
    let ask = ["ask", "--json", "--tier", "deep", "--text", "Pip, dig"];
    let line = place.run(&ask).ends_with(0).line();
    assert_eq!(line["reply"], "I found gold.", "{line:#}");
    let tool = line["tools"][0]["ms"].as_f64().unwrap();
    let first = line["ms"]["speech_end_to_first_audio"].as_f64().unwrap();
    assert!(first < tool, "it is heard while the tool still works: {line:#}");
    // Nothing is heard before the answer where nobody has a line for that.
    let config = std::fs::read_to_string(place.path("glyphoxa.yaml")).unwrap();
    let (before, rest) = config.split_once("    fillers").unwrap();
    let (_, after) = rest.split_once("    lines").unwrap();
    place.write("glyphoxa.yaml", format!("{before}    lines{after}"));
    let line = place.run(&ask).ends_with(0).line();
    let tool = line["tools"][0]["ms"].as_f64().unwrap();
    let first = line["ms"]["speech_end_to_first_audio"].as_f64().unwrap();
    assert!(first > tool, "{line:#}");
}

#[test]
fn too_slow_tools_go_to_the_background_at_once() {
    if !has_python() {
        return;
    }
    let place = place("estimated_duration_ms: 9000, max_duration_ms: 20000, late: follow_up");
    let mut live = place.start(&["ask", "--json", "--tier", "deep"]);
    live.says("server ready");
    live.types("Pip, dig");
    let turn = live.says("\"pending\":true");
    let turn: Value = serde_json::from_str(&turn).unwrap();
    let call = &turn["tools"][0];
    assert_eq!((&call["tool"], &call["ok"]), (&json!("home.dig"), &json!(true)), "{turn:#}");
    assert!(call["ms"].as_f64() < Some(500.0), "the turn does not wait for it: {turn:#}");
    assert!(call["result"].to_string().contains("its result comes later"), "{turn:#}");
    // Its late result is a turn of its own.
    let later: Value = serde_json::from_str(&live.says("gold")).unwrap();
    let call = &later["tools"][0];
    assert_eq!((&call["result"], &call["pending"]), (&json!("gold"), &json!(false)), "{later:#}");
    assert!(call["ms"].as_f64() > Some(1_500.0), "{later:#}");
    assert!(later["reply"].as_str().unwrap().contains("gold"), "{later:#}");
    assert_eq!(live.leave(), 0);
}
