//! Files -> checked options: `glyphoxa.yaml`, NPC files, campaign files, random tables.
//!
//! Entry function: [`load`], which returns a [`Config`], or every problem of every file in one
//! [`Report`]. [`schema()`] describes the files for editors; both use the tables in `keys`.
//! **Never**: starts anything, keeps a file open, prints.

mod agreed;
mod app;
mod assistant;
mod campaign;
mod cast;
mod changes;
mod checked;
mod cluster;
mod code;
mod deepgram;
mod demands;
mod destinations;
mod discord;
mod engine;
mod expand;
mod files;
mod images;
mod keys;
mod line;
mod listed;
mod manifest;
mod mcp;
mod memory;
mod models;
mod music;
mod npc;
mod outside;
mod prices;
mod providers;
mod reading;
mod recognisers;
mod rules;
mod schedules;
mod schema;
mod search;
mod secrets;
mod selection;
mod services;
mod shipped;
mod speech_to_speech;
mod state;
mod stored;
mod streamed_voices;
mod tables;
mod tools;
mod traces;
mod trust;
mod turns;
mod voice;
mod watch;
mod web;
mod whitelist;
mod window;
mod workflow;
mod wyoming;

#[cfg(test)]
mod tests;

use std::{
    fmt,
    path::{Path, PathBuf},
};

pub use self::{
    agreed::{
        Agreements, StartCheck, changed_files, file as agreed_file, forget as forget_agreement,
        record as record_agreement, way_out,
    },
    checked::{Config, FILE_NAME},
    cluster::{TO_SHARE, UNSHARED},
    demands::{Demand, Use},
    discord::DiscordOptions,
    mcp::server,
    memory::MemoryPlace,
    rules::shipped_rules,
    schema::{SchemaKind, schema},
    state::record as record_data,
    stored::close as close_stored,
    traces::TelemetryOptions,
    watch::Watch,
};
pub use crate::yaml::Problem;
use crate::{
    domain::{Npc, revealed_name},
    launch,
    yaml::Position,
};

/// Every problem of every file, by file, line and column.
#[derive(Clone, Debug)]
pub struct Report {
    /// At least one.
    pub problems: Vec<Problem>,
    /// Settings that are allowed, but probably unintended.
    pub warnings: Vec<Problem>,
    /// Files that were read or missing.
    pub files: Vec<PathBuf>,
    /// Folders searched; they need not exist.
    pub folders: Vec<PathBuf>,
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

/// Reads the configuration at `path`; without it, `glyphoxa.yaml` of the working directory, else
/// the built-in defaults with the shipped cast. `environment` looks up variables; `tools` are the
/// identities (`server.tool`) NPCs may name.
///
/// # Errors
/// Every problem of every file.
pub fn load(
    path: Option<&Path>,
    environment: &dyn Fn(&str) -> Option<String>,
    tools: &[&str],
) -> Result<Config, Report> {
    load_again(path, environment, tools, &[])
}

/// Like [`load`], while `npcs` are at the table; a campaign may still name them, with a warning.
pub fn load_again(
    path: Option<&Path>,
    environment: &dyn Fn(&str) -> Option<String>,
    tools: &[&str],
    npcs: &[Npc],
) -> Result<Config, Report> {
    let (source, path) = match path {
        Some(path) => (files::Source::Disk, path),
        None => (files::Source::beside(Path::new(FILE_NAME)), Path::new(FILE_NAME)),
    };
    let mut reading = reading::Reading::new(source, environment, tools);
    reading.left = npcs;
    if source == files::Source::Shipped {
        reading.warnings.extend(unread());
    }
    let mut config = app::read(&mut reading, path);
    let reading::Reading { mut problems, mut warnings, files, folders, secrets, .. } = reading;
    let secrets = secrets.into_inner();
    let demands = config.iter_mut().flat_map(|config| &mut config.demands);
    demands.for_each(|demand| demand.clean(|line| secrets.without_variables(line)));
    problems.iter_mut().chain(&mut warnings).for_each(|problem| secrets.clean(problem));
    secrets.keep();
    problems.sort();
    problems.dedup();
    warnings.sort();
    match config {
        Some(config) if problems.is_empty() => {
            config.keep_secrets();
            Ok(Config { files, folders, warnings, ..config })
        }
        _ => Err(Report { problems, warnings, files, folders }),
    }
}

/// Warning about NPCs on disk that are never read.
fn unread() -> Option<Problem> {
    let found = files::Source::Disk.list(Path::new(checked::NPCS), files::YAML).unwrap_or_default();
    (!found.is_empty()).then(|| Problem {
        file: checked::NPCS.into(),
        at: Position::START,
        message: format!("this folder is ignored without {FILE_NAME}; the built-in npcs play"),
        way_out: format!("create {FILE_NAME} beside it; an empty one will do"),
    })
}

/// Reads a file to be imported, of at most `most` bytes.
pub fn read_file(path: &Path, most: u64) -> Result<Vec<u8>, Problem> {
    files::bytes_of_others(path, most).map_err(|error| Problem {
        file: revealed_name(&path.display().to_string()).into(),
        at: error.at.unwrap_or(Position::START),
        message: error.message,
        way_out: error.way_out.to_owned(),
    })
}

/// A variable of this process's environment at its start.
pub fn environment(name: &str) -> Option<String> {
    launch::variable(name)
}
