//! `glyphoxa models`: downloads, checks and removes model files.

mod get;
mod list;

use std::{io::Write, path::PathBuf};

use clap::{Args, Subcommand};

use self::list::unknown;
use super::{DONE, Failure, runtime::block_on, stdout};
use crate::{
    config::Config,
    weights::{Installing, Weights, is_set_name},
};

#[derive(Args)]
#[command(after_help = "example: glyphoxa models get whisper-tiny.en piper-joe")]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Folder of the model files [default: models.dir, then models in data_dir].
    #[arg(long, global = true, value_name = "DIR")]
    dir: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Lists all sets with purpose, licence and state.
    List(list::Arguments),
    /// Downloads sets and installs each completely or not at all.
    Get(get::Arguments),
    /// Removes sets and lists the deleted files.
    Remove {
        /// Sets to remove, by name as in `glyphoxa models list`.
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
}

pub fn run(config: &Config, arguments: Arguments) -> Result<u8, Failure> {
    let mut weights = config.models.weights.clone();
    if let Some(folder) = arguments.dir {
        weights = weights.in_folder(folder);
    }
    match arguments.command {
        Command::List(list) => list::run(&weights, &list),
        Command::Get(get) => block_on(get::run(&weights, &config.models.sources, &get)),
        Command::Remove { names } => remove(&weights, &names),
    }
}

fn remove(weights: &Weights, names: &[String]) -> Result<u8, Failure> {
    let left_over = weights.left_over();
    for name in names {
        if !is_set_name(name) || (weights.set(name).is_none() && !left_over.contains(name)) {
            return Err(unknown(weights, name));
        }
    }
    let mut out = stdout();
    if !weights.folder().exists() {
        writeln!(out, "nothing to remove in '{}'", weights.folder().display())?;
        return Ok(DONE);
    }
    let installing = Installing::begin(weights.folder())?;
    for name in names {
        let removed = installing.remove(name, weights.set(name))?;
        for file in &removed {
            writeln!(out, "removed '{}' ({})", file.path.display(), list::size(file.bytes))?;
        }
        if removed.is_empty() {
            writeln!(out, "{name} is not in '{}'", weights.folder().display())?;
        }
    }
    Ok(DONE)
}
