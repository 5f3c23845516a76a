//! The command line of the protocol's Inspector.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{ROLL, Served, TOOLS, WRONG, has_roll, node_of_suite, run_by};
use crate::{
    support::program::{Ran, run},
    third_party::installed,
};

/// Exit status of the Inspector without a valid token.
const UNAUTHORISED: i32 = 3;
/// Exit status after a tool's own error.
const TOOL_ERROR: i32 = 5;

/// The Inspector at a server.
struct Inspector {
    folder: PathBuf,
    node: PathBuf,
    served: Served,
}

impl Inspector {
    fn start() -> Option<Self> {
        let (folder, node) = (installed("mcp-inspector")?, node_of_suite()?);
        Some(Self { folder, node, served: Served::start() })
    }

    /// Runs it once with a token.
    fn run(&self, token: &str, arguments: &[&str]) -> Ran {
        let package = self.folder.join("node_modules/@modelcontextprotocol/inspector");
        let mut command = run_by(&self.node, &package.join("clients/launcher/build/index.js"));
        // Its files are deleted with the folder.
        command.env("HOME", self.served.place.path(""));
        command.args(["--cli", "--transport", "http", "--server-url", &self.served.url()]);
        command.args(["--header", &format!("Authorization: Bearer {token}"), "--stored-auth-only"]);
        command.args(["--format", "json", "--quiet"]).args(arguments);
        run(command, "")
    }
}

/// The result that it printed.
#[track_caller]
fn result(ran: Ran) -> Value {
    ran.ends_with(0).line()["result"].clone()
}

#[test]
fn inspector_lists_and_calls_in_both_eras() {
    let Some(inspector) = Inspector::start() else { return };
    let token = inspector.served.token("dm");
    for era in ["legacy", "modern"] {
        let era = ["--protocol-era", era];
        // Strict: a schema that a model could not take is an error.
        let list = [&era[..], &["--method", "tools/list", "--strict"]].concat();
        let listed = result(inspector.run(&token, &list));
        let names = listed["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]);
        let names: Vec<&Value> = names.collect();
        for tool in TOOLS {
            assert!(names.contains(&&json!(tool)), "no {tool}: {names:?}");
        }
        let call = ["--method", "tools/call", "--tool-name", "dice.roll", "--tool-args-json"];
        let rolled = result(inspector.run(&token, &[&era[..], &call, &[ROLL]].concat()));
        assert!(has_roll(&rolled["structuredContent"]), "{rolled:#}");
    }
    inspector.served.ends_in_order(&token);
}

#[test]
fn inspector_is_refused_with_the_reason() {
    let Some(inspector) = Inspector::start() else { return };
    inspector.run(WRONG, &["--method", "tools/list"]).ends_with(UNAUTHORISED);
    let token = inspector.served.token("player");
    let ask = ["--method", "tools/call", "--tool-name", "npc.ask", "--tool-args-json"];
    let nobody = [&ask[..], &[r#"{"npc": "Nobody", "text": "Hello?"}"#]].concat();
    let refused = inspector.run(&token, &nobody).ends_with(TOOL_ERROR);
    assert!(refused.stdout.contains("'Nobody'"), "{refused:#?}");
}
