//! `glyphoxa tools`: tools of NPCs, and manual calls. Entry function: [`run`].

mod analytics;
mod calibrate;
mod call;
mod leaderboard;
mod list;
mod report;
mod visible;

use std::time::Duration;

use clap::{Args, Subcommand};

use super::{Failure, with_tools};
use crate::{
    app::Tools,
    config::{Config, Use},
};

/// Wait for servers beyond their own time to connect.
const GRACE: Duration = Duration::from_secs(5);

#[derive(Args)]
#[command(after_help = "example: glyphoxa tools list")]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Lists every tool with its tier and figures.
    #[command(after_help = "example: glyphoxa tools list --json")]
    List(list::Arguments),
    /// Lists the tools an NPC can call at a tier.
    #[command(after_help = "example: glyphoxa tools visible --npc Bartok --tier standard")]
    Visible(visible::Arguments),
    /// Calls a tool.
    #[command(
        after_help = "example: glyphoxa tools call dice-roller.roll '{\"expression\": \"2d6+3\"}'"
    )]
    Call(call::Arguments),
    /// Measures read-only tools and assigns their tiers.
    #[command(after_help = "example: glyphoxa tools calibrate rules-lookup --json")]
    Calibrate(calibrate::Arguments),
    /// Writes measured figures for sharing, without names, arguments or addresses.
    #[command(after_help = "example: glyphoxa tools report --out figures.json")]
    Report(report::Arguments),
    /// Ranks the fastest tools of each category, here and in other people's reports.
    #[command(
        after_help = "example: glyphoxa tools leaderboard --category rules theirs.json --json"
    )]
    Leaderboard(leaderboard::Arguments),
    /// Counts the calls of NPCs' turns: failures, durations, costs, by tool, server, NPC and session.
    #[command(after_help = "example: glyphoxa tools analytics --since 30d --npc Bartok --json")]
    Analytics(analytics::Arguments),
}

impl Arguments {
    /// Uses of the subcommand beyond reading: analytics opens the memory alone.
    pub const fn does(&self) -> Use {
        match self.command {
            Command::Analytics(_) => Use::Remember,
            _ => Use::Play,
        }
    }
}

/// Runs the subcommand on the tools of `config`.
pub fn run(config: &Config, arguments: Arguments) -> Result<u8, Failure> {
    match arguments.command {
        Command::List(list) => open(config, None, async |tools| list::run(&tools.host, &list)),
        Command::Visible(visible) => {
            open(config, None, async |tools| visible::run(config, &tools.host, &visible).await)
        }
        Command::Call(call) => {
            // One call needs one server; a bare name may be any server's.
            let server = call.tool().split_once('.').map(|(server, _)| server.to_owned());
            let is_memory = server.as_deref() == Some("memory");
            open(config, server, async |tools| {
                if is_memory {
                    tools.open_archive().await;
                }
                call::run(config, &tools.host, &call).await
            })
        }
        Command::Calibrate(calibrate) => {
            open(config, None, async |tools| calibrate::run(&tools.host, &calibrate).await)
        }
        Command::Report(report) => report::run(config, &report),
        Command::Leaderboard(leaderboard) => leaderboard::run(config, &leaderboard),
        Command::Analytics(analytics) => analytics::run(config, &analytics),
    }
}

/// Runs `work` with the tools, once `server`, or else every server, is ready or has failed.
fn open(
    config: &Config,
    server: Option<String>,
    work: impl AsyncFnOnce(&Tools) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let longest = config.mcp.servers.iter().map(|it| it.connect_timeout).max().unwrap_or_default();
    with_tools(config, async |tools| {
        let is_awaited = |it: &str| server.as_deref().is_none_or(|one| one == it);
        tools.servers.settled(longest + GRACE, is_awaited).await;
        work(tools).await
    })
}
