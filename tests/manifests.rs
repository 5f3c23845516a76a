//! Tools of manifests and files of a campaign, through the real program.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    NOBODY,
    chat_server::{ChatServer, Recorded, Script, Step},
    program::{Place, Ran, untimed},
};

/// The head of a manifest in a folder called `tools`.
const HEAD: &str = "apiVersion: promptkit.altairalabs.ai/v1\nkind: Tool\n\
    metadata: { name: forecast, namespace: weather }\nspec:\n  description: The weather.\n";
/// Arguments of the tool.
const INPUT: &str = "  input_schema:\n    type: object\n    properties:\n      city: { type: string }\n      \
    days: { type: integer }\n      key: { type: string }\n    required: [city]\n";

/// Pip, who calls `tool` whatever is said.
fn pip(tool: &str, arguments: &Value) -> String {
    format!(
        "npcs:\n  - name: Pip\n    budget_tier: deep\n    tools: [{tool}]\n    lines:\n      \
         - say: It is said.\n        tool: {{ name: {tool}, arguments: {arguments} }}\n"
    )
}

/// A folder with the tool `weather.forecast`.
fn place(spec: &str, arguments: &Value) -> Place {
    let place = Place::with_config(&pip("weather.forecast", arguments));
    place.write("tools/forecast.yaml", format!("{HEAD}{INPUT}{spec}"));
    place
}

/// The call Pip makes.
fn call(place: &Place) -> Value {
    let ran = place.run(&["ask", "--json", "--tier", "deep", "--text", "Pip, the weather?"]);
    let line = ran.line();
    let calls = line["tools"].as_array().unwrap_or_else(|| panic!("{line:#}"));
    assert_eq!(calls.len(), 1, "{line:#}");
    calls[0].clone()
}

/// Asserts that a call has failed, with this kind and with `says` in the message.
#[track_caller]
fn failed(call: &Value, kind: &str, says: &str) {
    assert_eq!((&call["ok"], &call["result"]["error"]), (&json!(false), &json!(kind)), "{call:#}");
    let message = call["result"]["message"].as_str().unwrap_or_default();
    assert!(message.contains(says), "'{says}': {call:#}");
}

/// Result of one call to a server with these answers, and its requests.
fn asked(http: &str, arguments: &Value, scripts: Vec<Script>) -> (Value, Vec<Recorded>) {
    let server = ChatServer::start();
    server.otherwise(|_| Script::json(200, &json!({"late": true})));
    scripts.into_iter().for_each(|script| server.push(script));
    let http = http.replace("BASE", server.base_url().trim_end_matches("/v1"));
    let call = call(&place(&http, arguments).env("WEATHER_KEY", "s3cret"));
    (call, server.requests())
}

/// True if a time limit cut off `call`.
fn is_late(call: &Value) -> bool {
    call["result"]["error"] == "timeout"
}

/// The problems `check` finds.
fn problems(spec: &str) -> Ran {
    place(spec, &json!({})).run(&["check"]).ends_with(2)
}

#[test]
fn mock_answers_what_its_file_says() {
    let fixed = place("  mock_result: { temp: 7, sky: [grey] }\n", &json!({"city": "Bree"}));
    let called = call(&fixed);
    assert_eq!(called["tool"], "weather.forecast");
    assert_eq!(called["result"], json!({"temp": 7, "sky": ["grey"]}));

    let spec = "  mode: mock\n  mock_template: '{\"of\": \"{{.city}}\", \"n\": {{ days }}}'\n";
    let called = call(&place(spec, &json!({"city": "Br\"ee", "days": "3"})));
    assert_eq!(called["result"], json!({"of": "Br\"ee", "n": 3}));

    let filed = place("  mock_result_file: answers/bree.json\n", &json!({"city": "Bree"}));
    filed.write("tools/answers/bree.json", "{\"temp\": 9}");
    assert_eq!(call(&filed)["result"], json!({"temp": 9}));

    let words = place("  mock_template: It rains in {{ city }}.\n", &json!({"city": "Bree"}));
    assert_eq!(call(&words)["result"], "It rains in Bree.");
}

#[test]
fn shipped_example_works() {
    let place = Place::with_config(&pip("tavern.rumour", &json!({"about": "Mira"})));
    let example = crate::support::program::shipped("tools/tavern_rumour.yaml");
    place.write("lore/rumour.yaml", &example);
    place.run(&["check"]).ends_with(2);
    let config = format!("tools: {{ manifests: [lore] }}\n{}", pip("tavern.*", &json!({})));
    let config = config.replace("name: tavern.*", "name: tavern.rumour");
    place.write("glyphoxa.yaml", config.replace("arguments: {}", "arguments: {about: Mira}"));
    let rumour = call(&place)["result"]["rumour"].to_string();
    assert!(rumour.contains("Mira"), "{rumour}");
}

