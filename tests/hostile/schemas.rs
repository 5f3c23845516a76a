//! Schemas that want to stall or end the program: of tools, of their results, of manifests.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::servers::{Attacker, has_python, peak, place};
use crate::support::program::{Live, Place};

/// Longest run with any schema.
const TIME: Duration = Duration::from_secs(60);
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
    let begun = Instant::now();
    let lines = place.run(&["mcp", "servers", "--json"]).ends_with(0).lines();
    let took = begun.elapsed();
    eprintln!("{} schemas: {took:?}", all.len());
    assert!(took < TIME, "{took:?}");
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

#[test]
fn program_at_a_table_outlives_every_schema() {
    if !has_python() {
        return;
    }
    // Each as the input and as the output of a tool, and each a few dozen times.
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
    live.says("server ready");
    live.says("server ready");
    let begun = Instant::now();
    live.types("Bartok, count");
    live.says("Counted ");
    let (took, peak) = (begun.elapsed(), peak(&live));
    eprintln!("schemas at a table: answer {took:?}, peak {peak} MiB");
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert!(peak < MEMORY, "{peak} MiB");
    assert_eq!(live.leave(), 0);
}

#[test]
fn manifests_are_held_to_the_same_bounds() {
    for (schema, reason) in refused() {
        let place = Place::with_config("npcs: [{ name: Bartok, lines: [{ say: Hm. }] }]\n");
        let manifest = json!({"apiVersion": "promptkit.altairalabs.ai/v1", "kind": "Tool",
            "metadata": {"name": "bad", "namespace": "evil"},
            "spec": {"description": "Bad.", "input_schema": schema, "mock_result": {"a": 1}}});
        place.write("tools/bad.yaml", manifest.to_string());
        let begun = Instant::now();
        let ran = place.run(&["check"]);
        assert!(begun.elapsed() < TIME);
        assert_ne!(ran.status, 0, "{ran:#?}");
        let said = [ran.stdout, ran.stderr].concat();
        // The reader of YAML has a bound of its own for depth.
        let is_told = said.contains(reason) || said.contains("recursion limit");
        assert!(is_told, "{reason}: {said:.500}");
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

#[test]
fn servers_with_a_word_without_end_are_ready_too() {
    if !has_python() {
        return;
    }
    let begun = Instant::now();
    let (_place, mut live) = with_two("wordy");
    live.says_all(&["server=\"good\"", "server=\"bad\"", "server=\"worse\""]);
    assert!(begun.elapsed() < READY, "{:?}", begun.elapsed());
    live.types("Bartok, count");
    live.says("Counted ");
    assert!(peak(&live) < MEMORY, "{} MiB", peak(&live));
    assert_eq!(live.leave(), 0);
}

#[test]
fn slow_schemas_delay_no_other_server() {
    if !has_python() {
        return;
    }
    let begun = Instant::now();
    let (place, mut live) = with_two("heavy");
    live.says("server ready server=\"good\"");
    let took = begun.elapsed();
    assert!(took < READY, "{took:?}");
    live.types("Bartok, count");
    live.says("Counted ");
    live.says("server ready server=\"bad\"");
    let peak = peak(&live);
    eprintln!(
        "beside two servers with 57,000 patterns each: ready after {took:?}, peak {peak} MiB"
    );
    assert!(peak < MEMORY, "{peak} MiB");
    assert_eq!(live.leave(), 0);
    let lines = place.run(&["mcp", "servers", "--json", "--wait", "25"]).lines();
    let bad = lines.iter().find(|line| line["name"] == "bad").unwrap();
    assert!(
        bad["left_out"].to_string().contains("took 2 s to compile"),
        "{:.1000}",
        bad.to_string()
    );
    assert!(bad["tools"].as_array().unwrap().iter().any(|it| it == "echo"), "{bad}");
}
