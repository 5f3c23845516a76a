//! `glyphoxa tools`: what NPCs may call, and calls by hand.
//!
//! Entry function: [`run`].

mod call;
mod list;
mod visible;

use std::time::Duration;

use clap::{Args, Subcommand};

use super::Failure;
use crate::{
    app::{self, Tools},
    config::Config,
};

/// Longest wait for servers; more than any is given to connect by default.
const PATIENCE: Duration = Duration::from_secs(35);

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Every tool there is, with its tier and figures.
    #[command(after_help = "example: glyphoxa tools list --json")]
    List(list::Arguments),
    /// What an NPC may call at a tier.
    #[command(after_help = "example: glyphoxa tools visible --npc Bartok --tier standard")]
    Visible(visible::Arguments),
    /// Calls a tool.
    #[command(
        after_help = "example: glyphoxa tools call dice-roller.roll '{\"expression\": \"2d6+3\"}'"
    )]
    Call(call::Arguments),
}

/// Runs the subcommand on the tools of `config`.
///
/// # Errors
/// Wrong usage, or what the subcommand could not do.
pub fn run(config: &Config, arguments: Arguments) -> Result<u8, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let status = runtime.block_on(async {
        let tools = app::open_tools(config, None, rand::random());
        tools.servers.settled(PATIENCE).await;
        let status = with(config, &tools, arguments.command).await;
        tools.close().await;
        status
    });
    runtime.shutdown_background();
    status
}

async fn with(config: &Config, tools: &Tools, command: Command) -> Result<u8, Failure> {
    match command {
        Command::List(list) => list::run(&tools.host, &list),
        Command::Visible(visible) => visible::run(config, &tools.host, &visible),
        Command::Call(call) => call::run(config, &tools.host, &call).await,
    }
}