#[test]
fn json_descriptor_is_a_tool() {
    let config = format!("tools: {{ manifests: [kit] }}\n{}", pip("kit.now", &json!({})));
    let place = Place::with_config(&config);
    place.write(
        "kit/now.json",
        json!({"name": "kit__now", "description": "The time.", "mode": "mock", "timeout_ms": 100,
            "input_schema": {"type": "object", "properties": {}},
            "output_schema": {"type": "object"}, "mock_result": {"hour": 9}})
        .to_string(),
    );
    assert_eq!(call(&place)["result"], json!({"hour": 9}));
}

#[test]
fn arguments_go_where_the_manifest_sends_them() {
    let http = "  http:\n    url: \"BASE/v1/cities/{city}/days?unit=C\"\n    method: POST\n    \
        headers: { X-City: \"in {{.city}}\", X-Version: \"2\" }\n    \
        headers_from_env: [Authorization=WEATHER_KEY]\n    query_params: [days]\n    \
        request: { static_query: { lang: en }, static_body: { fixed: yes }, body_mapping: \"{k: key}\" }\n    \
        response_mapping: \"now.{temp: temp, sky: sky[0]}\"\n";
    let answer = json!({"now": {"temp": 7, "sky": ["grey", "wet"], "junk": "x"}});
    let arguments = json!({"city": "Bag End/?", "days": 3, "key": "v"});
    let (called, requests) = asked(http, &arguments, vec![Script::json(200, &answer)]);
    assert_eq!(called["result"], json!({"temp": 7, "sky": "grey"}), "{called:#}");
    let [request] = requests.as_slice() else { panic!("one request: {requests:#?}") };
    assert_eq!(request.line, "POST /v1/cities/Bag%20End%2F%3F/days?unit=C&days=3&lang=en");
    assert_eq!(request.json, json!({"k": "v", "fixed": "yes"}));
    let header = |name: &str| {
        request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    };
    assert_eq!(header("x-city"), Some("in Bag End/?"));
    assert_eq!(header("x-version"), Some("2"));
    assert_eq!(header("authorization"), Some("s3cret"));
    assert_eq!(header("content-type"), Some("application/json"));
}

#[test]
fn unplaced_arguments_go_into_body_or_query() {
    let arguments = json!({"city": "a b", "days": 3});
    let (_, requests) = asked("  http: { url: \"BASE/x\" }\n", &arguments, vec![]);
    assert_eq!((requests[0].line.as_str(), &requests[0].json), ("POST /x", &arguments));
    let get = "  http: { url: \"BASE/x\", method: GET, request: { exclude: [days] } }\n";
    let (_, requests) = asked(get, &arguments, vec![]);
    assert_eq!((requests[0].line.as_str(), requests[0].body.len()), ("GET /x?city=a+b", 0));
}

#[test]
fn only_what_may_be_repeated_is_repeated() {
    let refusals = [
        (Script::json(429, &json!({})).header("retry-after", "60"), "rate_limited"),
        (Script::json(503, &json!({})), "connection"),
    ];
    for (refusal, kind) in refusals {
        let http = "  http: { url: \"BASE/x\" }\n";
        let (called, requests) = asked(http, &json!({"city": "B"}), vec![refusal.clone()]);
        failed(&called, kind, "answered");
        assert_eq!(requests.len(), 1, "sent once: {called:#}");
        let http = format!("  idempotent: true\n{http}");
        let (called, requests) = asked(&http, &json!({"city": "B"}), vec![refusal.clone()]);
        assert_eq!((&called["result"], requests.len()), (&json!({"late": true}), 2));
        let always = vec![refusal; 9];
        let (called, requests) = asked(&http, &json!({"city": "B"}), always);
        failed(&called, kind, "answered");
        assert_eq!(requests.len(), 3, "{called:#}");
    }
    // Errors of the caller are not retried.
    let http = "  idempotent: true\n  http: { url: \"BASE/x\" }\n";
    let refusal = Script::json(404, &json!({"error": "no such city"}));
    let (called, requests) = asked(http, &json!({"city": "B"}), vec![refusal]);
    failed(&called, "tool_error", "answered 404: {\"error\":\"no such city\"}");
    assert_eq!(requests.len(), 1);
    // Nor what the key does, which is held against the tool.
    let refusal = Script::json(403, &json!({"error": "no such key"}));
    let (called, requests) = asked(http, &json!({"city": "B"}), vec![refusal]);
    failed(&called, "protocol", "answered 403: it does not let this program in");
    assert_eq!(requests.len(), 1);
}

