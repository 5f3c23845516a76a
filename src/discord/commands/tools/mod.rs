//! `/tools`: NPCs' tools, their speed and their servers.
//!
//! Entry item: [`COMMAND`]. **Never**: shows arguments or tokens of a server.

mod calls;
mod servers;
mod whitelist;

use serenity::all::CreateCommand;
use tokio::time::Instant;

use self::servers::{NAME_MAX, table};
use super::{
    answer::{Answer, Refusal},
    choices::{npc_names, tool_names},
    command::{Call, Own, Who},
    parts, shared,
};
use crate::{commands::TOOLS, discord::guild::Guild, tools::tool_line};

pub const COMMAND: Own = Own { name: "tools", register, who: |_| Who::Dm, run, complete };

/// Longest identity of a tool.
const TOOL_MAX: u16 = 200;

fn register() -> CreateCommand {
    let tool = |text| parts::words("tool", text, TOOL_MAX).set_autocomplete(true);
    let npc = || parts::npc("npc", "Which NPC").required(true);
    let changed = || tool("A tool (dice-roller.roll) or all of a server (home.*)").required(true);
    let changes = parts::command("tools", TOOLS.description)
        .add_option(
            parts::sub(
                "list",
                "Show tier, speed and health of all tools, or of those an NPC may use",
            )
            .add_sub_option(parts::npc("npc", "Only the tools of this NPC")),
        )
        .add_option(
            parts::sub("allow", "Allow an NPC to use a tool on this server")
                .add_sub_option(npc())
                .add_sub_option(changed()),
        )
        .add_option(
            parts::sub("deny", "Forbid an NPC to use a tool on this server")
                .add_sub_option(npc())
                .add_sub_option(changed()),
        );
    shared::subs(&TOOLS)
        .fold(changes, CreateCommand::add_option)
        .add_option(parts::sub("servers", "Show the state of the tool servers"))
        .add_option(servers::register())
        .add_option(
            parts::sub("calibrate", "Measure the tools that are safe to call")
                .add_sub_option(tool("A tool or a server (default: all)")),
        )
        .add_option(
            parts::sub("leaderboard", "Show the quickest tools of each category").add_sub_option(
                parts::words("category", "Only this category", NAME_MAX).set_autocomplete(true),
            ),
        )
        .add_option(
            parts::sub("call", "Call a tool as an NPC would, with its rights and its limits")
                .add_sub_option(tool("Tool to call").required(true))
                .add_sub_option(parts::words("arguments", "A JSON object (default: {})", 4_000))
                .add_sub_option(parts::npc("npc", "NPC that calls it (default: the assistant)")),
        )
}

fn run(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    match call.path.as_str() {
        "list" => list(guild, call.text("npc")),
        "allow" => whitelist::change(guild, call, true),
        "deny" => whitelist::change(guild, call, false),
        "permits" | "revoke" => shared::run(guild, call, &TOOLS),
        "servers" => Ok(servers::show(guild).into()),
        "server add" => servers::add(guild, call),
        "server remove" => servers::remove(guild, call.words("name")?),
        "server trust" => servers::trust(guild, call.words("name")?),
        "server restart" => servers::restart(guild, call.words("name")?),
        "calibrate" => calls::calibrate(guild, call.text("tool")),
        "leaderboard" => Ok(calls::leaderboard(guild, call.text("category"))),
        _ => calls::call(guild, call),
    }
}

fn complete(guild: &Guild, option: &str) -> Vec<String> {
    let snapshot = guild.tools().snapshot();
    let tools = || snapshot.all().iter().map(|placed| &placed.tool);
    match option {
        "npc" => npc_names(guild),
        "name" => servers::names(guild),
        "category" => sorted(
            tools().flat_map(|tool| tool.categories().map(str::to_owned).collect::<Vec<_>>()),
        ),
        "tool" => tool_names(guild),
        _ => Vec::new(),
    }
}

fn sorted(words: impl Iterator<Item = String>) -> Vec<String> {
    let words: std::collections::BTreeSet<String> = words.collect();
    words.into_iter().collect()
}

fn list(guild: &Guild, npc: Option<&str>) -> Result<Answer, Refusal> {
    let host = guild.tools();
    let snapshot = host.snapshot();
    let now = Instant::now();
    let Some(npc) = npc else {
        let mut lines: Vec<String> =
            snapshot.all().iter().map(|placed| tool_line(placed, now)).collect();
        let refused = host.refused().into_iter();
        lines.extend(refused.map(|it| format!("left out: {}: {}", it.tool, it.reason)));
        return Ok(table("Tools", &lines, "").into());
    };
    let cast = guild.cast();
    let (_, npc) = crate::logic::cast::find_npc(&cast, npc)?;
    let changes = guild.settings().tools.get(&npc.name);
    let allowed = crate::tools::allowed(snapshot.all(), npc, changes);
    let lines: Vec<String> = allowed.tools.iter().map(|placed| tool_line(placed, now)).collect();
    let changed: Vec<String> = changes
        .into_iter()
        .flat_map(|changes| changes.iter())
        .map(|it| format!("{} {}", if it.allowed { "allowed" } else { "denied" }, it.entry))
        .collect();
    let mut notes = format!("Up to tier {}", npc.budget_tier);
    if !changed.is_empty() {
        notes.push_str(&format!("; changed on this server: {}", changed.join(", ")));
    }
    Ok(table(&format!("Tools {} may use", npc.name), &lines, &notes).into())
}
