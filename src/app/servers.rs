//! MCP servers for a run of the program.
//!
//! Entry function: [`open`]. **Never**: waits for a server.

use std::{path::PathBuf, sync::Arc};

use crate::{
    config::{self, Config, MemoryPlace},
    domain::SessionId,
    launch,
    tools::{
        ToolHost,
        connection::{Facts, Servers, Setup},
    },
};

/// Variables every child process gets; a confined one has folders of its own in their place.
const COMMON: &[&str] = &["PATH", "HOME", "LANG", "TMPDIR"];
/// What SQLite keeps beside its file.
const BESIDE: [&str; 3] = ["", "-wal", "-shm"];

/// Starts the configured servers in the background; what they offer goes into `host`.
pub fn open(config: &Config, session: Option<&SessionId>, host: &ToolHost, seed: u64) -> Servers {
    let set = |name: &&str| Some(((*name).to_owned(), config::environment(name)?));
    let facts = Arc::new(facts(config, session));
    host.set_facts(Arc::clone(&facts));
    let servers = Servers::new(Setup {
        host: host.clone(),
        data_dir: config.data_dir.clone(),
        environment: COMMON.iter().filter_map(set).collect(),
        launcher: launch::SELF.into(),
        hidden: hidden(config),
        facts,
        seed,
    });
    servers.set(config.mcp.servers.clone());
    servers
}

/// What no server's program reads, beside `data_dir`: the memory wherever it lies, and where keys are
/// written down.
fn hidden(config: &Config) -> Vec<PathBuf> {
    let memory = match &config.memory.place {
        MemoryPlace::File(path) => Some(path),
        MemoryPlace::Server(_) => None,
    };
    let beside = |path: &PathBuf, end: &str| {
        let mut name = path.clone().into_os_string();
        name.push(end);
        PathBuf::from(name)
    };
    let memory = memory.into_iter().flat_map(|path| BESIDE.map(|end| beside(path, end)));
    let file = config.files.first();
    let env = file.map(|file| file.with_file_name(".env"));
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    memory.chain(file.cloned()).chain(env).map(absolute).collect()
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
