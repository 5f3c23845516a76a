//! MCP servers through the real program: servers that work, and everything that can go wrong.

use std::{
    fs,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::support::{
    processes::{all_end, is_there},
    program::{Place, port_of, repository},
    skipped::skipped,
};

/// True if there is an interpreter; says so when there is none.
fn has_python() -> bool {
    let there = Command::new("python3").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !there {
        skipped("tests with MCP servers", "there is no python3");
    }
    there
}

/// The command of a test server.
fn command(mode: &str) -> String {
    format!("python3 '{}' {mode}", repository("tests/support/mcp/server.py").display())
}

/// A table whose NPC may use every tool of `home`, with these servers (YAML, one a line).
fn place(servers: &[String]) -> Place {
    let place = Place::new();
    place.write("glyphoxa.yaml", config(servers));
    place
}

fn config(servers: &[String]) -> String {
    let servers: String = servers.iter().map(|server| format!("    - {{ {server} }}\n")).collect();
    let line = |word: &str| {
        format!(
            "      - {{ when: [{word}], tool: {{ name: home.{word} }}, say: \"Did {word}.\" }}\n"
        )
    };
    let lines: String = ["change", "die", "count", "extra"].map(line).concat();
    format!(
        "npcs:\n  - name: Bartok\n    tools: [\"home.*\"]\n    budget_tier: deep\n    lines:\n{lines}      \
         - say: \"Hm.\"\nmcp:\n  servers:\n{servers}"
    )
}

/// A server `home` in `mode` that notes its calls.
fn home(place: &Place, mode: &str, more: &str) -> String {
    fs::create_dir_all(place.path("noted")).unwrap();
    let calls = place.path("noted/calls");
    format!(
        "name: home, command: \"{}\", env: {{ CALLS: \"{}\" }}, sandbox: {{ write: [noted] }}{more}",
        command(mode),
        calls.display()
    )
}

/// Calls that the test server noted.
fn calls(place: &Place) -> Vec<String> {
    let noted = fs::read_to_string(place.path("noted/calls")).unwrap_or_default();
    noted.lines().map(str::to_owned).collect()
}

/// A place with one server `home` in `mode`.
fn with_home(mode: &str, more: &str) -> Place {
    let place = Place::new();
    place.write("glyphoxa.yaml", config(&[home(&place, mode, more)]));
    place
}

fn call(place: &Place, tool: &str, arguments: &str) -> Value {
    let mut ran = place.run(&["tools", "call", tool, arguments, "--json"]);
    ran.stderr.clear();
    ran.line()
}

/// The reason is a server's end, with its last words. Its exit status is there unless it comes late.
#[track_caller]
fn assert_crashed(reason: &str) {
    let is_end = reason.contains("it ended before it was ready");
    assert!(is_end && reason.contains("no config found"), "{reason}");
}

#[test]
fn ready_and_failed_servers_are_listed_together() {
    if !has_python() {
        return;
    }
    let servers = [
        format!("name: home, command: \"{}\"", command("plain")),
        format!(
            "name: new, command: \"{}\", resources: true, resource_vars: {{ town: Mill }}",
            command("stateless")
        ),
        format!("name: stubborn, command: \"{}\"", command("stubborn")),
        format!("name: crash, command: \"{}\", auto_reconnect: false", command("crash")),
        format!("name: mute, command: \"{}\", connect_timeout_ms: 1500", command("mute")),
        "name: none, command: no-such-program".to_owned(),
        "name: nobody, url: \"http://127.0.0.1:1/mcp\"".to_owned(),
        "name: old, url: \"http://127.0.0.1:1/sse\"".to_owned(),
    ];
    let place = place(&servers).env("RUST_LOG", "off");
    let lines = place.run(&["mcp", "servers", "--json"]).ends_with(1).lines();
    let of = |name: &str| lines.iter().find(|line| line["name"] == name).unwrap();
    for (name, revision) in
        [("home", "2025-11-25"), ("new", "2026-07-28"), ("stubborn", "2025-11-25")]
    {
        assert_eq!(
            (&of(name)["state"], &of(name)["revision"]),
            (&json!("ready"), &json!(revision))
        );
        // All three pages, but for the one no model can take.
        assert_eq!(of(name)["tools"].as_array().unwrap().len(), 14, "{:#}", of(name));
        assert_eq!(of(name)["left_out"].as_array().unwrap().len(), 1);
    }
    assert_crashed(of("crash")["reason"].as_str().unwrap());
    let failed = [
        ("mute", "it was not ready within 1500 ms"),
        ("none", "cannot find the program 'no-such-program' (install it, or give its full path)"),
        ("nobody", "cannot connect (Connection refused (os error 111))"),
    ];
    for (name, reason) in failed {
        assert_eq!(of(name)["reason"], reason);
    }
    let old = of("old")["reason"].as_str().unwrap();
    assert!(old.starts_with(failed[2].1) && old.contains("ends with /mcp"), "{old}");
    assert_eq!(of("crash")["state"], "failed");
    assert_eq!(of("new")["resources"], json!(["map", "token.txt", "towns"]));
    assert_eq!(of("crash")["stderr"], json!(["this server is chatty", "no config found"]));
    // Their protocol revisions are remembered, so that no server is asked in vain again.
    let kept = fs::read_to_string(place.path("data/mcp-revisions.json")).unwrap();
    assert_eq!(kept.matches("2025-11-25").count(), 2, "{kept}");
}

#[test]
fn slow_server_is_reached_in_its_own_revision() {
    if !has_python() {
        return;
    }
    // Slower than the wait for a server's list of revisions; it speaks only one.
    let slow =
        format!("name: home, command: \"{}\", env: {{ START_AFTER: \"4\" }}", command("stateless"));
    let place = place(&[slow]).env("RUST_LOG", "off");
    let line = place.run(&["mcp", "servers", "--json"]).ends_with(0).line();
    assert_eq!((&line["state"], &line["revision"]), (&json!("ready"), &json!("2026-07-28")));
}

#[test]
fn server_answers_and_failures_reach_the_model() {
    if !has_python() {
        return;
    }
    for mode in ["plain", "stateless"] {
        // A busy machine takes its time for 31 MiB.
        let more = ", tools: { huge: { max_duration_ms: 60000 } }";
        let place = with_home(mode, more).env("RUST_LOG", "off");
        let cases = [
            ("home.echo", r#"{"text": "hail"}"#, json!("hail")),
            ("home.picture", "{}", json!("[image/png, 1 KiB, shown in the text channel]")),
            ("home.linked", "{}", json!("[map: file:///map]\ninside")),
            ("home.fail", "{}", json!({"error": "tool_error", "message": "the door is stuck"})),
        ];
        for (tool, arguments, expected) in cases {
            assert_eq!(call(&place, tool, arguments)["result"], expected, "{mode} {tool}");
        }
        let failures = [
            ("home.error", "protocol", "'home' answered with an error: no such thing"),
            ("home.die", "connection", "'home' has ended: out of mana"),
            ("home.huge", "protocol", "an answer of 31 MiB (at most 8 are read)"),
            ("home.garbage", "protocol", "an answer that is not JSON"),
            ("home.slow", "timeout", "timed out after"),
        ];
        for (tool, kind, message) in failures {
            let result = &call(&place, tool, "{}")["result"];
            assert_eq!(result["error"], kind, "{mode} {tool}: {result:#}");
            let told = result["message"].as_str().unwrap();
            assert!(told.contains(message), "{mode} {tool}: {told}");
        }
        let noted = calls(&place);
        // A tool that may change something is on the wire once, whatever fails.
        assert_eq!(noted.iter().filter(|line| *line == "die").count(), 1, "{noted:?}");
    }
}

#[test]
fn measuring_calls_what_reads_and_nothing_else() {
    if !has_python() {
        return;
    }
    for mode in ["plain", "stateless"] {
        let place = with_home(mode, "");
        place.run(&["tools", "calibrate", "home"]).ends_with(0);
        let mut noted = calls(&place);
        noted.dedup();
        assert_eq!(noted, ["echo"], "{mode}");
    }
}

#[test]
fn servers_get_an_environment_of_their_own() {
    if !has_python() {
        return;
    }
    let more = ", required: true";
    let place = with_home("plain", more).env("DISCORD_TOKEN", "hush").env("HOME", "/nowhere");
    let environment = call(&place, "home.environment", "{}")["result"].clone();
    let kept = place.path("data/servers").canonicalize().unwrap();
    for own in ["HOME", "TMPDIR"] {
        let folder = environment[own].as_str().unwrap();
        assert!(folder.starts_with(kept.to_str().unwrap()), "{own}: {environment:#}");
    }
    assert!(environment["CALLS"].is_string());
    assert!(!environment.to_string().contains("hush"), "{environment:#}");
    assert!(environment.get("RUST_LOG").is_none());
    let free = with_home("plain", more).env("HOME", "/nowhere");
    let text = fs::read_to_string(free.path("glyphoxa.yaml")).unwrap();
    free.write("glyphoxa.yaml", text.replace("sandbox: { write: [noted] }", "sandbox: off"));
    assert_eq!(call(&free, "home.environment", "{}")["result"]["HOME"], "/nowhere");
}

#[test]
fn no_process_is_left_whatever_ends_the_program() {
    if !has_python() {
        return;
    }
    for orderly in [true, false] {
        let place = Place::new();
        place.write("noted/none", "");
        let pids = place.path("noted/pids");
        let server = format!(
            "name: home, required: true, command: \"{}\", env: {{ GRANDCHILD: \"{}\" }}, \
             sandbox: {{ write: [noted] }}",
            command("plain"),
            pids.display()
        );
        place.write("glyphoxa.yaml", config(&[server]));
        let mut live = place.start(&["ask", "--json"]);
        live.says("server ready");
        live.types("Bartok, hello");
        live.says("Hm.");
        let pids = fs::read_to_string(pids).unwrap();
        let pids: Vec<&str> = pids.split_whitespace().collect();
        assert!(pids.len() == 2 && pids.iter().all(|pid| is_there(pid)), "{pids:?}");
        match orderly {
            true => assert_eq!(live.leave(), 0),
            false => live.kill(),
        }
        all_end(&pids, if orderly { "orderly" } else { "killed" });
    }
}

#[test]
fn changed_list_of_tools_is_taken_at_once() {
    if !has_python() {
        return;
    }
    for mode in ["plain", "stateless"] {
        let place = with_home(mode, ", required: true");
        let mut live = place.start(&["ask", "--json", "--tier", "deep"]);
        live.says("server ready");
        live.types("Bartok, change");
        live.says("tools have changed");
        live.types("Bartok, hello");
        let mut line = live.says("\"visible\"");
        while line.contains("Bartok, change") {
            line = live.says("\"visible\"");
        }
        assert!(line.contains("extra"), "{mode}: {line}");
        live.leave();
    }
}

#[test]
fn server_that_dies_comes_back() {
    if !has_python() {
        return;
    }
    // Its last words come from outside; counting does no harm.
    let more = ", required: true, reconnect_interval_ms: 50, tools: { count: { effects: none } }";
    let place = with_home("plain", more);
    let mut live = place.start(&["ask", "--json", "--tier", "deep"]);
    live.says("server ready");
    live.types("Bartok, die");
    live.says("server failed");
    live.says("server ready");
    live.types("Bartok, count");
    let line = live.says("home.count");
    assert!(line.contains("\"ok\":true"), "{line}");
    live.leave();
}

#[test]
fn servers_are_added_and_removed_while_it_runs() {
    if !has_python() {
        return;
    }
    let place = Place::with_config("npcs: [{ name: Bartok, lines: [{ say: Hm. }] }]\n");
    let mut live = place.start(&["ask", "--json", "--tier", "deep"]);
    live.types("Bartok, count");
    live.says("Hm.");
    place.write("glyphoxa.yaml", config(&[home(&place, "plain", "")]));
    live.says_all(&["configuration reloaded", "server ready"]);
    live.types("Bartok, count");
    let line = live.says("home.count");
    assert!(line.contains("\"ok\":true"), "{line}");
    place.write("glyphoxa.yaml", "npcs: [{ name: Bartok, lines: [{ say: Away. }] }]\n");
    live.says("changed: Bartok");
    live.types("Bartok, count");
    assert!(live.says("Away.").contains("\"visible\":[]"));
    live.leave();
}

#[test]
fn new_tools_of_reviewed_server_await_approval() {
    if !has_python() {
        return;
    }
    let place = with_home("plain", ", trust: review").env("RUST_LOG", "off");
    let status = || place.run(&["mcp", "servers", "--json"]).ends_with(0).line();
    let held = status();
    assert_eq!(held["tools"], json!([]));
    assert_eq!(held["waiting_for_approval"].as_array().unwrap().len(), 15, "{held:#}");
    let approved = place.run(&["mcp", "trust", "home"]).ends_with(0).stdout;
    assert!(approved.contains("approved: home.echo\n"), "{approved}");
    assert_eq!(status()["waiting_for_approval"], json!([]));
    // Only one description changes, not the command; what a server says of itself does
    // not make it another one.
    let server = home(&place, "reworded", ", trust: review");
    place.write("glyphoxa.yaml", config(&[server]));
    assert_eq!(status()["waiting_for_approval"], json!(["echo"]));
    let listed = place.run(&["tools", "list", "--json"]).ends_with(0).lines();
    assert!(listed.iter().all(|tool| tool["identity"] != "home.echo"));
    let slow = listed.iter().find(|tool| tool["identity"] == "home.slow").unwrap();
    assert_eq!(slow["idempotent"], false, "its word does not count");
    let unknown = place.run(&["mcp", "trust", "hme"]).ends_with(2);
    assert!(unknown.message().contains("unknown server 'hme'"));
}

#[test]
fn nothing_starts_without_a_required_server() {
    if !has_python() {
        return;
    }
    let place = with_home("crash", ", required: true").env("RUST_LOG", "off");
    let ran = place.run(&["ask", "--text", "Bartok, hello"]).ends_with(1);
    assert!(ran.stderr.contains("required server 'home': "), "{ran:#?}");
    assert_crashed(&ran.stderr);
}

/// The exit status is waited for 200 ms.
#[test]
fn exit_status_of_a_server_is_told_in_time() {
    if !has_python() {
        return;
    }
    let place = with_home("crash", ", auto_reconnect: false").env("RUST_LOG", "off");
    let line = place.run(&["mcp", "servers", "--json"]).ends_with(1).line();
    assert_eq!(line["reason"], "it ended before it was ready, exit status 7: no config found");
    let place = with_home("crash", ", required: true").env("RUST_LOG", "off");
    let ran = place.run(&["ask", "--text", "Bartok, hello"]).ends_with(1);
    let expected = "required server 'home': it ended before it was ready, exit status 7";
    assert!(ran.stderr.contains(expected), "{ran:#?}");
}

/// A test server over HTTP.
struct Http {
    child: Child,
    url: String,
}

impl Http {
    fn start(mode: &str, place: &Place) -> Self {
        fs::create_dir_all(place.path("noted")).unwrap();
        let mut child = Command::new("python3")
            .arg(repository("tests/support/mcp/server.py"))
            .args(["http", mode])
            .env("CALLS", place.path("noted/calls"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let url = format!("http://127.0.0.1:{}/mcp", port_of(&mut child));
        Self { child, url }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn http_servers_get_headers_on_few_connections() {
    if !has_python() {
        return;
    }
    for mode in ["plain", "stateless"] {
        let place = Place::new().env("RUST_LOG", "off");
        let server = Http::start(mode, &place);
        let options = format!(
            "name: home, url: \"{}\", auth: {{ token: \"Bearer t0k\" }}, resources: true, \
             resource_vars: {{ town: Mill }}, \
             headers: {{ X-Campaign: \"<${{campaign.system}}>\" }}",
            server.url
        );
        place.write("glyphoxa.yaml", config(&[options]));
        let said = call(&place, "home.headers", "{}")["result"].clone();
        let headers: Value = serde_json::from_str(said.as_str().unwrap()).unwrap();
        assert_eq!(headers["authorization"], "Bearer t0k", "{headers:#}");
        assert_eq!(headers["x-campaign"], "<>", "{headers:#}");
        let version = if mode == "plain" { "2025-11-25" } else { "2026-07-28" };
        assert_eq!(headers["mcp-protocol-version"], version, "{headers:#}");
        let connections = calls(&place).iter().filter(|line| *line == "connection").count();
        assert!(connections <= 4, "{mode}: {connections} connections");
    }
}

#[test]
fn requests_wait_for_the_open_event_stream() {
    if !has_python() {
        return;
    }
    let place = Place::new().env("RUST_LOG", "off");
    let server = Http::start("session", &place);
    place.write("glyphoxa.yaml", config(&[format!("name: home, url: \"{}\"", server.url)]));
    assert_eq!(call(&place, "home.echo", r#"{"text": "hello"}"#)["result"], "hello");
    let early: Vec<String> =
        calls(&place).into_iter().filter(|line| line.starts_with("early")).collect();
    assert!(early.is_empty(), "{early:?}");
}

#[test]
fn unusable_http_server_error_names_the_cause() {
    if !has_python() {
        return;
    }
    let cases = [
        ("refuse", "glyphoxa mcp login home"),
        ("page", "is this the address of an MCP server?"),
        ("redirect", "is this the address of an MCP server?"),
    ];
    for (mode, expected) in cases {
        let place = Place::new().env("RUST_LOG", "off");
        let server = Http::start(mode, &place);
        place.write("glyphoxa.yaml", config(&[format!("name: home, url: \"{}\"", server.url)]));
        let line = place.run(&["mcp", "servers", "--json"]).ends_with(1).line();
        let reason = line["reason"].as_str().unwrap_or_default();
        assert!(reason.contains(expected), "{mode}: {line:#}");
    }
    let place = Place::new().env("RUST_LOG", "off");
    let server = Http::start("busy", &place);
    place.write("glyphoxa.yaml", config(&[format!("name: home, url: \"{}\"", server.url)]));
    assert_eq!(call(&place, "home.count", "{}")["result"]["error"], "rate_limited");
}

/// An NPC who calls what the words name and says what it has heard, or else that it must ask.
fn careful(server: &str) -> String {
    let line = |word: &str| {
        format!(
            "      - {{ when: [{word}], tool: {{ name: home.{word} }}, say: \"I hear {{result}}.\" }}\n"
        )
    };
    let lines: String = ["count", "dig"].map(line).concat();
    format!(
        "npcs:\n  - name: Bartok\n    tools: [\"home.*\"]\n    budget_tier: deep\n    lines:\n{lines}      \
         - say: I must ask first.\nmcp:\n  servers:\n    - {{ {server} }}\n"
    )
}

#[test]
fn call_needing_approval_runs_at_most_once() {
    if !has_python() {
        return;
    }
    for (decision, replies, times) in
        [("all", &["I must ask first.", "I hear 1."][..], 1), ("none", &["I must ask first."], 0)]
    {
        let place = Place::new();
        let server = home(&place, "plain", ", tools: { count: { approval: dm } }");
        place.write("glyphoxa.yaml", careful(&server));
        let arguments = ["ask", "--json", "--tier", "deep", "--text", "Bartok, count"];
        let ran = place.run(&[&arguments[..], &["--approve", decision]].concat()).ends_with(0);
        let lines = ran.lines();
        let said: Vec<&str> = lines.iter().filter_map(|line| line["reply"].as_str()).collect();
        assert_eq!(said, replies, "{decision}: {ran:#?}");
        let counted = calls(&place).iter().filter(|line| *line == "count").count();
        assert_eq!(counted, times, "{decision}");
        let told = "Bartok: home.count was not called: the game master said no";
        assert_eq!(ran.stderr.contains(told), decision == "none", "{ran:#?}");
    }
}

#[test]
fn progress_extends_the_time_limit_of_a_call() {
    if !has_python() {
        return;
    }
    for mode in ["plain", "stateless"] {
        let server = format!(
            "name: home, command: \"{}\", env: {{ MORE: yes, PACE: \"0.3\" }}, tools: {{ dig: {{ \
             max_duration_ms: 2000 }} }}",
            command(mode)
        );
        let place = Place::with_config(&careful(&server)).env("RUST_LOG", "off");
        let ran = place.run(&["ask", "--json", "--tier", "deep", "--text", "Bartok, dig"]);
        let line = ran.ends_with(0).line();
        // Its limit is 2,000 ms without a sign of life, and it takes 2,400.
        assert_eq!(line["reply"], "I hear gold.", "{mode}: {line:#}");
    }
}
