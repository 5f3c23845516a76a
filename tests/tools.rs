//! Tools through the real program: listed, called, logged.

use serde_json::{Value, json};

use crate::{
    hostile::has_python,
    support::program::{Place, Ran, repository, shipped},
};

const BARTOK: &str = r#"
npcs:
  - name: Bartok the Barkeep
    aliases: [Bartok]
    voice: { provider: flite, voice_id: rms }
    tools: [dice-roller.roll]
    lines:
      - { when: [roll], tool: { name: dice-roller.roll, arguments: { expression: 1d6 } }, say: "{result.total} it is." }
      - say: "The old line."
"#;

#[test]
fn every_tool_is_listed_with_its_tier() {
    let lines = Place::new().run(&["tools", "list", "--json"]).ends_with(0).lines();
    let roll = lines.iter().find(|line| line["identity"] == "dice-roller.roll").unwrap();
    assert_eq!((&roll["name"], &roll["tier"]), (&json!("roll"), &json!("fast")), "{roll:#}");
    assert_eq!((&roll["idempotent"], &roll["read_only"]), (&json!(false), &json!(false)));
    let text = Place::new().run(&["tools", "list"]).ends_with(0).stdout;
    assert!(text.lines().any(|line| line.starts_with("dice-roller.roll ")), "{text}");
}

#[test]
fn npc_sees_its_whitelist() {
    let place = Place::with_config(BARTOK);
    let arguments = ["tools", "visible", "--npc", "Bartok", "--tier", "deep", "--json"];
    let line = place.run(&arguments).ends_with(0).line();
    assert_eq!(line["identity"], "dice-roller.roll");
    assert!(line["parameters"]["properties"]["expression"].is_object(), "{line:#}");
    let ran = place.run(&["tools", "visible", "--npc", "Nobody"]).ends_with(2);
    assert!(ran.message().contains("npc 'Nobody'"));
}

