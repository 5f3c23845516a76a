//! `glyphoxa mcp`: the servers tools come from.
//!
//! Entry function: [`run`].

mod login;
mod probe;
mod servers;
mod trust;

use std::path::Path;

use clap::{Args, Subcommand};

use super::Failure;
use crate::{
    app::{self, Tools},
    config::Config,
};

#[derive(Args)]
#[command(after_help = "example: glyphoxa mcp servers")]
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
    /// Logs a person in to a server, once; the login is kept and renewed.
    Login(login::Arguments),
    /// Looks at a server: what it speaks and offers, and what every tool answers.
    Probe(probe::Arguments),
}

/// Runs the subcommand, on the servers of the configuration at `path` if it needs one.
///
/// # Errors
/// Wrong usage, or what the subcommand could not do.
pub fn run(path: Option<&Path>, arguments: Arguments) -> Result<u8, Failure> {
    match arguments.command {
        // A broken configuration keeps nobody from looking at a server.
        Command::Probe(probe) => {
            let _ = super::log_to_stderr(probe::LOG_LEVEL);
            block_on(probe::run(&probe))
        }
        Command::Login(login) => {
            let config = configured(path)?;
            block_on(login::run(&config, &login))
        }
        Command::Servers(servers) => {
            let config = configured(path)?;
            open(&config, async |tools| servers::run(&tools.servers, &servers).await)
        }
        Command::Trust(trust) => {
            let config = configured(path)?;
            open(&config, async |tools| trust::run(&config, &tools.servers, &trust).await)
        }
    }
}

fn configured(path: Option<&Path>) -> Result<Config, Failure> {
    let config = super::load(path)?;
    let _ = super::log_to_stderr(&config.log_level);
    Ok(config)
}

/// Opens the tools of `config` for as long as `work` wants them.
fn open(
    config: &Config,
    work: impl AsyncFnOnce(&Tools) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    block_on(async {
        let tools = app::open_tools(config, None, rand::random())?;
        let status = work(&tools).await;
        tools.close().await;
        status
    })
}

fn block_on(work: impl Future<Output = Result<u8, Failure>>) -> Result<u8, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let status = runtime.block_on(work);
    runtime.shutdown_background();
    status
}
