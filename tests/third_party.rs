//! MCP servers made elsewhere, through the real program: those of the protocol's own project from
//! npm and PyPI, and one on fastmcp with faults (`tests/support/mcp/faults.py`).
//!
//! `./dev test` installs them into `target/third-party`. A test whose servers are not there says
//! so, whatever hides the output of tests, and passes.

use std::{
    collections::BTreeSet,
    env,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{
    chat_server::{ChatServer, Recorded, Script},
    processes::{all_end, descendants},
    program::{Place, first_line, repository},
    skipped::{not_installed, skipped, third_party},
    whole,
};

/// The oldest Node.js that the packages run on.
const NODE: (u32, u32) = (20, 15);
/// A secret in the program's environment.
const SECRET: (&str, &str) = ("SECRET_X", "hush");

/// The folder of what was installed for tests; says so when it is not there.
pub fn installed(name: &str) -> Option<PathBuf> {
    let folder = third_party(name);
    if folder.join("installed").exists() {
        return Some(folder);
    }
    skipped(&format!("tests with {name}"), &not_installed(name));
    None
}

/// A vendor's own client, which was installed in `folder`, for the counterpart in `tests/support/NAME`.
pub fn client(folder: &Path, name: &str) -> Command {
    let mut client = Command::new(folder.join("bin/python"));
    let script = repository(&format!("tests/support/{name}/sdk.py"));
    client.arg(script).env("NO_PROXY", "127.0.0.1");
    client
}

/// A Node.js that is new enough for what was installed as `name`; says so when there is none.
pub fn node(name: &str) -> Option<PathBuf> {
    let new = |node: &Path| {
        let version = Command::new(node).arg("--version").output().ok()?.stdout;
        let version = String::from_utf8(version).ok()?;
        let mut numbers = version.trim().trim_start_matches('v').split('.').map(str::parse);
        let version: (u32, u32) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        (version >= NODE).then(|| node.to_owned())
    };
    if let Some(node) = new(Path::new("node")) {
        return Some(node);
    }
    let node = new(&installed("node")?.join("node_modules/.bin/node"));
    if node.is_none() {
        let reason = "the Node.js of npm's package node does not run here";
        skipped(&format!("tests with {name}"), reason);
    }
    node
}

/// A program that was installed.
fn program(package: &str, name: &str) -> Option<String> {
    let bin = match package {
        "npm-servers" => "node_modules/.bin",
        _ => "bin",
    };
    Some(installed(package)?.join(bin).join(name).display().to_string())
}

/// A folder whose programs find Node and Python as this test does.
#[expect(
    clippy::disallowed_methods,
    reason = "the servers' interpreters are where this finds them"
)]
fn place() -> Place {
    let home = Place::new();
    let path = home.path("").display().to_string();
    let searched = env::var("PATH").unwrap_or_default();
    home.env("PATH", &searched).env("HOME", &path).env(SECRET.0, SECRET.1)
}

/// Expectations about a server.
struct Expected {
    name: &'static str,
    /// Keys of the configuration by which it is reached.
    reach: String,
    /// Tools it has at least.
    tools: usize,
    /// A call only it answers so.
    call: (&'static str, Value),
    answer: &'static str,
}

/// A free port below those that a system hands out: no test beside this one is given it before the
/// server has it.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let first = 20_000 + std::process::id() % 600 * 16;
    (0..16)
        .map(|_| u16::try_from(first + NEXT.fetch_add(1, Ordering::Relaxed) % 16).unwrap())
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("a free port")
}

/// server-everything over HTTP, which knows `MARK`.
struct Remote {
    child: Child,
    url: String,
}

