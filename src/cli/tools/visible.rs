//! `glyphoxa tools visible`: what an NPC's model would be offered.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use super::super::{DONE, Failure};
use crate::{
    app,
    config::Config,
    domain::Tier,
    tools::{Query, ToolHost},
};

#[derive(Args)]
pub struct Arguments {
    /// The NPC whose tools are shown.
    #[arg(long)]
    npc: String,
    /// Effective tier [default: the NPC's budget_tier].
    #[arg(long)]
    tier: Option<Tier>,
    /// What a player says: a long list is narrowed to what fits it.
    #[arg(long)]
    text: Option<String>,
    /// One JSON object a tool.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    identity: &'a str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    tokens: usize,
}

/// Prints the list.
///
/// # Errors
/// No such NPC, or stdout is gone.
pub async fn run(config: &Config, host: &ToolHost, arguments: &Arguments) -> Result<u8, Failure> {
    let (_, npc) = app::find_npc(&config.npcs, &arguments.npc).map_err(Failure::usage)?;
    let tier = arguments.tier.unwrap_or(npc.budget_tier);
    let visible = match &arguments.text {
        None => host.visible(&npc.name, tier, tier.ceiling()),
        Some(utterance) => {
            host.embedded().await;
            let query = Query { utterance, ..Query::default() };
            host.offered(&npc.name, tier, tier.ceiling(), &query).await
        }
    };
    let mut out = io::stdout().lock();
    for spec in visible.specs.iter() {
        let size = spec.name.len() + spec.description.len() + spec.parameters.to_string().len();
        let line = Line {
            identity: &spec.identity,
            name: &spec.name,
            description: &spec.description,
            parameters: &spec.parameters,
            // Four characters a token, as English goes.
            tokens: size.div_ceil(4),
        };
        if arguments.json {
            writeln!(out, "{}", serde_json::to_string(&line)?)?;
        } else {
            writeln!(out, "{:<32} as {:<24} {}", line.identity, line.name, line.description)?;
        }
    }
    if visible.specs.is_empty() {
        super::super::complain(&format!("{} may call nothing at tier {tier}", npc.name));
    }
    Ok(DONE)
}