#[test]
fn redacted_fields_are_removed_from_answers() {
    let answer =
        json!({"a": [{"Token": "s3", "n": 1}], "token": {"x": 1}, "deep": {"b": {"pin": 4}}});
    let http = "  http: { url: \"BASE/x\", redact: [token, pin] }\n";
    let (called, _) = asked(http, &json!({"city": "B"}), vec![Script::json(200, &answer)]);
    assert_eq!(called["result"], json!({"a": [{"n": 1}], "deep": {"b": {}}}));
    let (called, _) = asked(http, &json!({"city": "B"}), vec![Script::json(400, &answer)]);
    failed(&called, "tool_error", "answered 400: {\"a\":[{\"n\":1}]");
    let plain = Script::plain(400, "text/plain").raw("token: s3");
    let (called, _) = asked(http, &json!({"city": "B"}), vec![plain]);
    assert!(!called.to_string().contains("s3"), "{called:#}");
}

#[test]
fn http_answers_are_converted_or_reported() {
    let http = "  http: { url: \"BASE/x\", max_response_bytes: 100 }\n";
    let ask = |script: Script| asked(http, &json!({"city": "B"}), vec![script]).0;
    let text = Script::plain(200, "text/html; charset=utf-8").raw("<b>grey</b>");
    assert_eq!(ask(text)["result"], "<b>grey</b>");
    let nothing = ask(Script::plain(204, "text/plain"));
    assert_eq!((&nothing["ok"], &nothing["result"]), (&json!(true), &json!("")));
    let large = ask(Script::json(200, &json!("x".repeat(101))));
    failed(&large, "invalid_result", "larger than 100 bytes");
    let large = ask(Script::plain(200, "text/plain").raw(&"x".repeat(60)).raw(&"x".repeat(60)));
    failed(&large, "invalid_result", "larger than 100 bytes");
    let picture = ask(Script::plain(200, "image/png").bytes(&[1, 2, 3]));
    assert_eq!(picture["result"], "[image/png, 1 KiB, shown in the text channel]");
    let cut = ask(Script::plain(200, "application/json").raw("{\"a\"").step(Step::Cut));
    failed(&cut, "connection", "broke the connection");
}

#[test]
fn answer_must_be_what_the_tool_declares() {
    let spec = "  output_schema: { type: object, required: [temp] }\n  http: { url: \"BASE/x\" }\n";
    let answer = Script::json(200, &json!({"heat": 1}));
    let (called, _) = asked(spec, &json!({"city": "B"}), vec![answer]);
    failed(&called, "invalid_result", "\"temp\" is a required property");
}

/// A call to a server that never answers, which is waited for so long.
fn stalled(timeout_ms: u32) -> (Value, Vec<Recorded>) {
    let http = format!("  http: {{ url: \"BASE/x\", timeout_ms: {timeout_ms} }}\n");
    let stalled = Script::plain(200, "text/plain").step(Step::Stall);
    asked(&http, &json!({"city": "B"}), vec![stalled])
}

#[test]
fn server_that_does_not_answer_is_left_in_time() {
    let (called, requests) = stalled(200);
    failed(&called, "timeout", "200 ms");
    assert_eq!(requests.len(), 1);
    assert!(called["ms"].as_f64() < Some(1_500.0), "{called:#}");
}

#[test]
fn server_that_does_not_answer_is_left() {
    // Long enough for a busy machine to send the request.
    let (called, requests) = stalled(1_500);
    failed(&called, "timeout", "1500 ms");
    assert_eq!(requests.len(), 1);
    let http = format!("  http: {{ url: \"http://{NOBODY}/x?key=s3cret\" }}\n");
    let called = call(&place(&http, &json!({"city": "B"})));
    failed(&called, "connection", "the server at '127.0.0.1' cannot be reached");
    assert!(!called.to_string().contains("s3cret"), "{called:#}");
}

