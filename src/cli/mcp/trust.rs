//! `glyphoxa mcp trust`: approves a server's current tools, word for word.

use std::io::Write;

use clap::Args;

use super::super::{DONE, Failure, stdout};
use crate::{
    config::Config,
    domain::Owner,
    tools::{ServerKey, connection::Servers},
};

#[derive(Args)]
pub struct Arguments {
    /// The server's name.
    server: String,
}

/// Approves the tools and prints them. Fails if the server is unknown or not connected.
pub async fn run(config: &Config, servers: &Servers, arguments: &Arguments) -> Result<u8, Failure> {
    let name = &arguments.server;
    let known = config.mcp.servers.iter().find(|server| server.name == *name);
    if known.is_none() {
        let names: Vec<_> = config.mcp.servers.iter().map(|it| it.name.as_str()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let what = format!("unknown server '{name}' (servers: {names})");
        return Err(Failure::Usage(what));
    }
    let approved = servers.approve(&ServerKey::installed(name)).await?;
    let mut out = stdout();
    for status in servers.status(Owner::Local).iter().filter(|status| status.name == *name) {
        for line in &status.changed {
            writeln!(out, "changed: {line}")?;
        }
    }
    for tool in approved {
        writeln!(out, "approved: {name}.{tool}")?;
    }
    Ok(DONE)
}
