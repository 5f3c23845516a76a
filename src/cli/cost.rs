//! `glyphoxa cost`: what a month has cost. Entry function: [`run`].

use std::io::Write;

use clap::Args;

use super::{DONE, Failure, block_on, stdout, whose::Whose};
use crate::{
    app,
    campaign::{Analytics, AnalyticsError, cost_lines},
    config::Config,
};

#[derive(Args)]
#[command(after_help = "examples:
  glyphoxa cost
  glyphoxa cost --month 2026-11 --json
  glyphoxa cost --guild 987654321")]
pub struct Arguments {
    #[command(flatten)]
    whose: Whose,
    /// The month [default: this month, in UTC].
    #[arg(long, value_name = "YYYY-MM")]
    month: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Prints the costs. Fails on an invalid month.
pub fn run(config: &Config, Arguments { whose, month, json }: &Arguments) -> Result<u8, Failure> {
    block_on(async {
        let store = app::open_memory(config).await?;
        let analytics = Analytics::new(store, config.data_dir.clone(), whose.scope(config));
        let report = analytics.costs(month.as_deref()).await.map_err(failure)?;
        let mut out = stdout();
        if *json {
            writeln!(out, "{}", serde_json::to_string(&report)?)?;
            return Ok(DONE);
        }
        for line in cost_lines(&report, usize::MAX) {
            writeln!(out, "{line}")?;
        }
        Ok(DONE)
    })
}

/// An invalid month or start is wrong usage.
pub fn failure(error: AnalyticsError) -> Failure {
    match error {
        AnalyticsError::Period(wrong) => Failure::usage(wrong),
        other => other.into(),
    }
}