#[test]
fn redirects_stay_on_the_server() {
    let to = |place: &str| Script::plain(302, "text/plain").header("location", place);
    let get = "  http: { url: \"BASE/x\", method: GET }\n";
    let (called, requests) = asked(get, &json!({"city": "B"}), vec![to("/y?z=1")]);
    assert_eq!(called["result"], json!({"late": true}), "{called:#}");
    assert_eq!(requests[1].line, "GET /y?z=1");
    for elsewhere in ["http://127.0.0.2:9/y", "https://example.org/"] {
        let (called, requests) = asked(get, &json!({"city": "B"}), vec![to(elsewhere)]);
        failed(&called, "protocol", "it redirects elsewhere");
        assert_eq!(requests.len(), 1);
    }
    let (called, requests) = asked(get, &json!({"city": "B"}), vec![to("/x"); 9]);
    failed(&called, "protocol", "in a circle");
    assert_eq!(requests.len(), 4);
    let post = "  http: { url: \"BASE/x\" }\n";
    let (called, requests) = asked(post, &json!({"city": "B"}), vec![to("/y")]);
    failed(&called, "protocol", "it redirects");
    assert_eq!(requests.len(), 1, "nothing is sent twice");
}

#[test]
fn argument_does_not_walk_away() {
    let http = "  http: { url: \"BASE/users/{city}\", method: DELETE }\n";
    for city in ["..", "."] {
        let (called, requests) = asked(http, &json!({"city": city}), vec![]);
        failed(&called, "invalid_arguments", "cannot stand in the address");
        assert_eq!(requests.len(), 0);
    }
    let (called, _) = asked(http, &json!({"city": ""}), vec![]);
    failed(&called, "invalid_arguments", "'city' is part of the address and needs a value");
}

