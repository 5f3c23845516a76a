//! `glyphoxa tools visible`: tools that an NPC's model would be offered.

use std::{io::Write, sync::Arc};

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use super::super::{DONE, Failure, complain, stdout};
use crate::{
    app,
    config::Config,
    domain::{Npc, Tier},
    tools::{CatalogEntry, Query, ToolHost, VisibleTools, is_measured_by_itself},
};

#[derive(Args)]
pub struct Arguments {
    /// The NPC.
    #[arg(long)]
    npc: String,
    /// Effective tier [default: the NPC's budget_tier].
    #[arg(long)]
    tier: Option<Tier>,
    /// A player's words: narrows a long list to the tools that fit.
    #[arg(long)]
    text: Option<String>,
    /// Print one JSON object per tool.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct VisibleLine<'a> {
    identity: &'a str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    tokens: usize,
}

/// Prints the list. Fails on an unknown NPC.
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
    let mut out = stdout();
    for spec in visible.specs.iter() {
        let size = spec.name.len() + spec.description.len() + spec.parameters.to_string().len();
        let line = VisibleLine {
            identity: &spec.identity,
            name: &spec.name,
            description: &spec.description,
            parameters: &spec.parameters,
            // Four characters per token, as in English.
            tokens: size.div_ceil(4),
        };
        if arguments.json {
            writeln!(out, "{}", serde_json::to_string(&line)?)?;
        } else {
            writeln!(out, "{:<32} as {:<24} {}", line.identity, line.name, line.description)?;
        }
    }
    if visible.specs.is_empty() {
        complain(&format!("{} can call no tools at tier {tier}", npc.name));
    }
    if arguments.text.is_none() {
        withheld(host, npc, tier, &visible).iter().for_each(|why| complain(why));
    }
    Ok(DONE)
}

/// Tools that `npc` may call but is not `offered` at `tier`, with reasons and fixes.
fn withheld(host: &ToolHost, npc: &Npc, tier: Tier, offered: &VisibleTools) -> Vec<String> {
    let ever = host.visible(&npc.name, Tier::Deep, Tier::Deep.ceiling());
    let is_among = |tools: &VisibleTools, identity: &str| {
        tools.specs.iter().any(|it| *it.identity == *identity)
    };
    let snapshot = host.snapshot();
    let is_withheld = |entry: &&Arc<CatalogEntry>| {
        let identity = &*entry.tool.identity;
        let is_too_slow = entry.tier.is_none() && npc.tools.iter().any(|it| it == identity);
        (is_too_slow || is_among(&ever, identity)) && !is_among(offered, identity)
    };
    snapshot.all().iter().filter(is_withheld).map(|entry| why(entry, npc, tier)).collect()
}

/// Why `npc` is not offered a tool at `tier`, with the fix.
fn why(entry: &CatalogEntry, npc: &Npc, tier: Tier) -> String {
    let (tool, npc_name) = (&entry.tool, &npc.name);
    let Some(needs) = entry.tier else {
        return format!(
            "{} is not offered: it fails, or takes longer than any turn allows (glyphoxa tools \
             list)",
            tool.identity
        );
    };
    let has_figures = tool.latency.standing(Instant::now()).measured.is_some()
        || tool.declared.estimated.is_some()
        || tool.declared.measured.is_some();
    let why = match has_figures {
        true => format!("it is too slow for {tier} turns (glyphoxa tools list)"),
        false if is_measured_by_itself(&tool.declared) => {
            "it is not measured yet (Glyphoxa measures it shortly after a session begins; to do it \
             now: glyphoxa tools calibrate)"
                .to_owned()
        }
        false => {
            "it is not measured (glyphoxa tools calibrate measures read-only tools)".to_owned()
        }
    };
    let way = match npc.budget_tier < needs {
        true => format!("to allow it, set budget_tier: {needs} in the file of {npc_name}"),
        false => format!("players' words raise the tier, or use /tier set {needs}"),
    };
    format!("{} is offered in {needs} turns: {why}; {way}", tool.identity)
}
