//! MCP servers for a run of the program. Entry functions: [`open`], [`start_check`], [`facts`].

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use crate::{
    config::{self, Config, MemoryPlace},
    domain::{Campaign, SessionId},
    launch,
    tools::{
        ToolHost,
        connection::{Facts, Servers, Setup, StartCheck},
    },
};

/// Variables of every child process; a confined one has its own folders instead.
const COMMON: &[&str] = &["PATH", "HOME", "LANG", "TMPDIR"];
/// Suffixes of SQLite's files.
const BESIDE: [&str; 3] = ["", "-wal", "-shm"];

/// Sessions and campaigns of this run.
#[derive(Clone, Copy)]
pub enum Playing<'a> {
    /// Sessions that begin and end, each with its campaign.
    Sessions,
    /// The configured campaign, in this session if any.
    Here(Option<&'a SessionId>),
}

/// Starts the configured servers in the background; their tools go into `host`.
pub fn open(config: &Config, playing: Playing<'_>, host: &ToolHost, seed: u64) -> Opened {
    let set = |name: &&str| Some(((*name).to_owned(), config::environment(name)?));
    let facts = Arc::new(match playing {
        Playing::Sessions => Facts::default(),
        Playing::Here(session) => Facts::new(facts(&config.campaign, session)),
    });
    facts.set_own(config.global_data.clone());
    host.set_facts(Arc::clone(&facts));
    let servers = Servers::new(Setup {
        host: host.clone(),
        data_dir: config.data_dir.clone(),
        environment: COMMON.iter().filter_map(set).collect(),
        launcher: launch::SELF.into(),
        hidden: hidden(config),
        facts: Arc::clone(&facts),
        seed,
    });
    servers.set_check(start_check(config));
    servers.set(config.mcp.servers.clone());
    Opened { servers, facts }
}

/// Called before each start of a program of `config`.
pub fn start_check(config: &Config) -> Option<StartCheck> {
    let check = config::StartCheck::of(config)?;
    Some(Arc::new(move || check.refusal()))
}

pub struct Opened {
    /// They connect in the background.
    pub servers: Servers,
    /// Values that their headers refer to.
    pub facts: Arc<Facts>,
}

/// Files hidden from servers' programs unless named, beside `data_dir`: the memory, files with
/// keys, the game master's texts about the world, and every guild's NPC files.
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
    let env = config.files.first().map(|file| file.with_file_name(".env"));
    let notes = config.file_io.as_ref().map(|file_io| file_io.base.clone());
    let told = config.files.iter().cloned().chain([config.npc_dir.clone()]);
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    memory.chain(told).chain(env).chain(notes).map(absolute).collect()
}

/// Values for servers' headers while `campaign` is played.
pub fn facts(campaign: &Campaign, session: Option<&SessionId>) -> BTreeMap<String, String> {
    let facts = [
        ("session.id", session.map(|session| session.0.clone())),
        ("campaign.name", Some(campaign.name.clone())),
        ("campaign.system", Some(campaign.system.clone())),
    ];
    let known = |(name, value): (&str, Option<String>)| Some((name.to_owned(), value?));
    facts.into_iter().filter_map(known).collect()
}
