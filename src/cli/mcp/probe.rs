//! `glyphoxa mcp probe`: inspects a server.

use std::{
    env, fs,
    io::{self, Write},
    path::PathBuf,
    process,
    time::Duration,
};

use clap::Args;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::{DONE, FAILED, Failure, stdout};
use crate::{
    config::environment,
    tools::connection::{
        Sandbox,
        oauth::{Authority, Client, Proof},
        probe::{Outcome, Planned, Probe, ProbeCall, ProbeReport, Program, Target, probe},
    },
};

pub const LOG_LEVEL: &str = "warn";

/// Protocol revision, as the official conformance suite sets it.
const REVISION: &str = "MCP_CONFORMANCE_PROTOCOL_VERSION";
/// The suite's other variable: calls to make and our client credentials, as JSON.
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";
/// The client metadata document that the suite's authorization servers know.
const SUITE_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";
/// Variables passed to a started server.
const HANDED_ON: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];
/// Names in this folder hidden from it: stored data, and keys.
const HIDDEN: [&str; 3] = ["data", "glyphoxa.yaml", ".env"];
/// Longest line of an answer, in characters.
const SHOWN: usize = 100;

/// Conditions for offering the tools to NPCs.
const UNMEASURED: &str = "\
tools without a declared duration are offered only in standard and deep turns until Glyphoxa has measured them:
read-only tools automatically, shortly after a session begins (to do it now: glyphoxa tools calibrate), others by
calls in such turns, or with a probe in glyphoxa.yaml; to offer them to an NPC, set budget_tier: standard in its file";

#[derive(Args)]
#[command(
    about = "Looks at a server: what it speaks and offers, and what every tool answers",
    long_about = "Looks at a server: what it speaks and offers, and what every tool answers. \
                  Every tool is called, those with side effects too, unless --list is given.",
    after_help = "examples: glyphoxa mcp probe http://127.0.0.1:3000/mcp\n          glyphoxa mcp probe --list -- npx -y @modelcontextprotocol/server-filesystem ."
)]
pub struct Arguments {
    /// Address of an HTTP server.
    #[arg(value_name = "URL", required_unless_present = "command")]
    url: Option<String>,
    /// List the tools without calling any.
    #[arg(long)]
    list: bool,
    /// Revision of the protocol to speak [default: the newest both know].
    #[arg(long, value_name = "DATE", value_parser = ["2025-11-25", "2026-07-28"])]
    protocol: Option<String>,
    /// Address of a client metadata document, for authorization servers that accept one.
    #[arg(long, value_name = "URL")]
    client_metadata_url: Option<String>,
    /// Longest wait for the connection, the list and each call, in seconds.
    #[arg(long, value_name = "S", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,
    /// Give the program your own access, beyond the system, itself, this folder and the folders on its
    /// command line.
    #[arg(long, conflicts_with = "url")]
    unconfined: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Command that starts a server on standard streams.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "url")]
    command: Vec<String>,
}

/// Context from the conformance suite.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Context {
    client_id: Option<String>,
    client_secret: Option<SecretText>,
    private_key_pem: Option<SecretText>,
    issuer: Option<String>,
    #[serde(rename = "toolCalls")]
    tool_calls: Option<Vec<Call>>,
}

/// A text that is not shown.
#[derive(Deserialize)]
struct SecretText(String);

#[derive(Deserialize)]
struct Call {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// Inspects the server and prints the result.
pub async fn run(arguments: &Arguments) -> Result<u8, Failure> {
    let wanted = wanted(arguments)?;
    let found = probe(&wanted).await;
    // Usually absent; the system removes leftovers.
    let _ = fs::remove_dir_all(folder());
    let found = found?;
    let out = &mut stdout();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&found)?)?;
    } else {
        print(&found, out)?;
    }
    let failed = found.calls.iter().any(|call| call.outcome == Outcome::Failed);
    Ok(if failed { FAILED } else { DONE })
}

/// Home folder of a probed program.
fn folder() -> PathBuf {
    env::temp_dir().join(format!("glyphoxa-probe-{}", process::id()))
}

fn wanted(arguments: &Arguments) -> Result<Probe, Failure> {
    let context = match environment(CONTEXT) {
        Some(text) => serde_json::from_str(&text)
            .map_err(|error| Failure::Usage(format!("invalid {CONTEXT}: {error}")))?,
        None => Context::default(),
    };
    let target = match &arguments.url {
        Some(url) => Target::http(url).map_err(Failure::usage)?,
        None => Target::Stdio(Program {
            command: arguments.command.clone(),
            environment: HANDED_ON
                .into_iter()
                .filter_map(|name| Some((name.to_owned(), environment(name)?)))
                .collect(),
            sandbox: match arguments.unconfined {
                true => Sandbox::Off,
                false => Sandbox::Confined { read: Vec::new(), write: Vec::new() },
            },
            folder: folder(),
            hidden: HIDDEN.map(PathBuf::from).to_vec(),
        }),
    };
    let suite = environment(REVISION);
    let document = suite.as_ref().map(|_| SUITE_DOCUMENT.to_owned());
    let secret = |text: SecretText| SecretString::from(text.0);
    let key = context.private_key_pem.map(|pem| Proof::Key(secret(pem)));
    let proof = key.or_else(|| context.client_secret.map(|text| Proof::Secret(secret(text))));
    let authority = context.issuer.as_deref().map(Authority::issuer).transpose();
    let authority = authority
        .map_err(|error| Failure::Usage(format!("invalid issuer address in {CONTEXT}: {error}")))?;
    let planned = |call: Call| Planned { name: call.name, arguments: call.arguments };
    let calls = context.tool_calls.map(|calls| calls.into_iter().map(planned).collect());
    Ok(Probe {
        target,
        revision: arguments.protocol.clone().or(suite),
        calls: if arguments.list { Some(Vec::new()) } else { calls },
        client: Client {
            id: context.client_id,
            proof,
            authority: authority.unwrap_or_default(),
            metadata_url: arguments.client_metadata_url.clone().or(document),
            ..Client::default()
        },
        limit: Duration::from_secs(arguments.timeout),
    })
}

fn print(found: &ProbeReport, out: &mut impl Write) -> io::Result<()> {
    let ProbeReport { server, version, protocol, ready_ms, tools, calls } = found;
    writeln!(out, "{server} {version} speaks {protocol}; ready in {ready_ms:.0} ms")?;
    writeln!(out, "{} tools", tools.len())?;
    for tool in tools {
        writeln!(out, "  {}: {}", tool.name, line(&tool.description))?;
    }
    for ProbeCall { tool, arguments, outcome, text, ms } in calls {
        let arguments = Value::Object(arguments.clone());
        let end = match outcome {
            Outcome::Answered => "answered",
            Outcome::ToolError => "answered with an error",
            Outcome::Skipped => "not called",
            Outcome::Failed => "FAILED",
        };
        writeln!(out, "{tool} {arguments}\n  {end} after {ms:.0} ms: {}", line(text))?;
    }
    if !tools.is_empty() {
        writeln!(out, "{UNMEASURED}")?;
    }
    Ok(())
}

/// The beginning of `text` on one line.
fn line(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
    let mut line: String = plain.filter(|c| !c.is_control()).take(SHOWN).collect();
    if text.chars().nth(SHOWN).is_some() {
        line.push('…');
    }
    line
}
