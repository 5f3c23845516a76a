//! MCP servers: a call through the tool host against the same call through bare `rmcp`, and what
//! servers cost when the program starts. One JSON line per case, then one that says which goals
//! hold.
//!
//! The server is this bench itself: it has one tool that gives its text back. `stdio` and `http`
//! call it in turns through the host, as a model would, and through an `rmcp` client of its own;
//! `added_…` is the difference. `start` runs the program until its first spoken answer: without
//! servers, with eight, and with ten of which two take a connection and never answer. `--quick`
//! runs less of each.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench of failing calls is none")]

#[path = "support/mod.rs"]
#[expect(dead_code, reason = "each bench needs a part of it")]
mod support;

use std::{
    collections::BTreeMap,
    env, fs,
    net::TcpListener,
    sync::Arc,
    time::{Duration, Instant},
};

use glyphoxa::measure::{
    Auth, Authority, CallContext, CallId, Caller, Declared, Facts, Progress, Reach, Sandbox,
    ServerOptions, Servers, SessionId, Setup, Taint, Tier, ToolCall, ToolHost, Trust, TurnId,
};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::{Map, Value, json};
use support::{
    echo::{self, Bare, TEXT},
    figures::{Figures, goal, ms, rounded, runtime},
    process::Started,
    stand_ins::Nothing,
    table::npc,
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Calls before those that count, if as many count.
const WARM_UP: usize = 200;
/// Longest wait for a server, and for one call.
const PATIENCE: Duration = Duration::from_secs(30);

fn main() {
    if env::args().any(|argument| argument == echo::SERVE) {
        return runtime().block_on(echo::serve_stdio());
    }
    let quick = env::args().any(|argument| argument == "--quick");
    // Fails only if a provider is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let n = if quick { 50 } else { 5_000 };
    let runtime = runtime();
    let stdio = runtime.block_on(over_stdio(n));
    println!("{}", stdio.line("stdio"));
    let http = runtime.block_on(over_http(n));
    println!("{}", http.line("http"));
    drop(runtime);
    let starts = starts(if quick { 1 } else { 30 });
    for (case, times) in ["start_alone", "start_eight", "start_ten"].iter().zip(&starts) {
        println!("{}", times.line(case));
    }
    let [_, eight, ten] = starts;
    println!(
        "{}",
        json!({ "goals": [
            goal("added to a stdio call in ms, p50", stdio.added(), 0.1),
            goal("two silent servers at start in ms, p50", ten.at(50) - eight.at(50), 10.0),
        ] })
    );
}

/// Times of equal calls, through the host and without it.
struct Compared {
    /// Bare rmcp.
    bare: Figures,
    /// Through the host.
    host: Figures,
}

impl Compared {
    /// Overhead of the host at p50, in ms.
    fn added(&self) -> f64 {
        self.host.at(50) - self.bare.at(50)
    }

    /// Both ways as a line.
    fn line(&self, case: &str) -> Value {
        let mut line = json!({ "case": case, "n": self.host.n() });
        self.bare.add_to(&mut line, "bare_");
        self.host.add_to(&mut line, "host_");
        line["added_p50_ms"] = rounded(self.added());
        line
    }
}

/// Over a child's pipes.
async fn over_stdio(n: usize) -> Compared {
    let bench = env::current_exe().expect("this bench").to_string_lossy().into_owned();
    let command = vec![bench, echo::SERVE.to_owned()];
    let bare = Bare::over_stdio(&command).await;
    compare(
        n,
        bare,
        Reach::Stdio { command, folder: None, env: BTreeMap::new(), sandbox: Sandbox::Off },
    )
    .await
}

/// Over HTTP on loopback.
async fn over_http(n: usize) -> Compared {
    let url = echo::serve_http();
    let bare = Bare::over_http(&url).await;
    compare(
        n,
        bare,
        Reach::Http { url, may_be_inside: true, headers: Vec::new(), auth: Auth::None },
    )
    .await
}

/// Calls in turns, so that both ways meet the same machine.
async fn compare(n: usize, bare: Bare, reach: Reach) -> Compared {
    let folder = TempDir::new().expect("a folder");
    let host = Host::connect(reach, &folder).await;
    let mut times = (Vec::with_capacity(n), Vec::with_capacity(n));
    let warm_up = n.min(WARM_UP);
    for nth in 0..n + warm_up {
        let started = Instant::now();
        bare.call().await;
        let without = ms(started.elapsed());
        let started = Instant::now();
        host.call().await;
        let with = ms(started.elapsed());
        if nth >= warm_up {
            times.0.push(without);
            times.1.push(with);
        }
    }
    host.servers.close().await;
    Compared { bare: Figures::new(times.0), host: Figures::new(times.1) }
}

/// The tool host with one server and one NPC.
struct Host {
    /// Runs the calls.
    host: ToolHost,
    /// Behind it.
    servers: Servers,
    /// Name of the calling NPC.
    npc: Arc<str>,
    /// Tool and arguments.
    call: ToolCall,
}

impl Host {
    /// Connects to one server.
    async fn connect(reach: Reach, folder: &TempDir) -> Self {
        let host = ToolHost::new(StdRng::seed_from_u64(1));
        let mut bartok = npc();
        bartok.tools = vec!["echo.*".to_owned()];
        let bartok = Arc::new(bartok);
        host.catalog().set_cast(&[Arc::clone(&bartok)]);
        let servers = Servers::new(Setup {
            host: host.clone(),
            data_dir: folder.path().to_owned(),
            environment: Vec::new(),
            launcher: support::process::PROGRAM.into(),
            hidden: Vec::new(),
            facts: Arc::new(Facts::new(BTreeMap::new())),
            seed: 1,
        });
        servers.set(vec![options(reach)]);
        servers.required().await.expect("it connects");
        let visible = host.visible(&bartok.name, Tier::Fast, Tier::Fast.ceiling());
        let call = ToolCall {
            id: CallId("call".to_owned()),
            name: visible.specs.first().expect("its tool is fast").name.to_string(),
            arguments: json!({ "text": TEXT }).to_string(),
            extra: Map::new(),
        };
        Self { host, servers, npc: Arc::from(bartok.name.as_str()), call }
    }

    /// One call.
    async fn call(&self) {
        let context = CallContext {
            scope: self.host.scope().clone(),
            session: SessionId("bench".to_owned()),
            turn: TurnId(1),
            authority: Authority::OperatorAs(Caller {
                npc: Arc::clone(&self.npc),
                tier: Tier::Fast,
                offered: self.host.visible(&self.npc, Tier::Fast, Tier::Fast.ceiling()).names(),
                sampler: None,
                payments: None,
            }),
            speaker: Arc::from("Player"),
            by: None,
            deadline: tokio::time::Instant::now() + PATIENCE,
            fresh: false,
            taint: Taint::default(),
            progress: Progress::default(),
            span: Default::default(),
            cancel: CancellationToken::new(),
            effects: Arc::new(Nothing),
        };
        let record = self.host.execute(&context, &self.call).await;
        assert!(record.result.is_ok(), "{record:?}");
    }
}

/// A server that is connected once, plainly.
fn options(reach: Reach) -> ServerOptions {
    let fast = Declared {
        estimated: Some(Duration::from_millis(5)),
        max: Some(Duration::from_secs(4)),
        ..Declared::default()
    };
    ServerOptions {
        name: "echo".to_owned(),
        prefix: None,
        reach,
        required: true,
        connect_timeout: PATIENCE,
        reconnect: None,
        resources: false,
        resource_vars: BTreeMap::new(),
        tools: [("echo".to_owned(), fast)].into(),
        trust: Trust::Auto,
        allow_sampling: false,
        debug: false,
    }
}

/// Times in ms until the first spoken answer: alone, with eight servers, with ten.
fn starts(n: usize) -> [Figures; 3] {
    let silent = [silent(), silent()];
    let bench = env::current_exe().expect("this bench");
    let child =
        |nth| format!("name: good{nth}, command: \"'{}' {}\"", bench.display(), echo::SERVE);
    let good: Vec<String> = (0..8).map(child).collect();
    let bad = silent.iter().enumerate();
    let bad = bad.map(|(nth, (_, url))| format!("name: silent{nth}, url: \"{url}\""));
    let all = good.iter().cloned().chain(bad).collect();
    let places = [Vec::new(), good, all].map(|servers: Vec<String>| place(&servers));
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..n {
        for (place, times) in places.iter().zip(&mut times) {
            times.push(first_word(place));
        }
    }
    times.map(Figures::new)
}

/// A port that takes connections and never answers, and its address.
fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    // The kernel takes connections that the program never accepts.
    (listener, url)
}

/// A folder with these servers, and an NPC that may use the first eight of them.
fn place(servers: &[String]) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let tools: Vec<String> = (0..servers.len().min(8)).map(|nth| format!("good{nth}.*")).collect();
    let servers: Vec<String> = servers.iter().map(|server| format!("{{ {server} }}")).collect();
    let config = format!(
        "npcs: [{{ name: Bartok, tools: {tools:?}, lines: [{{ say: Well met. }}] }}]\n\
         mcp: {{ servers: [{}] }}\n",
        servers.join(", ")
    );
    fs::write(folder.path().join("glyphoxa.yaml"), config).expect("it is written");
    folder
}

/// Time in ms from starting the program to the report of a spoken answer.
fn first_word(place: &TempDir) -> f64 {
    Started::new(place.path(), "Bartok, hello", "\"outcome\":\"spoken\"").end()
}
