//! Tools that take longer than a moment: what is heard meanwhile, and what comes later.

use serde_json::{Value, json};

use crate::{
    hostile::has_python,
    support::program::{Live, Place, repository},
};

const FILLERS: &str = "    fillers: [\"Let me see what I can find down there.\"]\n";
const ASK: [&str; 4] = ["ask", "--json", "--tier", "deep"];

/// Pip with these `fillers`, whose tool takes eight steps of `env`'s pace and tells of its progress;
/// `tool` is what is declared of it.
fn place(fillers: &str, tool: &str, env: &str) -> Place {
    let server = repository("tests/support/mcp/server.py");
    Place::with_config(&format!(
        "npcs:\n  - name: Pip\n    tools: [\"home.*\"]\n    budget_tier: deep\n{fillers}    lines:\n      \
         - {{ when: [dig], tool: {{ name: home.dig }}, say: \"I found {{result}}.\" }}\n      - say: \
         \"Hm.\"\nmcp:\n  servers:\n    - {{ name: home, required: true, sandbox: off, command: \"python3 \
         '{}' plain\", env: {{ MORE: yes{env} }}, tools: {{ dig: {{ effects: none, open_world: false, \
         {tool} }} }} }}\n",
        server.display()
    ))
}

/// A tool that is waited for, and is known to take long enough for a filler.
const WAITED_FOR: &str = "estimated_duration_ms: 1500, max_duration_ms: 6000";

/// Time until the first sound, and that of the tool, in ms.
#[track_caller]
fn times(line: &Value) -> (f64, f64) {
    assert_eq!(line["reply"], "I found gold.", "{line:#}");
    let first = line["ms"]["speech_end_to_first_audio"].as_f64().expect("a time");
    (first, line["tools"][0]["ms"].as_f64().expect("a time"))
}

/// A filler that was not prepared is waited for for 300 ms.
#[test]
fn first_turn_has_its_filler_in_time() {
    if !has_python() {
        return;
    }
    let place = place(FILLERS, WAITED_FOR, "");
    let line = place.run(&[&ASK[..], &["--text", "Pip, dig"]].concat()).ends_with(0).line();
    let (first, tool) = times(&line);
    assert!(first < tool, "it is heard while the tool still works: {line:#}");
}

/// Asked up to five times, since a filler that is not ready is not waited for long.
#[test]
fn filler_is_heard_while_a_tool_works() {
    if !has_python() {
        return;
    }
    let place = place(FILLERS, WAITED_FOR, "");
    let mut live = place.start(&ASK);
    live.says("server ready");
    let lines = (0..5).map(|_| {
        live.types("Pip, dig");
        serde_json::from_str::<Value>(&live.says("\"outcome\"")).expect("a line of JSON")
    });
    let mut all = lines.map(|line| times(&line));
    assert!(all.any(|(first, tool)| first < tool), "it is never heard while the tool works");
}

#[test]
fn without_fillers_nothing_is_heard_before() {
    if !has_python() {
        return;
    }
    let place = place("", WAITED_FOR, ", PACE: \"0.05\"");
    let line = place.run(&[&ASK[..], &["--text", "Pip, dig"]].concat()).ends_with(0).line();
    let (first, tool) = times(&line);
    assert!(first > tool, "{line:#}");
}

/// A tool whose result may come later, and is known to.
const COMES_LATER: &str = "estimated_duration_ms: 9000, max_duration_ms: 100000, late: follow_up";

/// Asks for a tool that goes on until there is a file `found`; the turn that does not wait for it.
fn begun(place: &Place) -> (Live, Value) {
    let mut live = place.start(&ASK);
    live.says("server ready");
    live.types("Pip, dig");
    let turn = live.says("\"pending\":true");
    (live, serde_json::from_str(&turn).expect("a line of JSON"))
}

#[test]
fn too_slow_tools_go_to_the_background_at_once() {
    if !has_python() {
        return;
    }
    let place = place(FILLERS, COMES_LATER, ", HELD: found");
    let (live, turn) = begun(&place);
    let call = &turn["tools"][0];
    assert_eq!((&call["tool"], &call["ok"]), (&json!("home.dig"), &json!(true)), "{turn:#}");
    assert!(call["result"].to_string().contains("its result comes later"), "{turn:#}");
    // Its late result is a turn of its own.
    place.write("found", "");
    let later: Value = serde_json::from_str(&live.says("gold")).unwrap();
    let call = &later["tools"][0];
    assert_eq!((&call["result"], &call["pending"]), (&json!("gold"), &json!(false)), "{later:#}");
    assert!(call["ms"].as_f64() > Some(1_500.0), "{later:#}");
    assert!(later["reply"].as_str().unwrap().contains("gold"), "{later:#}");
    assert_eq!(live.leave(), 0);
}

#[test]
fn slow_tool_goes_to_background_in_time() {
    if !has_python() {
        return;
    }
    let place = place(FILLERS, COMES_LATER, ", HELD: found");
    let (_live, turn) = begun(&place);
    let call = &turn["tools"][0];
    assert!(call["ms"].as_f64() < Some(500.0), "the turn does not wait for it: {turn:#}");
}
