//! Schemas that want to stall or end the program: of tools, of their results, of manifests.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::servers::{ANSWER, Attacker, asked, has_python, peak, place};
use crate::support::program::{Live, Place};

/// Longest start of a server beside others that keep the machine busy, this program's own included.
const READY: Duration = Duration::from_secs(5);
/// Most memory, in MiB.
const MEMORY: u64 = 400;

fn tool(schema: Value) -> Value {
    json!({"inputSchema": schema})
}

/// `levels` definitions, each two of the next by `keyword`.
fn doubling(levels: usize, keyword: &str) -> Value {
    let mut defs = serde_json::Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        let part = match keyword {
            "properties" => json!({"properties": {"a": next, "b": next}}),
            other => json!({other: [next, next]}),
        };
        defs.insert(format!("d{level}"), part);
    }
    defs.insert(format!("d{levels}"), json!({"type": "object"}));
    json!({"type": "object", "$defs": defs, "allOf": [{"$ref": "#/$defs/d0"}]})
}

/// Schemas that must be left out, with the reason.
fn refused() -> Vec<(Value, &'static str)> {
    let object = |more: Value| {
        let mut schema = json!({"type": "object"});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    let circle = "refers to itself without a member or an item between";
    let mut cases = vec![
        (object(json!({"allOf": [{"$ref": "#"}], "unevaluatedProperties": false})), circle),
        (doubling(25, "allOf"), "unfolds to more than"),
        (doubling(25, "anyOf"), "unfolds to more than"),
        (doubling(40, "allOf"), "references and combinations lead from one part"),
        (object(json!({"properties": {"a": {"pattern": "^(a+)+\\1$"}}})), "cannot be used"),
        (object(json!({"properties": {"a": {"pattern": "(?=a)b"}}})), "cannot be used"),
        (object(json!({"properties": {"a": {"pattern": "(a{1000}){1000}"}}})), "cannot be used"),
        (
            object(json!({"properties": {"a": {"enum": ["x".repeat(300_000)]}}})),
            "larger than 256 KiB",
        ),
        (
            object(json!({"properties": {"a": {"$ref": "http://127.0.0.1:1/x"}}})),
            "nothing is fetched",
        ),
        (object(json!({"properties": {"a": {"$ref": "#/nowhere"}}})), "not in it"),
        (
            object(json!({"properties": {"a": {"$id": "http://x.test/", "$ref": "#"}}})),
            "'$id' of its own",
        ),
    ];
    for keyword in ["allOf", "anyOf", "oneOf"] {
        cases.push((object(json!({keyword: [{"$ref": "#"}]})), circle));
    }
    for keyword in ["not", "if", "then", "else"] {
        cases.push((object(json!({keyword: {"$ref": "#"}})), circle));
    }
    cases.push((object(json!({"dependentSchemas": {"a": {"$ref": "#"}}})), circle));
    cases
        .push((object(json!({"$dynamicAnchor": "me", "allOf": [{"$dynamicRef": "#me"}]})), circle));
    cases.push((
        object(json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"},
        "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}})),
        circle,
    ));
    let tree = json!({"allOf": [{"properties": {"x": {"$ref": "#", "unevaluatedProperties": false}}}],
        "unevaluatedProperties": false});
    cases.push((object(tree), "'unevaluatedProperties'"));
    let mut deep = json!({"type": "string"});
    for _ in 0..40 {
        deep = json!({"properties": {"a": deep}});
    }
    cases.push((object(deep.as_object().unwrap().clone().into()), "more than 64 deep"));
    let many: serde_json::Map<_, _> = (0..6_000).map(|n| (format!("p{n}"), json!({}))).collect();
    cases.push((object(json!({"properties": many})), "more than 5000 parts"));
    cases
}

/// Schemas that are large or refer to themselves, and are like any other.
fn legitimate() -> Vec<Value> {
    let node = json!({"type": "object", "properties": {
        "name": {"type": "string", "pattern": "^[a-z]+$"},
        "children": {"type": "array", "items": {"$ref": "#"}}}});
    let expression = json!({"type": "object", "properties": {"e": {"$ref": "#/$defs/e"}}, "$defs": {"e": {
        "oneOf": [{"type": "number"}, {"type": "object", "properties": {
            "left": {"$ref": "#/$defs/e"}, "right": {"$ref": "#/$defs/e"}}}]}}});
    let closed = json!({"type": "object", "allOf": [{"properties": {"a": {"type": "string"}}}],
        "unevaluatedProperties": false});
    vec![node, expression, closed, doubling(40, "properties")]
}

#[test]
fn bad_schemas_exclude_only_their_own_tools() {
    if !has_python() {
        return;
    }
    let refused = refused();
    let good = legitimate();
    let all: Vec<Value> =
        refused.iter().map(|(schema, _)| schema).chain(&good).cloned().map(tool).collect();
    let files = Place::new();
    files.write("schemas.json", serde_json::to_string(&all).unwrap());
    let file = files.path("schemas.json");
    let attacker =
        Attacker::stdio("schemas", &format!(", env: {{ FILE: \"{}\" }}", file.display()));
    let place = place(&attacker).env("RUST_LOG", "off");
    let lines = place.run(&["mcp", "servers", "--json"]).ends_with(0).lines();
    let bad = lines.iter().find(|line| line["name"] == "bad").unwrap();
    let left_out: Vec<&str> =
        bad["left_out"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    for (number, (schema, reason)) in refused.iter().enumerate() {
        let name = format!("bad.bad{number}:");
        let told = left_out.iter().find(|it| it.starts_with(&name));
        let told = told.unwrap_or_else(|| panic!("{reason}: {:.300}", schema.to_string()));
        assert!(told.contains(reason), "{told}");
    }
    assert_eq!(left_out.len(), refused.len(), "{left_out:#?}");
    assert_eq!(bad["tools"].as_array().unwrap().len(), good.len() + 1, "{bad:#}");
}

/// The answer of a good server beside one with every schema, as the input and as the output of a tool; the
/// time it took.
fn answer_beside_schemas() -> Duration {
    let schemas = refused().into_iter().map(|(schema, _)| schema).chain(legitimate());
    let schemas: Vec<Value> = schemas
        .flat_map(|schema| {
            [
                tool(schema.clone()),
                json!({"inputSchema": {"type": "object"}, "outputSchema": schema}),
            ]
        })
        .collect();
    let files = Place::new();
    files.write("schemas.json", serde_json::to_string(&schemas).unwrap());
    let file = files.path("schemas.json");
    let attacker =
        Attacker::stdio("schemas", &format!(", env: {{ FILE: \"{}\" }}", file.display()));
    let place = place(&attacker);
    let mut live = place.start(&["ask", "--json", "--tier", "deep"]);
    live.says_all(&["server ready server=\"good\"", "server ready server=\"bad\""]);
    let (took, peak) = (asked(&mut live), peak(&live));
    eprintln!("schemas at a table: answer {took:?}, peak {peak} MiB");
    assert!(peak < MEMORY, "{peak} MiB");
    assert_eq!(live.leave(), 0);
    took
}

#[test]
fn program_at_a_table_outlives_every_schema() {
    if has_python() {
        answer_beside_schemas();
    }
}

#[test]
fn schemas_at_a_table_are_answered_in_time() {
    if has_python() {
        let took = answer_beside_schemas();
        assert!(took < ANSWER, "{took:?}");
    }
}

#[test]
fn manifests_are_held_to_the_same_bounds() {
    let refused = refused();
    let place = Place::with_config("npcs: [{ name: Bartok, lines: [{ say: Hm. }] }]\n");
    for (number, (schema, _)) in refused.iter().enumerate() {
        let manifest = json!({"apiVersion": "promptkit.altairalabs.ai/v1", "kind": "Tool",
            "metadata": {"name": format!("bad{number}"), "namespace": "evil"},
            "spec": {"description": "Bad.", "input_schema": schema, "mock_result": {"a": 1}}});
        place.write(&format!("tools/bad{number}.yaml"), manifest.to_string());
    }
    let said = place.run(&["check"]).ends_with(2).stderr;
    for (number, (_, reason)) in refused.iter().enumerate() {
        let file = format!("tools/bad{number}.yaml:");
        let told = said.lines().find(|line| line.starts_with(&file));
        let told = told.unwrap_or_else(|| panic!("{reason}: nothing of {file}"));
        // The reader of YAML has a bound of its own for depth.
        let is_told = told.contains(reason) || told.contains("recursion limit");
        assert!(is_told, "{reason}: {told:.500}");
    }
}

/// A table with two servers that do the same harm, beside one that does none.
fn with_two(attack: &str) -> (Place, Live) {
    let mut attackers = Attacker::stdio(attack, "");
    let other = attackers.line.replace("name: bad", "name: worse");
    attackers.line = format!("{} }}\n    - {{ {other}", attackers.line);
    let place = place(&attackers);
    let live = place.start(&["ask", "--json", "--tier", "deep"]);
    (place, live)
}

/// Two servers with a word without end, and a good one, become ready; the time it took.
fn ready_beside_words() -> Duration {
    let begun = Instant::now();
    let (_place, mut live) = with_two("wordy");
    live.says_all(&["server=\"good\"", "server=\"bad\"", "server=\"worse\""]);
    let took = begun.elapsed();
    asked(&mut live);
    assert!(peak(&live) < MEMORY, "{} MiB", peak(&live));
    assert_eq!(live.leave(), 0);
    took
}

#[test]
fn servers_with_a_word_without_end_are_ready_too() {
    if has_python() {
        ready_beside_words();
    }
}

#[test]
fn wordy_servers_are_ready_in_time() {
    if has_python() {
        let took = ready_beside_words();
        assert!(took < READY, "{took:?}");
    }
}

/// Two servers whose schemas take long come after a good one, which answers meanwhile; the time until it was
/// ready.
fn ready_beside_heavy() -> (Duration, Place) {
    let begun = Instant::now();
    let (place, mut live) = with_two("heavy");
    live.says("server ready server=\"good\"");
    let took = begun.elapsed();
    live.types("Bartok, count");
    let said = live.says_until("server ready server=\"bad\"");
    let is_slow =
        |line: &String| line.contains("bad.heavy") && line.contains("took 2 s to compile");
    assert!(said.iter().any(is_slow), "{} lines, none with the reason", said.len());
    if !said.iter().any(|line| line.contains("Counted ")) {
        asked(&mut live);
    }
    let peak = peak(&live);
    eprintln!(
        "beside two servers with 57,000 patterns each: ready after {took:?}, peak {peak} MiB"
    );
    assert!(peak < MEMORY, "{peak} MiB");
    assert_eq!(live.leave(), 0);
    (took, place)
}

#[test]
fn slow_schemas_delay_no_other_server() {
    if has_python() {
        ready_beside_heavy();
    }
}

#[test]
fn ready_beside_slow_schemas_in_time() {
    if !has_python() {
        return;
    }
    let (took, place) = ready_beside_heavy();
    assert!(took < READY, "{took:?}");
    // Tools that were compiled in time are listed.
    let lines = place.run(&["mcp", "servers", "--json", "--wait", "100"]).lines();
    let bad = lines.iter().find(|line| line["name"] == "bad").unwrap();
    assert!(
        bad["left_out"].to_string().contains("took 2 s to compile"),
        "{:.1000}",
        bad.to_string()
    );
    assert!(bad["tools"].as_array().unwrap().iter().any(|it| it == "echo"), "{bad}");
}
