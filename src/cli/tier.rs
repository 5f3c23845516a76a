//! `glyphoxa tier`: the latency tier of an utterance, and why.

use std::{io::Write, time::Duration};

use clap::Args;
use serde::Serialize;

use super::{DONE, Failure, stdout};
use crate::{
    app,
    config::Config,
    domain::{Npc, Tier},
    logic::tier::{TierInput, TierSelector, effective},
};

#[derive(Args)]
#[command(
    after_help = "example: glyphoxa tier --text 'Greymantle, what happened last time?' --json"
)]
pub struct Arguments {
    /// The utterance.
    #[arg(long)]
    text: String,
    /// The NPC addressed; its budget_tier is the ceiling.
    #[arg(long)]
    npc: Option<String>,
    /// The game master's override.
    #[arg(long = "override", value_name = "TIER")]
    dm_override: Option<Tier>,
    /// Number of players waiting for an answer.
    #[arg(long, default_value_t = 0, value_name = "N")]
    queue: usize,
    /// The NPC's first turn with this table.
    #[arg(long)]
    first: bool,
    /// Number of earlier turns with this NPC in the last ten seconds.
    #[arg(long, default_value_t = 0, value_name = "N")]
    recent: usize,
    /// Seconds since the table's last deep turn began.
    #[arg(long, value_name = "SECONDS")]
    since_deep: Option<f64>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Answer {
    selected: Tier,
    effective: Tier,
    reason: String,
    keyword: Option<String>,
}

/// Prints the selection. Fails on an unknown NPC or invalid seconds.
pub fn run(config: &Config, arguments: &Arguments) -> Result<u8, Failure> {
    let npc = match &arguments.npc {
        None => None,
        Some(name) => Some(app::find_npc(&config.npcs, name).map_err(Failure::usage)?.1),
    };
    let ceiling = npc.map_or(Tier::Deep, |npc| npc.budget_tier);
    let since_deep = arguments
        .since_deep
        .map(|seconds| {
            Duration::try_from_secs_f64(seconds).map_err(|_| {
                Failure::Usage(format!("invalid --since-deep '{seconds}' (use seconds, 0 or more)"))
            })
        })
        .transpose()?;
    let present: Vec<&str> = config.npcs.iter().map(|npc| npc.name.as_str()).collect();
    let names = app::tier_names(config, &present);
    let selection = TierSelector::new(&config.tiers).select(&TierInput {
        text: &arguments.text,
        queue_depth: arguments.queue,
        first_turn: arguments.first,
        recent_turns: arguments.recent,
        has_pictures: npc.is_some_and(Npc::has_pictures),
        since_deep,
        names: &names,
        here: None,
    });
    let answer = Answer {
        selected: selection.tier,
        effective: effective(selection.tier, ceiling, arguments.dm_override),
        reason: selection.reason.to_string(),
        keyword: selection.keyword,
    };
    let mut out = stdout();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&answer)?)?;
    } else {
        let keyword = answer.keyword.map(|word| format!(" '{word}'")).unwrap_or_default();
        writeln!(
            out,
            "{} (selected {}: {}{keyword})",
            answer.effective, answer.selected, answer.reason
        )?;
    }
    Ok(DONE)
}
