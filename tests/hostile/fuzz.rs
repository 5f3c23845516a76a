//! Random schemas and random messages against the real program, in a child with limits of time,
//! stack and memory. Short here; `GLYPHOXA_TEST_FUZZ=N` makes N times as many cases.

use std::process::Command;

use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use serde_json::{Map, Value, json};

use super::{servers::has_python, whole};
use crate::support::{
    extent::times,
    program::{Place, Ran, repository, run},
};

/// Limits of the child: seconds of processor time, KiB of memory, KiB of its first stack. [`run`] bounds
/// the real time.
const LIMITS: &str = "ulimit -t 120; ulimit -v 6000000; ulimit -s 8192; exec \"$0\" \"$@\"";
/// Seed of the short form; the same cases each time.
const SEED: u64 = 14;

/// Runs the program within the limits.
fn limited(place: &Place, arguments: &[&str]) -> Ran {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", LIMITS, env!("CARGO_BIN_EXE_glyphoxa"), "--trust"]).args(arguments);
    command.current_dir(place.path("")).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.env("RUST_LOG", "off");
    run(command, "")
}

/// Keywords that take a schema, a list of them, or schemas by name.
const ONE: [&str; 10] = [
    "not",
    "if",
    "then",
    "else",
    "items",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
];
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const NAMED: [&str; 4] = ["properties", "patternProperties", "dependentSchemas", "$defs"];
const REFERENCES: [&str; 6] = ["#", "#/$defs/a", "#/$defs/b", "#/properties/a", "#x", "#/allOf/0"];
const PATTERNS: [&str; 5] = ["^a+$", "(a|a)*b", "\\d{3}-\\w*", "(?=a)", "[^b]{1,200}"];

fn schema(rng: &mut StdRng, depth: usize) -> Value {
    if depth == 0 || rng.random_ratio(1, 8) {
        return json!(rng.random_bool(0.8));
    }
    let mut members = Map::new();
    for _ in 0..rng.random_range(1..4) {
        let pick = |rng: &mut StdRng, from: &[&str]| (*from.choose(rng).unwrap()).to_owned();
        let (key, value) = match rng.random_range(0..8) {
            0 => (pick(rng, &ONE), schema(rng, depth - 1)),
            1 | 2 => {
                let list = (0..rng.random_range(0..4)).map(|_| schema(rng, depth - 1)).collect();
                (pick(rng, &LISTS), Value::Array(list))
            }
            3 | 4 => {
                let names = ["a", "b", "c"];
                let named = names.iter().map(|it| ((*it).to_owned(), schema(rng, depth - 1)));
                let named = Value::Object(named.collect());
                (pick(rng, &NAMED), named)
            }
            5 => {
                let keyword = pick(rng, &["$ref", "$ref", "$dynamicRef"]);
                (keyword, json!(pick(rng, &REFERENCES)))
            }
            6 => ("pattern".to_owned(), json!(pick(rng, &PATTERNS))),
            _ => {
                let keys = ["type", "uniqueItems", "$dynamicAnchor", "minLength", "enum", "$id"];
                (
                    pick(rng, &keys),
                    json!(
                        [json!("object"), json!(true), json!("x"), json!(2)]
                            [rng.random_range(0..4)]
                    ),
                )
            }
        };
        members.insert(key, value);
    }
    Value::Object(members)
}

fn value(rng: &mut StdRng, depth: usize) -> Value {
    match rng.random_range(0..if depth == 0 { 3 } else { 6 }) {
        0 => json!(rng.random_range(-9..9)),
        1 => json!("a".repeat(rng.random_range(0..50))),
        2 => Value::Null,
        3 => (0..rng.random_range(0..5)).map(|_| value(rng, depth - 1)).collect(),
        _ => {
            let names = ["a", "b", "c"].iter().map(|it| ((*it).to_owned(), value(rng, depth - 1)));
            Value::Object(names.collect())
        }
    }
}

