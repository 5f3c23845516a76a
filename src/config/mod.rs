//! Files -> checked options: `glyphoxa.yaml`, NPC files, a campaign file, random tables.
//!
//! Entry function: [`load`], which reads everything and answers with a [`Config`], or with every
//! problem of every file in one [`Report`]. [`schema()`] describes the files for editors; both come
//! from the tables in `keys`.
//! **Never**: starts anything, keeps a file open, prints.

mod app;
mod assistant;
mod campaign;
mod cast;
mod declared;
mod discord;
mod expand;
mod files;
mod keys;
mod line;
mod manifest;
mod mcp;
mod memory;
mod npc;
mod policy;
mod providers;
mod reading;
mod rules;
mod schema;
mod selection;
mod shipped;
mod tables;
mod voice;
mod watch;
mod whitelist;
mod window;

#[cfg(test)]
mod tests;

use std::{
    fmt,
    path::{Path, PathBuf},
};

pub use self::{
    mcp::{McpOptions, is_near, server},
    memory::{MemoryOptions, MemoryPlace},
    rules::{Rules, shipped_rules},
    schema::{SchemaKind, schema},
    watch::Watch,
};
pub use crate::yaml::Problem;
use crate::{
    domain::{Campaign, Npc},
    import::campaign::World,
    logic::{budget::BudgetOptions, tier::Keywords},
    provider, session,
    tools::{
        SelectionOptions,
        builtin::{FileIo, RandomTable},
        manifest::Manifest,
    },
    yaml::Position,
};

/// Name of the configuration in the working directory.
pub const FILE_NAME: &str = "glyphoxa.yaml";

/// Everything the program is told; every value is checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// The cast, at least one, names unique; policies have the table's defaults merged in.
    pub npcs: Vec<Npc>,
    /// The game master's assistant; described as NPCs are, never at the table.
    pub assistant: Npc,
    /// The world played in; empty without a campaign file.
    pub campaign: Campaign,
    /// The same as its file has it, with ids and relationships.
    pub world: World,
    /// What hears, thinks, speaks and compares meanings.
    pub services: provider::Options,
    /// Settings of a table.
    pub session: session::Options,
    /// How long lists of tools are narrowed.
    pub selection: SelectionOptions,
    /// Words that raise a turn's tier.
    pub tiers: Keywords,
    /// Cap and prices.
    pub budget: BudgetOptions,
    /// Random tables: the user's own, then the built-in ones they do not replace.
    pub tables: Vec<RandomTable>,
    /// Servers of further tools.
    pub mcp: McpOptions,
    /// Rules to look up.
    pub rules: Rules,
    /// Tools written down in files, identities unique.
    pub manifests: Vec<Manifest>,
    /// Where NPCs may read and write files; `None`: nowhere.
    pub file_io: Option<FileIo>,
    /// The bot; its token may be empty.
    pub discord: crate::discord::Options,
    /// Where kept sessions lie.
    pub data_dir: PathBuf,
    /// What is remembered, where and how long.
    pub memory: MemoryOptions,
    /// Where measured figures of tools belong to.
    pub environment: String,
    /// Least important level logged ("info").
    pub log_level: String,
    /// Files that were read, in order.
    pub files: Vec<PathBuf>,
    /// What is allowed, but probably not meant.
    pub warnings: Vec<Problem>,
}

/// Every problem of every file, by file, line and column.
#[derive(Clone, Debug)]
pub struct Report {
    /// What must be mended, at least one.
    pub problems: Vec<Problem>,
    /// What is allowed, but probably not meant.
    pub warnings: Vec<Problem>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Report {}

/// Reads the configuration at `path`; without one, `glyphoxa.yaml` of the working directory, and
/// without that, the built-in defaults with the shipped cast. `environment` looks up variables;
/// `tools` are the identities (`server.tool`) NPCs may be given.
///
/// # Errors
/// Every problem of every file.
pub fn load(
    path: Option<&Path>,
    environment: &dyn Fn(&str) -> Option<String>,
    tools: &[&str],
) -> Result<Config, Report> {
    let (source, path) = match path {
        Some(path) => (files::Source::Disk, path),
        None => (files::Source::beside(Path::new(FILE_NAME)), Path::new(FILE_NAME)),
    };
    let mut reading = reading::Reading::new(source, environment, tools);
    let config = app::read(&mut reading, path);
    let reading::Reading { mut problems, mut warnings, files, .. } = reading;
    problems.sort();
    problems.dedup();
    warnings.sort();
    match config {
        Some(config) if problems.is_empty() => Ok(Config { files, warnings, ..config }),
        _ => Err(Report { problems, warnings }),
    }
}

/// The content of a file that is to be imported.
///
/// # Errors
/// It cannot be read, or is too large.
pub fn read_file(path: &Path) -> Result<Vec<u8>, Problem> {
    files::bytes(path).map_err(|error| Problem {
        file: path.display().to_string().into(),
        at: error.at.unwrap_or(Position::START),
        message: error.message,
        way_out: error.way_out.to_owned(),
    })
}

/// A variable of this process's environment.
#[expect(clippy::disallowed_methods, reason = "the only place that reads the environment")]
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
