//! `glyphoxa tools analytics`: calls of NPCs' turns, by tool, server, NPC and session.

use std::io::Write;

use clap::Args;

use super::super::{DONE, Failure, block_on, cost::failure, stdout, whose::Whose};
use crate::{
    app,
    campaign::{Analytics, CallFilter, call_lines},
    config::Config,
};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    whose: Whose,
    /// Count from this day on: 2026-11-01, or days back: 30d [default: from the first].
    #[arg(long, value_name = "DAY")]
    since: Option<String>,
    /// Count only the turns of this NPC.
    #[arg(long, value_name = "NAME")]
    npc: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Prints the report. Fails on an invalid start.
pub fn run(config: &Config, arguments: &Arguments) -> Result<u8, Failure> {
    let Arguments { whose, since, npc, json } = arguments;
    // An NPC that has left the cast is known by its full name.
    let full = |name: &String| match app::find_npc(&config.npcs, name) {
        Ok((_, npc)) => npc.name.clone(),
        Err(_) => name.clone(),
    };
    let filter = CallFilter { since: since.clone(), npc: npc.as_ref().map(full) };
    block_on(async {
        let store = app::open_memory(config).await?;
        let analytics = Analytics::new(store, config.data_dir.clone(), whose.scope(config));
        let report = analytics.calls(filter).await.map_err(failure)?;
        let mut out = stdout();
        if *json {
            writeln!(out, "{}", serde_json::to_string(&report)?)?;
            return Ok(DONE);
        }
        for line in call_lines(&report) {
            writeln!(out, "{line}")?;
        }
        Ok(DONE)
    })
}