#[test]
fn no_schema_ends_or_stalls_the_program() {
    let mut rng = StdRng::seed_from_u64(SEED);
    for round in 0..times() {
        let place = Place::with_config("npcs: [{ name: Bartok, lines: [{ say: Hm. }] }]\n");
        for number in 0..150 {
            let mut input = schema(&mut rng, 6);
            if let Value::Object(members) = &mut input {
                members.insert("type".to_owned(), json!("object"));
            }
            // Its answer is held against what it declares.
            let spec = json!({"description": "Fuzz.", "input_schema": input,
                "output_schema": schema(&mut rng, 6), "mock_result": value(&mut rng, 6)});
            let manifest = json!({"apiVersion": "promptkit.altairalabs.ai/v1", "kind": "Tool",
                "metadata": {"name": format!("t{number}"), "namespace": "fuzz"}, "spec": spec});
            place.write(&format!("tools/t{number}.yaml"), manifest.to_string());
        }
        let ran = limited(&place, &["check"]);
        eprintln!("round {round}: 150 manifests, exit status {}", ran.status);
        assert!([0, 2].contains(&ran.status), "round {round}: {ran:#?}");
        assert!(!ran.stderr.contains("panicked"), "round {round}: {ran:#?}");
    }
}

/// Message of a server, before it is spoilt.
fn message(rng: &mut StdRng) -> Value {
    let id = [json!(rng.random_range(0..6)), json!("x"), Value::Null, json!(-1), json!(1.5)];
    let id = id.choose(rng).unwrap().clone();
    let any = value(rng, 4);
    let tool = json!({"name": "t", "inputSchema": schema(rng, 3)});
    let all = [
        json!({"id": id, "result": {"tools": [tool]}}),
        json!({"id": id, "result": {"tools": [], "nextCursor": "again"}}),
        json!({"id": id, "result": any}),
        json!({"id": id, "error": {"code": -32600, "message": "x\u{1b}[2J"}}),
        json!({"id": id, "error": any}),
        json!({"id": id, "method": "ping"}),
        json!({"id": id, "method": "roots/list", "params": any}),
        json!({"id": id, "method": "elicitation/create", "params": {"message": "?",
            "requestedSchema": schema(rng, 3)}}),
        json!({"id": id, "method": "sampling/createMessage", "params": any}),
        json!({"method": "notifications/tools/list_changed", "params": any}),
        json!({"method": "notifications/cancelled", "params": {"requestId": id}}),
        json!({"method": "notifications/progress", "params": {"progressToken": id, "progress": 1}}),
        json!({"method": "notifications/message", "params": {"level": "info", "data": any}}),
        json!({"method": "nonsense", "params": any}),
        any,
    ];
    let mut one = all.choose(rng).unwrap().clone();
    if let Value::Object(members) = &mut one
        && rng.random_bool(0.9)
    {
        members.insert("jsonrpc".to_owned(), json!("2.0"));
    }
    one
}

/// A line, spoilt at times.
fn line(rng: &mut StdRng) -> String {
    let mut text: Vec<char> = message(rng).to_string().chars().collect();
    for _ in 0..rng.random_range(0..3) * rng.random_range(0..3) {
        let at = rng.random_range(0..text.len());
        match rng.random_range(0..4) {
            0 => text.truncate(at.max(1)),
            1 => text[at] = *['"', '{', '}', '[', '\\', '\0', 'é', '9', ','].choose(rng).unwrap(),
            2 => text.insert(at, '\u{202e}'),
            _ => _ = text.splice(at..at, "[".repeat(300).chars()),
        }
    }
    text.into_iter().collect()
}

#[test]
fn no_message_ends_or_stalls_the_program() {
    if !has_python() {
        return;
    }
    let mut rng = StdRng::seed_from_u64(SEED);
    let rounds = if whole() { 4 } else { 2 };
    for round in 0..rounds * times() {
        let place = Place::new();
        let lines: Vec<String> = (0..400).map(|_| line(&mut rng)).collect();
        place.write("lines", lines.join("\n"));
        let script = repository("tests/support/mcp/hostile.py");
        let server = format!(
            "name: bad, sandbox: off, command: \"python3 '{}' fuzz\", env: {{ FILE: \"{}\" }}, \
             connect_timeout_ms: 5000, auto_reconnect: false, resources: true",
            script.display(),
            place.path("lines").display()
        );
        place.write(
            "glyphoxa.yaml",
            format!("npcs: [{{ name: Bartok, lines: [{{ say: Hm. }}] }}]\nmcp:\n  servers:\n    - {{ {server} }}\n"),
        );
        let ran = limited(&place, &["mcp", "servers", "--json", "--wait", "20"]);
        eprintln!("round {round}: 400 lines, exit status {}", ran.status);
        assert!([0, 1].contains(&ran.status), "round {round}: {ran:#?}");
        assert!(!ran.stderr.contains("panicked"), "round {round}: {ran:#?}");
    }
}