#[test]
fn calls_by_hand_are_the_operators_or_an_npcs() {
    let place = Place::with_config(BARTOK);
    let call = |arguments: &[&str], status: i32| {
        let all = [&["tools", "call", "--json"], arguments].concat();
        place.run(&all).ends_with(status).line()
    };
    let roll = call(&["dice-roller.roll", r#"{"expression": "2d6+3"}"#], 0);
    assert!((5..=15).contains(&roll["result"]["total"].as_i64().unwrap()), "{roll:#}");
    let table = call(&["roll_table", r#"{"table_name": "wild_magic"}"#, "--npc", "Bartok"], 1);
    assert_eq!(table["result"]["error"], "not_visible", "{table:#}");
    let cases = [
        (r#"{"expression": 7}"#, "invalid_arguments"),
        (r#"{"expresion": "1d6"}"#, "invalid_arguments"),
        ("{}", "invalid_arguments"),
        ("[]", "invalid_arguments"),
        ("{", "invalid_arguments"),
    ];
    for (arguments, kind) in cases {
        let wrong = call(&["dice-roller.roll", arguments], 1);
        assert_eq!(wrong["result"]["error"], kind, "{arguments}: {wrong:#}");
    }
    let long = format!(r#"{{"expression": "{}1"}}"#, "1+".repeat(1_000));
    for tool in ["dice-roller.roll", "dice-roller.odds"] {
        let wrong = call(&[tool, &long], 1);
        assert_eq!(wrong["result"]["error"], "invalid_arguments", "{wrong:#}");
    }
    let nothing = place.run(&["tools", "call", "dice-roller.rol"]).ends_with(1);
    assert!(nothing.message().contains("unknown tool 'dice-roller.rol'"), "{nothing:#?}");
}

#[test]
fn tables_are_offered_and_found_in_any_spelling() {
    let config = format!("{BARTOK}tools: {{ tables: {{ tavern-names: [The Gilded Goose.] }} }}\n");
    let config = config.replace("tools: [dice-roller.roll]", "tools: [\"dice-roller.*\"]");
    let place = Place::with_config(&config);
    let visible = ["tools", "visible", "--npc", "Bartok", "--tier", "deep", "--json"];
    let lines = place.run(&visible).ends_with(0).lines();
    let tool = lines.iter().find(|it| it["identity"] == "dice-roller.roll_table").expect("there");
    let tables = &tool["parameters"]["properties"]["table_name"]["enum"];
    let all = ["tavern-names", "random_encounter", "treasure_hoard", "wild_magic"];
    assert_eq!(tables, &json!(all), "{tool:#}");
    let roll = |name: &str, status| {
        let arguments = json!({ "table_name": name }).to_string();
        let call = ["tools", "call", "--json", "roll_table", &arguments, "--npc", "Bartok"];
        place.run(&call).ends_with(status).line()
    };
    for name in ["tavern-names", "Tavern Names", "TAVERN_NAMES", "tavernNames"] {
        assert_eq!(roll(name, 0)["result"]["result"], "The Gilded Goose.", "{name}");
    }
    let wrong = roll("tavern", 1);
    assert_eq!(wrong["result"]["error"], "invalid_arguments");
    let what = wrong["result"]["message"].as_str().unwrap();
    assert!(all.iter().all(|name| what.contains(name)), "{what}");
}

#[test]
fn calls_of_a_kept_session_are_logged() {
    let place = Place::with_config(BARTOK);
    for _ in 0..2 {
        place
            .run(&["ask", "--json", "--session", "evening", "--text", "Bartok, roll"])
            .ends_with(0);
    }
    let log = std::fs::read_to_string(place.path("data/sessions/evening.calls.jsonl")).unwrap();
    let entries: Vec<Value> = log.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(entries.len(), 2, "{log}");
    for entry in entries {
        assert_eq!(entry["tool"], "dice-roller.roll");
        assert_eq!(entry["npc"], "Bartok the Barkeep");
        assert_eq!((&entry["tier"], &entry["attempts"]), (&json!("fast"), &json!(1)));
        assert!(entry["result"]["total"].is_i64(), "{entry:#}");
        assert!(entry["at"].is_i64() && entry.get("server").is_none(), "{entry:#}");
    }
}

#[test]
fn withheld_tool_is_named_with_its_fix() {
    if !has_python() {
        return;
    }
    let server = repository("tests/support/mcp/server.py");
    let place = Place::with_config(&format!(
        "npcs: [{{ name: Pip, tools: [\"home.*\"], lines: [{{ say: Hm. }}] }}]\n\
         mcp:\n  servers: [{{ name: home, required: true, command: \"python3 '{}' plain\" }}]\n",
        server.display()
    ));
    let visible = |more: &[&str]| {
        place.run(&[&["tools", "visible", "--npc", "Pip"], more].concat()).ends_with(0)
    };
    let held_back = "home.count is offered in standard turns: it is not measured";
    let ran = visible(&[]);
    assert!(ran.stderr.contains(held_back), "{ran:#?}");
    assert!(ran.stderr.contains("budget_tier: standard in the file of Pip"), "{ran:#?}");
    let deep = visible(&["--tier", "deep"]);
    assert!(deep.stdout.contains("home.count") && !deep.stderr.contains("home.count"), "{deep:#?}");
    let server = server.display().to_string();
    let probe = ["mcp", "probe", "--list", "--", "python3", &server, "plain"];
    let found = place.run(&probe).ends_with(0);
    assert!(found.stdout.contains("set budget_tier: standard in its file"), "{found:#?}");
}

#[test]
fn log_of_calls_keeps_no_secret() {
    if !has_python() {
        return;
    }
    let server = repository("tests/support/mcp/server.py");
    let named = ["auth", "pwd", "jwt", "bearer", "key", "PHPSESSID"];
    let secret = |name: &str| format!("{name}-0f3b9c1d7e-of-mine");
    let mut arguments: serde_json::Map<String, Value> =
        named.iter().map(|name| ((*name).to_owned(), json!(secret(name)))).collect();
    arguments.insert("text".to_owned(), json!("open-sesame-4711, hush-hush-42 and w4y-of-mine"));
    arguments.insert("deep".to_owned(), json!([{ "session": 7, "note": "open-sesame-4711" }]));
    let place = Place::with_config(&format!(
        "npcs:\n  - name: Pip\n    tools: [\"home.*\"]\n    budget_tier: deep\n    lines:\n      \
         - {{ tool: {{ name: home.echo, arguments: {} }}, say: \"Done.\" }}\nmcp:\n  servers:\n    \
         - {{ name: home, required: true, command: \"python3 '{}' plain\", env: {{ API_TOKEN: \
         open-sesame-4711 }}, tools: {{ echo: {{ effects: none, open_world: false }} }} }}\n    \
         - {{ name: away, url: \"http://127.0.0.1:1/mcp\", auth: {{ token: \
         \"${{AWAY_PASS}}\" }}, headers: {{ X-Way: w4y-of-mine }} }}\n",
        Value::Object(arguments),
        server.display()
    ))
    .env("AWAY_PASS", "hush-hush-42");
    let ask = ["ask", "--json", "--tier", "deep", "--session", "evening", "--text", "Pip, say it"];
    let ran = place.run(&ask).ends_with(0);
    assert_eq!(ran.line()["tools"][0]["ok"], true, "{ran:#?}");
    let log = std::fs::read_to_string(place.path("data/sessions/evening.calls.jsonl")).unwrap();
    let entry: Value = serde_json::from_str(log.trim()).unwrap();
    assert_eq!(entry["tool"], "home.echo", "{log}");
    assert!(entry["server"].as_str().unwrap().starts_with("stdio "), "{log}");
    let values = ["open-sesame-4711", "hush-hush-42", "w4y-of-mine"].map(str::to_owned);
    for secret in named.map(secret).iter().chain(&values) {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
    assert_eq!(entry["arguments"]["deep"][0]["session"], 7, "{log}");
    assert_eq!(entry["session"], "evening", "{log}");
}

/// A server of one tool that reads and one that does not, of neither of which anything is known.
fn of_unknown_speed() -> String {
    let server = shipped("docs/examples/weather.py");
    let figures = server.lines().find(|line| line.contains("\"_meta\"")).expect("its figures");
    let server = server.replace(figures, "").replace(
        "return {\"tools\": [TOOL]}",
        "return {\"tools\": [TOOL, {\"name\": \"set_weather\", \"inputSchema\": {\"type\": \"object\"}}]}",
    );
    let called = "    if method == \"tools/call\":\n";
    assert!(server.contains(called) && server.contains("set_weather"), "{server}");
    server.replace(
        called,
        &format!("{called}        open(\"noted\", \"a\").write(params[\"name\"] + \"\\n\")\n"),
    )
}

/// Pip, whose tools are those of [`of_unknown_speed`].
fn unmeasured() -> Place {
    let place = Place::with_config(
        "npcs:\n  - name: Pip\n    tools: [\"weather.*\"]\n    lines:\n      - when: [weather]\n        \
         tool: { name: weather.get_weather, arguments: { place: Ravenford } }\n        say: \"{result}\"\n        \
         else: \"I have not looked.\"\n      - say: Hm.\nmcp:\n  servers:\n    - { name: weather, required: \
         true, command: python3 weather.py, sandbox: off }\n",
    );
    place.write("weather.py", of_unknown_speed());
    place.env("RUST_LOG", "info,glyphoxa=debug")
}

/// Tools that Pip has in quick turns.
fn visible_when_quick(place: &Place) -> Ran {
    place.run(&["tools", "visible", "--npc", "Pip", "--tier", "fast"]).ends_with(0)
}

/// A tool without a declared duration is measured in the background once the evening has begun, if it only
/// reads.
#[test]
fn unmeasured_tool_is_measured_if_it_reads() {
    if !has_python() {
        return;
    }
    let place = unmeasured();
    let why = "weather.get_weather is offered in standard turns: it is not measured yet";
    let other = "weather.set_weather is offered in standard";
    let before = visible_when_quick(&place);
    assert!(before.stderr.contains(why) && before.stderr.contains(other), "{before:#?}");
    let mut live = place.start(&["ask", "--json"]);
    live.says("tool measured");
    live.types("Pip, hello");
    live.says("\"spoken\"");
    assert_eq!(live.leave(), 0);
    let noted = std::fs::read_to_string(place.path("noted")).expect("it was called");
    assert!(noted.lines().count() >= 2 && !noted.contains("set_weather"), "{noted}");
    // Measurements hold for the next evening.
    let after = visible_when_quick(&place);
    assert!(!after.stderr.contains(why) && after.stderr.contains(other), "{after:#?}");
}

/// Measured, it is offered to an NPC of quick turns, if it is as quick as they are.
#[test]
fn unmeasured_tool_is_offered_in_time() {
    if !has_python() {
        return;
    }
    let place = unmeasured();
    let mut live = place.start(&["ask", "--json"]);
    live.says("tool measured");
    live.types("Pip, how is the weather?");
    let line: Value = serde_json::from_str(&live.says("\"outcome\"")).expect("a line of JSON");
    assert_eq!(line["tier"]["effective"], "fast", "{line:#}");
    assert_eq!(line["visible"], json!(["get_weather"]), "{line:#}");
    assert!(line["reply"].as_str().unwrap().starts_with("Ravenford has"), "{line:#}");
    assert_eq!(live.leave(), 0);
    let after = visible_when_quick(&place);
    assert!(after.stdout.contains("weather.get_weather"), "{after:#?}");
    assert!(!after.stdout.contains("set_weather"), "{after:#?}");
}
