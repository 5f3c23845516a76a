//! `glyphoxa tools report`: measured figures for others, only on request.

use std::{io::Write, path::PathBuf};

use anyhow::Context;
use clap::Args;

use super::super::{DONE, Failure, complain, stdout};
use crate::{config::Config, files, tools};

#[derive(Args)]
pub struct Arguments {
    /// Output file [default: stdout].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Writes identities, categories, counts and percentiles; no names, arguments or addresses.
pub fn run(config: &Config, arguments: &Arguments) -> Result<u8, Failure> {
    let report = tools::report(&config.data_dir, &config.environment);
    if report.tools.is_empty() {
        complain("no tool is measured yet (glyphoxa tools calibrate measures them)");
    }
    let text = serde_json::to_string_pretty(&report)? + "\n";
    match &arguments.out {
        None => stdout().write_all(text.as_bytes())?,
        Some(path) => {
            let written = files::replace(path, text.as_bytes());
            written.with_context(|| format!("cannot write the report '{}'", path.display()))?;
            let (count, path) = (report.tools.len(), path.display());
            writeln!(stdout(), "{count} measured tools in '{path}'")?;
        }
    }
    Ok(DONE)
}
