//! `glyphoxa mcp`: the servers tools come from.
//!
//! Entry function: [`run`].

mod servers;
mod trust;

use clap::{Args, Subcommand};

use super::Failure;
use crate::{app, config::Config};

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Connects to all servers and says how each stands.
    #[command(after_help = "example: glyphoxa mcp servers --json")]
    Servers(servers::Arguments),
    /// Approves what a server under review lists now.
    #[command(after_help = "example: glyphoxa mcp trust home")]
    Trust(trust::Arguments),
}

/// Runs the subcommand on the servers of `config`.
///
/// # Errors
/// Wrong usage, or what the subcommand could not do.
pub fn run(config: &Config, arguments: Arguments) -> Result<u8, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let status = runtime.block_on(async {
        let tools = app::open_tools(config, None, rand::random())?;
        let status = match arguments.command {
            Command::Servers(servers) => servers::run(&tools.servers, &servers).await,
            Command::Trust(trust) => trust::run(config, &tools.servers, &trust).await,
        };
        tools.close().await;
        status
    });
    runtime.shutdown_background();
    status
}