#[test]
fn manifest_mistakes_are_reported_with_position() {
    let http = |more: &str| format!("  http: {{ url: \"https://x.test/a\"{more} }}\n");
    for (spec, says) in [
        ("  mock_template: '{\"a\": {{ city }'\n".to_owned(), "'mock_template': syntax error"),
        ("  mock_template: '{\"a\": {{ city }}}'\n".to_owned(), "the template does not yield JSON"),
        ("  mock_template: '{{if .city}}a{{end}}'\n".to_owned(), "write {% if name %}"),
        ("  mock_result_file: nowhere.json\n".to_owned(), "no such file"),
        ("  mock_result: 1\n  mock_template: x\n".to_owned(), "more than one answer"),
        ("  mode: mock\n".to_owned(), "a mock tool needs an answer"),
        ("  mode: live\n".to_owned(), "a live tool needs 'http'"),
        ("  mode: mcp\n".to_owned(), "'spec.mode' is 'mcp' (expected mock or live; "),
        ("  mock_result: 1\n  mock_rezult: 1\n".to_owned(), "did you mean 'mock_result'?"),
        (
            "  output_schema: { type: object }\n  mock_template: words\n".to_owned(),
            "is not of type",
        ),
        ("  output_schema: { type: object }\n  mock_result: [1]\n".to_owned(), "is not of type"),
        ("  output_schema: { type: banana }\n  mock_result: 1\n".to_owned(), "'output_schema': "),
        (http(", response_mapping: \"a[\""), "'a[' is not a JMESPath expression: "),
        (http(", body_mapping: \"nosuch(@)\""), "not a JMESPath expression: "),
        (http(", body_mapping: a, request: { body_mapping: a }"), "is given twice"),
        (http(", method: get"), "did you mean 'GET'?"),
        (http(", method: GET, body_mapping: \"@\""), "a request without a body"),
        (http(", headers: { \"a b\": c }"), "header 'a b': it is not a valid header name"),
        (http(", headers: { a: \"{town}\" }"), "'town' is not an argument of the tool"),
        (http(", query_params: [town]"), "'town' is not an argument of the tool"),
        (http(", headers_from_env: [a]"), "needs the variable 'a'"),
        (http(", headers_from_env: [a=NO_SUCH]"), "needs the variable 'NO_SUCH'"),
        (http(", max_response_bytes: 0"), "a whole number from 1 to 10485760"),
        ("  http: { url: \"https://{city}.test/\" }\n".to_owned(), "the host is fixed text"),
        ("  http: { url: \"https://x.test/{{.city}\" }\n".to_owned(), "is written {name}"),
        ("  http: { url: \"${NO_SUCH}\" }\n".to_owned(), "needs the variable 'NO_SUCH'"),
        ("  http: { url: x.test }\n".to_owned(), "begins with http:// or https://"),
        ("  estimated_duration_ms: -1\n  mock_result: 1\n".to_owned(), "from 0 to 86400000"),
    ] {
        let ran = problems(&spec);
        let found: Vec<_> = ran.stderr.lines().filter(|line| line.contains(says)).collect();
        assert_eq!(found.len(), 1, "'{says}' of:\n{spec}{}", ran.stderr);
        assert!(found[0].starts_with("tools/forecast.yaml:"), "{found:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "one mistake, one line: {}", ran.stderr);
    }
}

#[test]
fn manifests_that_cannot_be_offered_are_refused() {
    let other = |head: &str| {
        let place = place("  mock_result: 1\n", &json!({}));
        place.write("tools/other.yaml", format!("{head}{INPUT}  mock_result: 1\n"));
        place.run(&["check"]).ends_with(2).stderr
    };
    assert!(other(HEAD).contains("tool 'weather.forecast' appears twice (give it another name)"));
    assert!(other(&HEAD.replace("forecast", "a.b")).contains("invalid tool name 'a.b'"));
    assert!(other(&HEAD.replace("/v1", "/v2")).contains("'apiVersion' is"));
    assert!(other(&HEAD.replace("kind: Tool", "kind: Agent")).contains("'kind' is 'Agent'"));
    let place =
        Place::with_config(&format!("tools: {{ manifests: [no] }}\n{}", pip("a.b", &json!({}))));
    let said = place.run(&["check"]).ends_with(2).stderr;
    assert!(said.contains("manifests 'no': no such file or folder (name a folder"), "{said}");
    let input = INPUT.replace("type: object", "type: array");
    let place = Place::with_config(&pip("weather.forecast", &json!({})));
    place.write("tools/forecast.yaml", format!("{HEAD}{input}  mock_result: 1\n"));
    let said = place.run(&["check"]).ends_with(2).stderr;
    assert!(said.contains("its input schema is of type \"array\""), "{said}");
}

#[test]
fn files_are_there_when_they_are_configured() {
    let arguments = json!({"path": "a/note.txt", "content": "Remember."});
    let npc = pip("file-io.write_file", &arguments);
    let said = Place::with_config(&npc).run(&["check"]).ends_with(2).stderr;
    assert!(said.contains("file_io: { base_dir: … }"), "{said}");
    let read_only = format!("file_io: {{ base_dir: notes, read_only: true }}\n{npc}");
    let said = Place::with_config(&read_only).run(&["check"]).ends_with(2).stderr;
    assert!(said.contains("file_io in glyphoxa.yaml is read_only"), "{said}");

    let writable = format!("file_io: {{ base_dir: notes }}\n{npc}");
    Place::with_config(&writable).run(&["check"]).ends_with(0);
    let written = || {
        let place = Place::with_config(&writable);
        let called = call(&place);
        (place, called)
    };
    let (place, called) = untimed(written, |(_, called)| is_late(called));
    assert_eq!(called["result"], json!({"path": "a/note.txt", "bytes": 9, "replaced": false}));
    let note = std::fs::read_to_string(place.path("notes/default/a/note.txt")).expect("a file");
    assert_eq!(note, "Remember.");
    place.write("world.yaml", "campaign: { name: The Long Road }\n");
    let read = pip("file-io.read_file", &json!({"path": "a/note.txt"}));
    place.write(
        "glyphoxa.yaml",
        format!("campaign: world.yaml\nfile_io: {{ base_dir: notes }}\n{read}"),
    );
    failed(&untimed(|| call(&place), is_late), "tool_error", "there is no file");
    place.write("notes/the-long-road/a/note.txt", "Walk on.");
    assert_eq!(untimed(|| call(&place), is_late)["result"]["content"], "Walk on.");
}

#[test]
fn equal_calls_share_connections() {
    let server = ChatServer::start();
    server.otherwise(|_| Script::json(200, &json!({"ok": 1})).paced(Duration::from_millis(5)));
    let http = format!("  effects: none\n  http: {{ url: \"{}/x\" }}\n", server.base_url());
    let place = place(&http, &json!({"city": "B"}));
    let inputs = ["--text", "Pip, one", "--text", "Pip, two", "--text", "Pip, three"];
    let ran = place.run(&[&["ask", "--json", "--tier", "deep"], &inputs[..]].concat());
    assert_eq!((ran.lines().len(), server.requests().len()), (3, 3), "{ran:#?}");
    assert_eq!(server.connections(), 1);
}

#[test]
fn changed_manifest_applies_from_the_next_line() {
    let config = pip("weather.forecast", &json!({"city": "B"}));
    let place = Place::with_config(&config.replace("It is said.", "\"{result.temp} degrees.\""));
    let tool = |temp: u32| format!("{HEAD}{INPUT}  mock_result: {{ temp: {temp} }}\n");
    place.write("tools/forecast.yaml", tool(7));
    let mut live = place.start(&["ask", "--json", "--tier", "deep"]);
    live.types("Pip, the weather?");
    live.says("7 degrees.");
    place.write("tools/forecast.yaml", tool(19));
    live.says("configuration reloaded");
    live.types("Pip, the weather?");
    live.says("19 degrees.");
    assert_eq!(live.leave(), 0);
}
