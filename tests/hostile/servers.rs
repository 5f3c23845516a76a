//! MCP servers that flood, over both transports, through the real program: something else is answered
//! meanwhile, memory stays below a bound, and the reason is shown.
//!
//! A limit above the transports is tried over one of them, as [`FLOODS`] and [`ENDLESS`] say; the tests in
//! real time, which are for `./dev proof`, try everything over both.

use std::{
    fs,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use self::Transport::{Http, Pipes};
use crate::support::{
    program::{Live, Place, has_late_call, port_of, repository},
    skipped::skipped,
};

/// Most memory the program has ever had, whatever a server did, in MiB; it has some 40 without one.
const MEMORY: u64 = 300;
/// Most memory that it still has when the attack goes on or is over, in MiB.
const KEPT: u64 = 120;
/// Longest answer of a good server while a bad one does its worst. Alone it takes some milliseconds;
/// the tests share the machine with the attackers, which keep it busy.
pub const ANSWER: Duration = Duration::from_secs(2);
/// Longest time until the state of every server is known.
const SETTLED: Duration = Duration::from_secs(60);
/// Longest wait for anything.
const BOUND: Duration = Duration::from_secs(120);
/// A turn that takes longer may have had no time left to call a tool.
const LATE: Duration = Duration::from_secs(2);
/// Log filter with every failure of a server, not just its first.
const LOG: &str = "warn,glyphoxa=info,glyphoxa::tools::connection::server=debug";

/// A way to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    /// A child process.
    Pipes,
    /// An address.
    Http,
}

/// Every transport.
const BOTH: &[Transport] = &[Pipes, Http];

/// Floods, each with the transports that handle it differently; the rest is shared code.
const FLOODS: [(&str, &[Transport]); 5] = [
    ("pings", BOTH),
    ("forms", &[Pipes]),
    ("storm", &[Http]),
    ("logs", &[Pipes]),
    ("progress", &[Http]),
];

/// Lists and messages without end. Pages and tools are counted above the transports, bytes and values by each;
/// `plain` is a body over HTTP, and `values` again in a pipe.
const ENDLESS: [(&str, &[Transport]); 6] = [
    ("pages", &[Http]),
    ("crowd", &[Pipes]),
    ("values", BOTH),
    ("plain", &[Http]),
    ("long", BOTH),
    ("endless", BOTH),
];

/// Reason that is shown for one of [`ENDLESS`].
fn reason(attack: &str, transport: Transport) -> &'static str {
    match (attack, transport) {
        ("pages", _) => "it did not give its tools: the list has more than 50 pages",
        ("crowd", _) => "it did not give its tools: the list has more than 2000",
        ("values" | "plain", _) => "more than 500000 values",
        ("long", Pipes) => "12 MiB (at most 8 are read)",
        ("long", Http) => "its answer is larger than 8 MiB",
        (_, Http) => "the server sent an answer of more than 8 MiB",
        (_, Pipes) => "it did not give its tools within",
    }
}

/// True if there is an interpreter; says so when there is none.
pub fn has_python() -> bool {
    let there = Command::new("python3").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !there {
        skipped("tests with MCP servers", "there is no python3");
    }
    there
}

/// The line of a server in the configuration, and the process behind it where it is reached by HTTP.
pub struct Attacker {
    pub line: String,
    child: Option<Child>,
}

impl Attacker {
    /// A child process of the program.
    pub fn stdio(attack: &str, more: &str) -> Self {
        let script = repository("tests/support/mcp/hostile.py");
        let line = format!(
            "name: bad, sandbox: off, command: \"python3 '{}' {attack}\"{more}",
            script.display()
        );
        Self { line, child: None }
    }

    fn http(attack: &str, flooded: &str) -> Self {
        let mut child = Command::new("python3")
            .arg(repository("tests/support/mcp/hostile.py"))
            .args(["http", attack])
            .env("FLOODED", flooded)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let port = port_of(&mut child);
        let line = format!("name: bad, url: \"http://127.0.0.1:{port}/mcp\"");
        Self { line, child: Some(child) }
    }

    /// An attacker that makes the file `flooded` in `notes` when its flood has begun.
    fn over(transport: Transport, attack: &str, notes: &Place) -> Self {
        let flooded = notes.path("flooded").display().to_string();
        match transport {
            Pipes => Self::stdio(attack, &format!(", env: {{ FLOODED: \"{flooded}\" }}")),
            Http => Self::http(attack, &flooded),
        }
    }
}