impl Remote {
    fn start() -> Option<Self> {
        let program = program("npm-servers", "mcp-server-everything")?;
        let free = free_port();
        let mut child = Command::new(program)
            .arg("streamableHttp")
            .env("PORT", free.to_string())
            .env("MARK", "the one behind HTTP")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = child.stderr.take().unwrap();
        first_line(&mut child, stderr, "listening");
        Some(Self { child, url: format!("http://127.0.0.1:{free}/mcp") })
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The servers from npm; those over stdio have no `MARK`.
fn from_npm(place: &Place, remote: &Remote) -> Option<Vec<Expected>> {
    let bin = |name| program("npm-servers", name);
    place.write("papers/letter.txt", "Meet me at the mill.");
    let (papers, graph) = (place.path("papers"), place.path("graph.jsonl"));
    let (papers, graph) = (papers.display(), graph.display());
    let known =
        r#"{"type":"entity","name":"Mira","entityType":"thief","observations":["left-handed"]}"#;
    place.write("graph.jsonl", known);
    Some(vec![
        Expected {
            name: "everything",
            reach: format!("command: \"'{}' stdio\"", bin("mcp-server-everything")?),
            tools: 13,
            call: ("get-env", json!({})),
            answer: "PATH",
        },
        Expected {
            name: "remote",
            reach: format!("url: \"{}\"", remote.url),
            tools: 13,
            call: ("get-env", json!({})),
            answer: "the one behind HTTP",
        },
        Expected {
            name: "files",
            reach: format!("command: \"'{}' '{papers}'\"", bin("mcp-server-filesystem")?),
            tools: 14,
            call: ("list_allowed_directories", json!({})),
            answer: "papers",
        },
        Expected {
            name: "knowledge",
            reach: format!(
                "command: \"'{}'\", env: {{ MEMORY_FILE_PATH: \"{graph}\" }}, \
                 sandbox: {{ write: [\"{graph}\"] }}",
                bin("mcp-server-memory")?
            ),
            tools: 9,
            call: ("search_nodes", json!({"query": "thief"})),
            answer: "left-handed",
        },
    ])
}

/// The servers from PyPI.
fn from_pypi() -> Option<Vec<Expected>> {
    Some(vec![
        Expected {
            name: "time",
            reach: format!("command: \"'{}'\"", program("python-servers", "mcp-server-time")?),
            tools: 2,
            call: ("get_current_time", json!({"timezone": "Asia/Kathmandu"})),
            answer: "+05:45",
        },
        Expected {
            name: "faults",
            reach: faults()?,
            tools: 7,
            call: ("echo", json!({"message": "hail"})),
            answer: "fastmcp says hail",
        },
    ])
}

/// Keys of the configuration by which the server with faults is reached, if it is installed.
fn faults() -> Option<String> {
    let python = program("python-servers", "python")?;
    let script = repository("tests/support/mcp/faults.py");
    Some(format!("command: \"'{python}' '{}'\"", script.display()))
}

/// A configuration with these servers; Bartok may use all their tools and thinks at `brain`.
fn config(servers: &[(&str, &str)], brain: &ChatServer) -> String {
    let lines: String = servers
        .iter()
        .map(|(name, reach)| {
            // Six programs that start at once are slow on a busy machine.
            format!(
                "    - {{ name: {name}, connect_timeout_ms: 90000, reconnect_interval_ms: 50, \
                 {reach} }}\n"
            )
        })
        .collect();
    let tools: Vec<String> = servers.iter().map(|(name, _)| format!("{name}.*")).collect();
    format!(
        "providers: {{ llm: {{ name: openai, base_url: \"{}\", model: m }} }}\n\
         npcs:\n  - {{ name: Bartok, budget_tier: deep, tools: {tools:?} }}\n\
         mcp:\n  servers:\n{lines}",
        brain.base_url()
    )
}

#[test]
fn sixty_tools_of_six_servers_stay_apart() {
    let Some(remote) = Remote::start() else { return };
    let place = place().env("RUST_LOG", "off");
    let Some(mut servers) = from_npm(&place, &remote) else { return };
    // Without Python the rest is tested.
    servers.extend(from_pypi().unwrap_or_default());
    let reaches: Vec<_> = servers.iter().map(|it| (it.name, it.reach.as_str())).collect();
    let brain = ChatServer::start();
    place.write("glyphoxa.yaml", config(&reaches, &brain));
    let listed = place.run(&["tools", "list", "--json"]).ends_with(0).lines();
    let text = |tool: &Value, key: &str| tool[key].as_str().unwrap().to_owned();
    for server in &servers {
        let prefix = format!("{}.", server.name);
        let its = listed.iter().filter(|it| text(it, "identity").starts_with(&prefix)).count();
        assert!(its >= server.tools, "{}: {its}", server.name);
    }
    let identities: BTreeSet<String> = listed.iter().map(|it| text(it, "identity")).collect();
    let names: BTreeSet<String> = listed.iter().map(|it| text(it, "name")).collect();
    assert_eq!((identities.len(), names.len()), (listed.len(), listed.len()), "{listed:#?}");
    let expected = servers.iter().map(|server| server.tools).sum::<usize>();
    assert!(identities.len() >= expected, "{} of {expected}", identities.len());
    let fits = |name: &String| name.len() <= 64 && name.bytes().all(is_of_a_name);
    assert!(names.iter().all(fits), "{names:?}");
    // Tools of several servers with one name keep their server's name in front.
    for identity in ["everything.echo", "remote.echo", "everything.get-env", "remote.get-env"] {
        let tool = listed.iter().find(|it| text(it, "identity") == identity).unwrap();
        assert_eq!(text(tool, "name"), identity.replace('.', "_"));
    }
    for Expected { name, call: (tool, arguments), answer, .. } in &servers {
        let identity = format!("{name}.{tool}");
        // Only servers with a tool of this name could be called in its place.
        let has_it = |other: &str| identities.contains(&format!("{other}.{tool}"));
        let asked = reaches.iter().filter(|(other, _)| whole() || has_it(other));
        place.write("glyphoxa.yaml", config(&asked.copied().collect::<Vec<_>>(), &brain));
        let called = place.run(&["tools", "call", &identity, &arguments.to_string(), "--json"]);
        let line = called.ends_with(0).line();
        assert_eq!(text(&line, "tool"), identity);
        let result = line["result"].to_string();
        assert!(result.contains(answer), "{identity}: {line:#}");
        if *name == "everything" {
            for nobodys in [SECRET.0, SECRET.1, "RUST_LOG", "MARK"] {
                assert!(!result.contains(nobodys), "{nobodys}: {line:#}");
            }
        }
    }
}

const fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// A model that calls the tool named last in what it is asked, then says so.
fn calls_what_it_is_told(request: &Recorded) -> Script {
    let last = request.json["messages"].as_array().unwrap().last().unwrap().clone();
    if last["role"] == "tool" {
        return Script::text(&["So", " be", " it", "."]);
    }
    let tool = last["content"].as_str().unwrap().trim_end_matches('.').rsplit(' ').next().unwrap();
    // Little more than is read at most, so that a busy machine has it within the ceiling of a turn.
    let arguments = if tool == "huge" { r#"{"megabytes": 9}"# } else { "{}" };
    Script::calls(&[("c1", tool, arguments)])
}

/// Result of the model's last call, as it reads it.
fn told(brain: &ChatServer) -> String {
    let request = brain.requests().pop().unwrap();
    assert_eq!(request.refused, None);
    let last = request.json["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["role"], "tool", "{last:#}");
    last["content"].as_str().unwrap().to_owned()
}

#[test]
fn turns_go_on_whatever_a_server_does() {
    play_faults();
}

#[test]
fn turns_go_on_whatever_a_server_does_in_time() {
    for (tool, took) in play_faults() {
        assert!(took < 4_500.0, "{tool}: {took} ms, over the ceiling of 4 s");
    }
}

/// Plays a turn with each fault; the tools with the milliseconds of their calls, none without the server.
#[track_caller]
fn play_faults() -> Vec<(&'static str, f64)> {
    let Some(faults) = faults() else { return Vec::new() };
    let brain = ChatServer::start();
    brain.otherwise(calls_what_it_is_told);
    let place = place().env("RUST_LOG", "glyphoxa=debug");
    // Their effects are declared here, so that no approval is asked for.
    let tools = ["refuse", "garbage", "slow", "huge", "change", "extra", "crash", "echo"];
    let known = tools.map(|tool| format!("{tool}: {{ effects: none }}")).join(", ");
    let faults = format!("{faults}, tools: {{ {known} }}");
    place.write("glyphoxa.yaml", config(&[("faults", &faults)], &brain));
    let mut live = place.start(&["ask", "--json", "--tier", "deep"]);
    live.says("server ready");
    // Tool that the model calls; result that it is given; entry in the log.
    let cases = [
        ("refuse", "the door is stuck", "kind=\"tool_error\""),
        ("garbage", "after the noise", "ok=true"),
        ("slow", "timed out", "kind=\"timeout\""),
        ("huge", "an answer of 9 MiB (at most 8 are read)", "kind=\"protocol\""),
        ("change", "changed", "ok=true"),
        ("extra", "extra is here", "ok=true"),
        ("crash", "'faults' has ended", "kind=\"connection\""),
        ("echo", "message", "kind=\"invalid_arguments\""),
    ];
    let mut calls = Vec::new();
    for (tool, told_model, logged) in cases {
        live.types(&format!("Bartok, {tool}"));
        let call = format!("npc=\"Bartok\" tool=\"faults.{tool}\"");
        let mut parts = vec![call.as_str(), "\"turn\":"];
        match tool {
            "change" => parts.push("tools have changed"),
            "crash" => parts.extend(["server failed", "server ready"]),
            _ => {}
        }
        let said = live.says_all(&parts);
        assert!(said[0].contains(logged), "{tool}: {}", said[0]);
        let line = turn_about(&said[1], tool);
        assert_eq!((&line["outcome"], &line["reply"]), (&json!("spoken"), &json!("So be it.")));
        calls.push((tool, line["tools"][0]["ms"].as_f64().unwrap()));
        let told = told(&brain);
        assert!(told.contains(told_model), "{tool}: {told}");
    }
    assert_eq!(live.leave(), 0);
    calls
}

/// The line of a turn that called `tool`.
#[track_caller]
fn turn_about(line: &str, tool: &str) -> Value {
    let line: Value = serde_json::from_str(line).unwrap();
    let identity = format!("faults.{tool}");
    assert_eq!(line["tools"][0]["tool"], identity, "{line:#}");
    assert_eq!(line["tools"].as_array().unwrap().len(), 1, "{line:#}");
    line
}

#[test]
fn servers_behind_wrappers_end_with_the_program() {
    let Some(folder) = installed("npm-servers") else { return };
    let place = place();
    let npx = format!(
        "command: \"npx --offline --prefix '{}' mcp-server-everything stdio\"",
        folder.display()
    );
    let mut servers = vec![("wrapped", npx)];
    servers.extend(faults().map(|faults| ("faults", faults)));
    let servers: Vec<_> = servers.iter().map(|(name, reach)| (*name, reach.as_str())).collect();
    let brain = ChatServer::start();
    place.write("glyphoxa.yaml", config(&servers, &brain));
    let live = place.start(&["ask", "--json"]);
    for _ in &servers {
        live.says("server ready");
    }
    let children = descendants(&live.id().to_string());
    let is_a = |what: &str| children.iter().any(|(_, command)| command.contains(what));
    assert!(is_a("npm") || is_a("npx"), "{children:#?}");
    assert!(is_a("mcp-server-everything"), "{children:#?}");
    live.kill();
    let pids: Vec<&str> = children.iter().map(|(pid, _)| pid.as_str()).collect();
    all_end(&pids, &format!("{children:?}"));
}

/// A line beside these servers, for which the program would wait ten minutes: the time until its answer,
/// and until the end.
#[track_caller]
fn answered_beside(servers: &[(&str, &str)]) -> (Duration, Duration) {
    let (place, brain) = (place(), ChatServer::start());
    let config = config(servers, &brain);
    place.write("glyphoxa.yaml", config.replace("timeout_ms: 90000", "timeout_ms: 600000"));
    let started = Instant::now();
    let mut live = place.start(&["ask", "--json"]);
    live.types("Bartok, hello");
    let line = live.says("\"turn\":");
    let answered = started.elapsed();
    assert!(line.contains("\"reply\":\"Aye.\""), "{line}");
    assert_eq!(live.leave(), 0);
    (answered, started.elapsed())
}

/// The address of a server that says nothing: the kernel takes connections that it never accepts.
fn silent_server() -> (TcpListener, String) {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("url: \"http://{}/mcp\"", silent.local_addr().unwrap());
    (silent, url)
}

#[test]
fn unresponsive_servers_do_not_delay_answers() {
    // The helpers wait for much less than ten minutes.
    let (_silent, url) = silent_server();
    answered_beside(&[("silent", &url), ("mute", &url)]);
}

#[test]
fn unresponsive_servers_are_passed_in_time() {
    let (_silent, url) = silent_server();
    let alone = answered_beside(&[]);
    let beside = answered_beside(&[("silent", &url), ("mute", &url)]);
    let patience = Duration::from_secs(2);
    assert!(beside.0 < alone.0 + patience, "answered after {beside:?} instead of {alone:?}");
    assert!(beside.1 < alone.1 + patience, "ended after {beside:?} instead of {alone:?}");
}
