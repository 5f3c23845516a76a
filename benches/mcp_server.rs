//! Our MCP server: calls of tools of `glyphoxa serve` against a call of a bare `rmcp` server. One JSON line
//! per tool, then one that says which goals hold.
//!
//! Each server is a process of its own, and answers on loopback without a session; the bare one is that of
//! `mcp`, with one tool that gives its text back, on a runtime like the program's. Clients call them in
//! turns; `added_…` is the difference: connections and heads checked, the token looked up, rights, schemas,
//! the tool itself. Tokens take turns too, since each may make 50 requests a second; both servers have a
//! client for each token. `--quick` calls less.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench of failing calls is none")]

#[path = "support/mod.rs"]
#[expect(dead_code, reason = "each bench needs a part of it")]
mod support;

use std::{
    env, fs,
    io::{self, BufRead, BufReader},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};
use support::{
    echo::{self, Bare},
    figures::{Figures, goal, ms, rounded, runtime},
    process::PROGRAM,
};
use tempfile::TempDir;

/// Argument that makes this bench the bare server.
const SERVE: &str = "serve-bare";
/// Calls before those that count, if as many count.
const WARM_UP: usize = 200;
/// Longest wait until a server listens.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pause between two looks whether it does.
const LOOK: Duration = Duration::from_millis(5);
/// Configuration of the table.
const CONFIG: &str = "npcs: [{ name: Bartok, lines: [{ say: Well met. }] }]\n";

fn main() {
    if env::args().any(|argument| argument == SERVE) {
        return serve_bare();
    }
    let quick = env::args().any(|argument| argument == "--quick");
    // Fails only if a provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (calls, tokens) = if quick { (50, 8) } else { (5_000, 40) };
    let (_bare, bare) = start_bare();
    let served = Served::start(tokens);
    let [bare, roll, list] = runtime().block_on(compare(calls, &bare, &served));
    let mut goals = Vec::new();
    for (tool, times) in [("dice.roll", roll), ("npc.list", list)] {
        let added = times.at(50) - bare.at(50);
        let mut line = json!({ "case": tool, "n": times.n() });
        bare.add_to(&mut line, "bare_");
        times.add_to(&mut line, "served_");
        line["added_p50_ms"] = rounded(added);
        println!("{line}");
        goals.push(goal(&format!("added to a call of {tool} in ms, p50"), added, 0.2));
    }
    println!("{}", json!({ "goals": goals }));
}

/// Serves the bare server until the input ends.
fn serve_bare() {
    let (listener, url) = echo::bound();
    let runtime = runtime();
    runtime.spawn(echo::accept(listener));
    println!("{url}");
    io::copy(&mut io::stdin(), &mut io::sink()).expect("an input");
}

/// A server in a process of its own, which ends when this is dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// This bench as the bare server, and its address.
fn start_bare() -> (Process, String) {
    let mut command = Command::new(env::current_exe().expect("this bench"));
    command.arg(SERVE).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = Process(command.spawn().expect("it starts"));
    let mut line = String::new();
    let stdout = server.0.stdout.take().expect("piped");
    BufReader::new(stdout).read_line(&mut line).expect("its address");
    (server, line.trim().to_owned())
}

/// `glyphoxa serve`, and secrets of tokens that it knows.
struct Served {
    url: String,
    tokens: Vec<String>,
    _program: Process,
    _folder: TempDir,
}

impl Served {
    /// Starts it, with this number of tokens.
    fn start(tokens: usize) -> Self {
        let folder = TempDir::new().expect("a folder");
        fs::write(folder.path().join("glyphoxa.yaml"), CONFIG).expect("it is written");
        let tokens = (0..tokens).map(|_| new_token(folder.path())).collect();
        let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
        let address = free.expect("a free port").to_string();
        let mut command = Command::new(PROGRAM);
        command.args(["serve", "--listen", &address]).current_dir(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let program = Process(command.spawn().expect("the program starts"));
        let until = Instant::now() + PATIENCE;
        while TcpStream::connect(&address).is_err() {
            assert!(Instant::now() < until, "no server listens at {address}");
            thread::park_timeout(LOOK);
        }
        let url = format!("http://{address}/mcp");
        Self { url, tokens, _program: program, _folder: folder }
    }
}

/// Secret of a new token of a player.
fn new_token(folder: &Path) -> String {
    let mut command = Command::new(PROGRAM);
    command.args(["token", "create", "--role", "player", "--local"]).current_dir(folder);
    let made = command.output().expect("the program runs");
    assert!(made.status.success(), "{made:?}");
    String::from_utf8(made.stdout).expect("text").trim().to_owned()
}

/// Calls of the bare server, of `dice.roll` and of `npc.list`: in turns, so that all meet the same machine,
/// and with one of the bare server before each of ours, so that each call meets an idle process.
async fn compare(n: usize, bare: &str, served: &Served) -> [Figures; 3] {
    let mut clients = Vec::new();
    for token in &served.tokens {
        let served = Bare::with_token(&served.url, token).await;
        clients.push((Bare::over_http(bare).await, served));
    }
    let dice: Map<String, Value> = [("dice".to_owned(), "1d20".into())].into_iter().collect();
    let mut times = [const { Vec::new() }; 3];
    let warm_up = n.min(WARM_UP);
    for (nth, (bare, served)) in clients.iter().cycle().take(n + warm_up).enumerate() {
        let before = Instant::now();
        bare.call().await;
        let called = Instant::now();
        served.call_tool("dice.roll", dice.clone()).await;
        let rolled = Instant::now();
        bare.call().await;
        let called_again = Instant::now();
        served.call_tool("npc.list", Map::new()).await;
        let listed = called_again.elapsed();
        let spans =
            [(0, called - before), (1, rolled - called), (0, called_again - rolled), (2, listed)];
        if nth >= warm_up {
            for (case, span) in spans {
                times[case].push(ms(span));
            }
        }
    }
    times.map(Figures::new)
}