impl Drop for Attacker {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The attacker beside a server that does no harm, at a table whose NPC may call the latter.
pub fn place(attacker: &Attacker) -> Place {
    let good = repository("tests/support/mcp/server.py");
    let calls = "      - { when: [count], tool: { name: good.count }, say: \"Counted {result}.\" }";
    let place = Place::new();
    place.write(
        "glyphoxa.yaml",
        format!(
            "npcs:\n  - name: Bartok\n    tools: [\"good.*\"]\n    budget_tier: deep\n    \
             policy: {{ max_calls_per_minute: 100000, max_calls_per_session: 100000 }}\n    lines:\n{calls}\n      \
             - say: \"Hm.\"\nmcp:\n  servers:\n    - {{ {} }}\n    - {{ name: good, required: true, sandbox: off, command: \"python3 \
             '{}' plain\", env: {{ CALLS: \"{}\" }}, tools: {{ count: {{ effects: none, \
             open_world: false }} }} }}\n",
            attacker.line,
            good.display(),
            place.path("calls").display()
        ),
    );
    place
}

/// Most memory a running program has had, in MiB.
pub fn peak(live: &Live) -> u64 {
    memory(live, "VmHWM")
}

/// A figure of a running program's memory, in MiB.
fn memory(live: &Live, figure: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/status", live.id())).unwrap();
    let line = text.lines().find(|line| line.starts_with(figure)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() >> 10
}

/// Calls the good server, and measures its answer. A call for which a turn's time did not last, on a busy
/// machine, is made again.
pub fn asked(live: &mut Live) -> Duration {
    let begun = Instant::now();
    loop {
        let typed = Instant::now();
        live.types("Bartok, count");
        let line = live.says("\"outcome\":");
        if line.contains("Counted ") {
            return begun.elapsed();
        }
        let turn: Value = serde_json::from_str(&line).expect("a line of JSON");
        let has_no_call = turn["tools"].as_array().is_none_or(Vec::is_empty);
        let had_no_time = has_no_call && typed.elapsed() > LATE;
        let is_late = has_late_call(&turn) || had_no_time || turn["outcome"] == "timeout";
        assert!(is_late && begun.elapsed() < BOUND, "{turn:#}");
    }
}

/// Calls the good server again and again, until `is_met`.
fn asked_until(live: &mut Live, what: &str, mut is_met: impl FnMut(&Live) -> bool) {
    let begun = Instant::now();
    while !is_met(live) {
        assert!(begun.elapsed() < BOUND, "not after {BOUND:?}: {what}");
        asked(live);
    }
}

/// Durations of `calls` of the good server while `attack` goes on, the shortest first. Memory is bounded
/// meanwhile.
fn answers_beside(attack: &str, transport: Transport, calls: usize) -> Vec<Duration> {
    let notes = Place::new();
    let attacker = Attacker::over(transport, attack, &notes);
    let place = place(&attacker).env("RUST_LOG", LOG);
    let mut live = place.start(&["ask", "--json", "--tier", "deep"]);
    let ready = "server ready server=\"good\"";
    if FLOODS.iter().any(|(flood, _)| *flood == attack) {
        live.says(ready);
        // Over HTTP a flood may overtake the list of tools, so the attacker is not always ready.
        asked_until(&mut live, "the flood has begun", |_| notes.path("flooded").exists());
    } else {
        live.says_all(&[ready, reason(attack, transport)]);
    }
    let mut took: Vec<Duration> = (0..calls).map(|_| asked(&mut live)).collect();
    took.sort();
    // Several times in a row; an attacker that is connected again in between takes some once more.
    let what = format!("{attack} over {transport:?}: less than {KEPT} MiB are kept");
    let mut times = 0;
    asked_until(&mut live, &what, |live| {
        times = if memory(live, "VmRSS") < KEPT { times + 1 } else { 0 };
        times > 3
    });
    let peak = peak(&live);
    eprintln!("{attack} over {transport:?}: answers in {took:?}; at most {peak} MiB");
    assert!(peak < MEMORY, "{attack} over {transport:?}: {peak} MiB");
    live.leave();
    took
}

/// Like [`answers_beside`] over both transports, with answers in time.
fn answers_in_time(attack: &str, calls: usize) {
    for transport in BOTH {
        let took = answers_beside(attack, *transport, calls);
        assert!(took.iter().all(|it| *it < ANSWER), "{attack} over {transport:?}: {took:?}");
    }
}

/// Status of `bad` and of `good`.
fn stand(place: &Place) -> (Value, Value) {
    let ran = place.run(&["mcp", "servers", "--json", "--wait", "100"]);
    let lines = ran.lines();
    let of = |name: &str| lines.iter().find(|line| line["name"] == name).unwrap().clone();
    (of("bad"), of("good"))
}

#[test]
fn message_floods_stay_within_memory() {
    if !has_python() {
        return;
    }
    for (attack, transports) in FLOODS {
        for transport in transports {
            answers_beside(attack, *transport, 5);
        }
    }
}

#[test]
fn message_floods_are_answered_in_time() {
    if !has_python() {
        return;
    }
    for (attack, _) in FLOODS {
        answers_in_time(attack, 20);
    }
}

#[test]
fn server_that_ignores_answers_is_dropped() {
    if !has_python() {
        return;
    }
    let attacker = Attacker::stdio("pings", ", auto_reconnect: false");
    let place = place(&attacker);
    let mut live = place.start(&["ask", "--json", "--tier", "deep"]);
    let said = live.says("will not be retried");
    assert!(said.contains("it sent 17 requests at once"), "{said}");
    asked(&mut live);
    live.leave();
}

/// The state of both servers beside `attack`, with the reason; how long it took to know them.
fn refused(attack: &str, transport: Transport) -> Duration {
    let notes = Place::new();
    let attacker = Attacker::over(transport, attack, &notes);
    let place = place(&attacker);
    let begun = Instant::now();
    let (bad, good) = stand(&place);
    let took = begun.elapsed();
    let told = bad["reason"].as_str().unwrap_or_default();
    eprintln!("{attack} over {transport:?}: {took:?}, {told}");
    assert!(told.contains(reason(attack, transport)), "{attack} over {transport:?}: {bad:#}");
    assert_eq!(good["state"], "ready", "{good:#}");
    took
}

/// The other attacks: [`endless_input_leaves_memory_bounded`] reads their reasons in the log.
#[test]
fn endless_lists_and_messages_are_refused() {
    if has_python() {
        refused("pages", Pipes);
    }
}

#[test]
fn endless_lists_are_refused_in_time() {
    if !has_python() {
        return;
    }
    for (attack, _) in ENDLESS {
        for transport in BOTH {
            let took = refused(attack, *transport);
            assert!(took < SETTLED, "{attack} over {transport:?}: {took:?}");
        }
    }
}

#[test]
fn endless_input_leaves_memory_bounded() {
    if !has_python() {
        return;
    }
    for (attack, transports) in ENDLESS {
        for transport in transports {
            answers_beside(attack, *transport, 1);
        }
    }
}

#[test]
fn endless_input_is_answered_in_time() {
    if !has_python() {
        return;
    }
    for (attack, _) in ENDLESS {
        answers_in_time(attack, 5);
    }
}

/// A table with a server that lists other tools each time, after more tools have waited `times` times.
fn renamed(times: usize) -> (Place, Live) {
    let place = place(&Attacker::stdio("renames", ""));
    let live = place.start(&["ask", "--json", "--tier", "deep"]);
    live.says_all(&["server ready server=\"good\"", "server ready server=\"bad\""]);
    // Once there is no room for more, more and more wait for a person.
    for _ in 0..times {
        let said = live.says("new or changed tools wait for approval");
        assert!(said.len() < 10_000, "{} bytes are logged at once", said.len());
        assert!(said.contains("of this server are stored already"), "{said}");
    }
    (place, live)
}

#[test]
fn ever_changing_tools_are_stored_up_to_a_limit() {
    if !has_python() {
        return;
    }
    let (place, mut live) = renamed(2);
    asked(&mut live);
    let file = fs::metadata(place.path("data/mcp-pinned.json")).unwrap().len();
    let peak = peak(&live);
    eprintln!("renames: {file} bytes are kept, at most {peak} MiB");
    assert!(file < 5 << 20, "{file} bytes");
    assert!(peak < MEMORY, "{peak} MiB");
    live.leave();
    let (bad, good) = stand(&place);
    let kept = &bad["kept"];
    let most = kept["pinned_bytes_most"].as_u64().unwrap();
    assert_eq!((kept["pinned_most"].as_u64(), most), (Some(4_000), 4 << 20), "{kept:#}");
    assert!(kept["pinned_bytes"].as_u64().unwrap() <= most, "{kept:#}");
    assert!(good["kept"]["pinned"].as_u64() >= Some(10), "{good:#}");
}

#[test]
fn changing_tools_are_answered_in_time() {
    if !has_python() {
        return;
    }
    let (_place, mut live) = renamed(3);
    let took = asked(&mut live);
    assert!(took < ANSWER, "{took:?}");
    live.leave();
}

#[test]
fn names_cannot_act_on_a_terminal() {
    if !has_python() {
        return;
    }
    let attacker = Attacker::stdio("names", ", prefix: odd");
    let place = place(&attacker).env("RUST_LOG", "glyphoxa=debug");
    let ran = place.run(&["mcp", "servers"]).ends_with(0);
    let list = place.run(&["tools", "list"]).ends_with(0);
    for text in [&ran.stdout, &ran.stderr, &list.stdout, &list.stderr] {
        let acts = text
            .chars()
            .find(|c| (c.is_control() && *c != '\n') || "\u{202e}\u{2066}\u{200b}".contains(*c));
        assert_eq!(acts, None, "{text}");
    }
    let shown = &ran.stdout;
    assert!(shown.contains("calls itself 'nice[31m server 6.6'"), "{shown}");
    assert!(shown.contains("its tools begin with 'odd.'"), "{shown}");
    assert!(shown.contains("odd.abc: the server lists it twice"), "{shown}");
    assert!(shown.contains("keeps 4 of 2000 tools in 1 of 8192 KiB"), "{shown}");
    // It is still called by the name it goes by on the wire.
    let called = place.run(&["tools", "call", "odd.a[2Jbc", "{}", "--json"]).ends_with(0);
    assert!(called.stdout.contains("echo"), "{called:?}");
}

#[test]
fn debug_messages_are_logged_without_secrets() {
    if !has_python() {
        return;
    }
    let script = repository("tests/support/mcp/server.py");
    let config = |debug: bool| {
        format!(
            "npcs: [{{ name: Bartok, lines: [{{ say: Hm. }}] }}]\nmcp:\n  servers:\n    - {{ name: home, \
             command: \"python3 '{}' plain\", debug: {debug}, env: {{ API_TOKEN: open-sesame-4711 }}, tools: {{ echo: {{ \
             max_duration_ms: 60000 }} }} }}\n",
            script.display()
        )
    };
    let call = [
        "tools",
        "call",
        "home.echo",
        r#"{"text": "it is open-sesame-4711", "password": "hush-hush"}"#,
    ];
    let place = Place::with_config(&config(true)).env("RUST_LOG", "info");
    let said = place.run(&call).ends_with(0).stderr;
    for part in ["to the server", "from the server", "tools/call", "it is <secret>"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for secret in ["open-sesame-4711", "hush-hush"] {
        assert!(!said.contains(secret), "{secret}: {said}");
    }
    let environment = place.run(&["tools", "call", "home.environment", "{}"]).stderr;
    assert!(!environment.contains("open-sesame-4711"), "{environment}");
    place.write("glyphoxa.yaml", config(false));
    let said = place.run(&call).ends_with(0).stderr;
    assert!(!said.contains("tools/call"), "{said}");
}

#[test]
fn doctor_shows_server_state_without_keys() {
    if !has_python() {
        return;
    }
    let good = repository("tests/support/mcp/server.py");
    let place = Place::with_config(&format!(
        "npcs: [{{ name: Bartok, lines: [{{ say: Hm. }}] }}]\nmcp:\n  servers:\n    \
         - {{ name: home, command: \"python3 '{}' plain\" }}\n    \
         - {{ name: away, url: \"http://127.0.0.1:1/token/abcdefghijk/mcp?key=k3y-of-mine\", \
         auth: {{ token: b3arer-of-mine }}, headers: {{ X-Way: w4y-of-mine }} }}\n",
        good.display()
    ));
    let ran = place.run(&["doctor", "--json"]);
    let lines = ran.lines();
    let servers: Vec<&Value> = lines.iter().filter(|it| it["what"] == "tool server").collect();
    assert_eq!(servers.len(), 2, "{ran:#?}");
    let (away, home) = (servers[0], servers[1]);
    assert_eq!((&away["ok"], &home["ok"]), (&json!(false), &json!(true)));
    let told = |it: &Value| it["detail"].as_str().unwrap_or_default().to_owned();
    assert!(told(away).contains("cannot connect"), "{away}");
    assert!(told(home).contains("ready, 14 tools"), "{home}");
    let shown = [ran.stdout, ran.stderr, place.run(&["mcp", "servers", "--json"]).stdout].concat();
    for secret in ["abcdefghijk", "k3y-of-mine", "b3arer-of-mine", "w4y-of-mine"] {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
}
