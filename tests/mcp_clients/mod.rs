//! Programs outside that call Glyphoxa's MCP server: the protocol's own clients in Python and TypeScript, its
//! Inspector's command line, its conformance suite, and a second Glyphoxa; all through `glyphoxa serve`.
//!
//! `./dev test` installs them into `target/third-party`. A test whose client is missing says so, even where the
//! output of tests is hidden, and passes.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    support::{
        chat_server::ChatServer,
        program::{Live, Place, repository},
        skipped::skipped,
    },
    third_party::{free_port, installed},
};

mod caller;
mod conformance;
mod figures;
mod host;
mod inspector;
mod sdks;

/// Tools that a game master's token lists, at least.
const TOOLS: [&str; 16] = [
    "dice.roll",
    "entity.get",
    "memory.search",
    "npc.ask",
    "npc.list",
    "schedule.cancel",
    "schedule.create",
    "schedule.list",
    "session.recap",
    "session.status",
    "session.transcript",
    "system.health",
    "voice.listen",
    "voice.speak",
    "workflow.list",
    "workflow.run",
];
/// A workflow that needs no answer from outside.
const LUCK: &str = "
name: luck
description: Throws the dice twice.
steps:
  - name: first
    roll: 1d6
  - name: second
    roll: 1d6
";
/// Arguments of `dice.roll`.
const ROLL: &str = r#"{ "dice": "2d6+3" }"#;
/// A secret of no token.
const WRONG: &str = "glx_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// `glyphoxa serve` with Bartok at its table.
struct Served {
    place: Place,
    /// Port of its listener on 127.0.0.1.
    port: u16,
    program: Live,
    /// Where Bartok thinks.
    _brain: ChatServer,
}

impl Served {
    /// A table whose NPC speaks with flite.
    fn start() -> Self {
        Self::with("", "{ provider: flite, voice_id: rms }")
    }

    /// A table with more `providers`, whose NPC has this voice.
    fn with(providers: &str, voice: &str) -> Self {
        let (brain, port) = (ChatServer::start(), free_port());
        let place = Place::with_config(&format!(
            "web: {{ listen: \"127.0.0.1:{port}\", mcp: {{ listen: true }} }}\n\
             providers:\n  llm: {{ name: openai, base_url: \"{}\", model: m }}\n{providers}\
             npcs:\n  - {{ name: Bartok, personality: Gruff, voice: {voice} }}\n",
            brain.base_url()
        ));
        let place = place.brief();
        place.write("workflows/luck.yaml", LUCK);
        let program = place.start(&["serve"]);
        program.says(&format!("127.0.0.1:{port}"));
        Self { place, port, program, _brain: brain }
    }

    /// Address of its MCP server.
    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Secret of a new token.
    #[track_caller]
    fn token(&self, role: &str) -> String {
        let made = self.place.run(&["token", "create", "--role", role, "--local"]).ends_with(0);
        made.stdout.trim().to_owned()
    }

    /// Ends it as a system does; neither a secret nor what was spoken may be in what it said.
    #[track_caller]
    fn ends_in_order(self, token: &str) {
        let said = self.program.said();
        let told = |what: &str| said.iter().any(|line| line.contains(what));
        assert!(!told(token) && !told("The bridge is out"), "{said:#?}");
        assert_eq!(self.program.terminate(), 0);
    }
}

/// A script beside this file.
fn script(name: &str) -> PathBuf {
    repository("tests/mcp_clients").join(name)
}

/// The Node.js that was installed with the conformance suite, newer than a system's; reports when it does not
/// run here.
fn node_of_suite() -> Option<PathBuf> {
    let node = installed("conformance")?.join("node_modules/.bin/node");
    if Command::new(&node).arg("--version").output().is_ok_and(|it| it.status.success()) {
        return Some(node);
    }
    skipped("tests with conformance", "the Node.js of npm's package node does not run here");
    None
}

/// `script` of a Node.js.
fn run_by(node: &Path, script: &Path) -> Command {
    let mut command = Command::new(node);
    command.arg(script).env("NO_PROXY", "127.0.0.1");
    command
}

/// True if an answer has the total of a rolled 2d6+3.
fn has_roll(structured: &Value) -> bool {
    structured["total"].as_i64().is_some_and(|total| (5..=15).contains(&total))
}
