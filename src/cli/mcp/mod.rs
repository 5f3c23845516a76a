//! `glyphoxa mcp`: servers that provide tools, and entries for clients of our own server. Entry
//! function: [`run`].

mod entry;
mod login;
mod probe;
mod servers;
mod trust;

use clap::{Args, Subcommand};

use super::{Configured, Failure, block_on, with_tools};
use crate::config::{Config, Use};

#[derive(Args)]
#[command(after_help = "example: glyphoxa mcp servers")]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Connects to all servers and prints the state of each.
    #[command(after_help = "example: glyphoxa mcp servers --json")]
    Servers(servers::Arguments),
    /// Approves a server's current tools: changed ones, and new ones under `trust: review`.
    #[command(after_help = "example: glyphoxa mcp trust home")]
    Trust(trust::Arguments),
    /// Logs you in to a server, once; Glyphoxa stores and renews the login.
    Login(login::Arguments),
    /// Tests a server: its protocol, its offers, and the answer of every tool.
    Probe(probe::Arguments),
    /// Makes a token and prints the entry with which an MCP client reaches Glyphoxa.
    Entry(entry::Arguments),
}

/// Runs the subcommand, on the servers of the configuration `from` if needed.
pub fn run(from: Configured, arguments: Arguments) -> Result<u8, Failure> {
    match arguments.command {
        // A broken configuration does not prevent probing a server.
        Command::Probe(probe) => {
            let _ = super::log_to_stderr(probe::LOG_LEVEL);
            block_on(probe::run(&probe))
        }
        Command::Entry(entry) => {
            let config = from.load_for(Use::Remember)?;
            block_on(entry::run(&config, entry))
        }
        Command::Login(login) => {
            let config = configured(from)?;
            block_on(login::run(&config, &login))
        }
        Command::Servers(servers) => {
            let config = configured(from)?;
            with_tools(&config, async |tools| servers::run(&tools.servers, &servers).await)
        }
        Command::Trust(trust) => {
            let config = configured(from)?;
            with_tools(&config, async |tools| trust::run(&config, &tools.servers, &trust).await)
        }
    }
}

fn configured(from: Configured) -> Result<Config, Failure> {
    let config = from.load()?;
    let _ = super::log_to_stderr(&config.log_level);
    Ok(config)
}
