//! `glyphoxa mcp servers`: the state of each server, and why.

use std::{borrow::Cow, io::Write, time::Duration};

use clap::Args;
use serde::Serialize;

use super::super::{DONE, FAILED, Failure, stdout};
use crate::{
    domain::Owner,
    tools::connection::{Kept, Servers, State, Status},
};

#[derive(Args)]
pub struct Arguments {
    /// Longest wait for servers that are still connecting, in seconds.
    #[arg(long, default_value_t = 35, value_name = "SECONDS")]
    wait: u64,
    /// Print one JSON object per server.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ServerLine<'a> {
    name: &'a str,
    prefix: &'a str,
    calls_itself: &'a str,
    version: &'a str,
    endpoint: &'a str,
    state: Cow<'static, str>,
    reason: Option<&'a str>,
    revision: Option<&'a str>,
    tools: &'a [String],
    waiting_for_approval: &'a [String],
    changed: &'a [String],
    left_out: &'a [String],
    resources: &'a [String],
    restarts_when_replaced: &'a [String],
    stderr: &'a [String],
    kept: Kept,
}

/// Prints every server; exit status 1 if one is not ready.
pub async fn run(servers: &Servers, arguments: &Arguments) -> Result<u8, Failure> {
    servers.settled(Duration::from_secs(arguments.wait), |_| true).await;
    let all = servers.status(Owner::Local);
    let mut out = stdout();
    for status in &all {
        if arguments.json {
            writeln!(out, "{}", serde_json::to_string(&ServerLine::of(status))?)?;
        } else {
            write!(out, "{status}")?;
        }
    }
    if all.is_empty() && !arguments.json {
        writeln!(out, "no servers are configured (mcp.servers in glyphoxa.yaml)")?;
    }
    Ok(if all.iter().all(|status| status.state == State::Ready) { DONE } else { FAILED })
}

impl<'a> ServerLine<'a> {
    fn of(status: &'a Status) -> Self {
        Self {
            name: &status.name,
            prefix: &status.prefix,
            calls_itself: &status.calls_itself.0,
            version: &status.calls_itself.1,
            endpoint: &status.endpoint,
            state: status.state.name(),
            reason: status.state.reason(),
            revision: status.revision.as_deref(),
            tools: &status.tools,
            waiting_for_approval: &status.held,
            changed: &status.changed,
            left_out: &status.refused,
            resources: &status.resources,
            restarts_when_replaced: &status.held_files,
            stderr: &status.stderr,
            kept: status.kept,
        }
    }
}
