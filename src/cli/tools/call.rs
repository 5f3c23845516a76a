//! `glyphoxa tools call`: one manual call, as the operator or as an NPC's model.

use std::{
    io::{self, IsTerminal, Write},
    sync::Arc,
};

use clap::Args;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::super::{DONE, FAILED, Failure, ask::TerminalEffects, stdout, whose::Whose};
use crate::{
    app,
    config::Config,
    domain::{CallId, SessionId, Tier, ToolCall, TurnId},
    session::ToolLine,
    tools::{Authority, CallContext, Caller, Progress, Taint, ToolHost},
};

#[derive(Args)]
pub struct Arguments {
    /// Identity ("dice-roller.roll"), or a name unique to one tool.
    tool: String,
    /// Arguments as a JSON object.
    #[arg(default_value = "{}")]
    arguments: String,
    /// Call as this NPC's model: only visible tools, within its tier.
    #[arg(long)]
    npc: Option<String>,
    /// Effective tier of the NPC's turn [default: its budget_tier].
    #[arg(long, requires = "npc")]
    tier: Option<Tier>,
    /// Ignore cached answers.
    #[arg(long)]
    fresh: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    whose: Whose,
}

impl Arguments {
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

/// Calls the tool and prints its answer; exit status 1 without one. Fails on an unknown NPC.
pub async fn run(config: &Config, host: &ToolHost, arguments: &Arguments) -> Result<u8, Failure> {
    let (authority, tier) = caller(config, host, arguments)?;
    let snapshot = host.snapshot();
    let entry = snapshot.find(&arguments.tool);
    // The operator has the tool's own time limit, and waits for late results.
    let is_alone = authority.caller().is_none();
    let own = entry.filter(|it| is_alone || it.tool.declared.follow_up == Some(true));
    let limit = own.map_or(tier.ceiling(), |entry| entry.tool.max());
    let name = match entry {
        Some(entry) if authority.caller().is_some() => entry.spec.name.to_string(),
        _ => arguments.tool.clone(),
    };
    let context = CallContext {
        scope: arguments.whose.scope(config),
        session: SessionId("operator".to_owned()),
        turn: TurnId(0),
        authority,
        speaker: Arc::from("the operator"),
        by: None,
        deadline: Instant::now() + limit,
        fresh: arguments.fresh,
        taint: Taint::default(),
        progress: Progress::default(),
        span: Default::default(),
        cancel: CancellationToken::new(),
        effects: Arc::new(TerminalEffects::of_operator(io::stderr().is_terminal())),
    };
    let call = ToolCall {
        id: CallId("operator".to_owned()),
        name,
        arguments: arguments.arguments.clone(),
        extra: serde_json::Map::new(),
    };
    let record = tokio::select! {
        record = host.execute(&context, &call) => record,
        interrupted = tokio::signal::ctrl_c() => {
            interrupted?;
            context.cancel.cancel();
            return Err(Failure::Failed(anyhow::anyhow!("stopped")));
        }
    };
    let mut out = stdout();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&ToolLine::from(&record))?)?;
    } else {
        match &record.result {
            Ok(output) => writeln!(out, "{}", output.for_model())?,
            Err(error) => super::super::complain(&format!("{}: {error}", error.kind.name())),
        }
    }
    Ok(if record.result.is_ok() { DONE } else { FAILED })
}

/// Authority and tier of the call.
fn caller(
    config: &Config,
    host: &ToolHost,
    arguments: &Arguments,
) -> Result<(Authority, Tier), Failure> {
    let Some(name) = &arguments.npc else { return Ok((Authority::Operator, Tier::Deep)) };
    let (_, npc) = app::find_npc(&config.npcs, name).map_err(Failure::usage)?;
    let tier = arguments.tier.unwrap_or(npc.budget_tier);
    let offered = host.visible(&npc.name, tier, tier.ceiling()).names();
    let npc = Arc::from(npc.name.as_str());
    let caller = Caller { npc, tier, offered, sampler: None, payments: None };
    Ok((Authority::OperatorAs(caller), tier))
}
