//! MCP servers for a run of the program.
//!
//! Entry function: [`open`]. **Never**: waits for a server.

use std::sync::Arc;

use crate::{
    config::{self, Config},
    domain::SessionId,
    tools::{
        ToolHost,
        connection::{Facts, Servers, Setup},
    },
};

/// Variables every child process gets.
const COMMON: &[&str] = &["PATH", "HOME", "LANG", "TMPDIR"];

/// Starts the configured servers in the background; what they offer goes into `host`.
pub fn open(config: &Config, session: Option<&SessionId>, host: &ToolHost, seed: u64) -> Servers {
    let set = |name: &&str| Some(((*name).to_owned(), config::environment(name)?));
    let facts = Arc::new(facts(config, session));
    host.set_facts(Arc::clone(&facts));
    let servers = Servers::new(Setup {
        host: host.clone(),
        data_dir: config.data_dir.clone(),
        environment: COMMON.iter().filter_map(set).collect(),
        facts,
        seed,
    });
    servers.set(config.mcp.servers.clone());
    servers
}

/// What headers of servers and prompts may name.
fn facts(config: &Config, session: Option<&SessionId>) -> Facts {
    let facts = [
        ("session.id", session.map(|session| session.0.clone())),
        ("campaign.name", Some(config.campaign.name.clone())),
        ("campaign.system", Some(config.campaign.system.clone())),
    ];
    let known = |(name, value): (&str, Option<String>)| Some((name.to_owned(), value?));
    Facts::new(facts.into_iter().filter_map(known).collect())
}
