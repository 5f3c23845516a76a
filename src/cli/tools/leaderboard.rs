//! `glyphoxa tools leaderboard`: the quickest tools of a category, here and in others' reports.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;
use serde::Serialize;

use super::super::{DONE, Failure, complain, stdout};
use crate::{
    config::Config,
    files,
    tools::{self, Report, Reported, reported_line},
};

/// Size limit of a report, in bytes.
const LARGEST: u64 = 16 << 20;
/// Name of this machine's own measurements.
const HERE: &str = "here";

#[derive(Args)]
pub struct Arguments {
    /// Rank only this category.
    #[arg(long)]
    category: Option<String>,
    /// Reports made by `glyphoxa tools report`.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON object per place.
    #[arg(long)]
    json: bool,
}

/// A place on the board.
#[derive(Serialize)]
struct LeaderboardLine<'a> {
    rank: usize,
    from: &'a str,
    #[serde(flatten)]
    tool: &'a Reported,
}

/// Prints the boards. Fails on an unreadable report.
pub fn run(config: &Config, arguments: &Arguments) -> Result<u8, Failure> {
    let own = tools::report(&config.data_dir, &config.environment);
    let mut reports = vec![(HERE.to_owned(), own)];
    for path in &arguments.files {
        let report = read(path).with_context(|| format!("report '{}'", path.display()))?;
        reports.push((path.display().to_string(), report));
    }
    let boards = tools::rank(&reports, arguments.category.as_deref());
    if boards.is_empty() {
        let of = arguments.category.as_deref().map(|it| format!(" of category '{it}'"));
        let of = of.unwrap_or_default();
        complain(&format!("no tool{of} is measured yet (glyphoxa tools calibrate measures them)"));
    }
    let mut out = stdout();
    for (category, tools) in boards {
        if !arguments.json {
            writeln!(out, "{category}")?;
        }
        for (place, (from, tool)) in tools.into_iter().enumerate() {
            let line = LeaderboardLine { rank: place + 1, from, tool };
            if arguments.json {
                writeln!(out, "{}", serde_json::to_string(&line)?)?;
                continue;
            }
            writeln!(out, "{}", reported_line(line.rank, from, tool))?;
        }
    }
    Ok(DONE)
}

fn read(path: &Path) -> anyhow::Result<Report> {
    let text = String::from_utf8(files::read(path, LARGEST)?)?;
    Ok(Report::parse(&text)?)
}
