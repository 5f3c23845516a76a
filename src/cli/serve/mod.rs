//! `glyphoxa serve`: the web listener without Discord, with a table of this machine whose sound is
//! returned as data. Entry function: [`run`].

mod effects;
mod table;

use std::{io::Write, net::SocketAddr, sync::Arc};

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::{
    Configured, DONE, FAILED, Failure, block_on, complain, listener::Listener, log_to_stderr,
    program::Program, service_manager::ServiceManager, signals::ended, stdout,
};
use crate::{
    app,
    campaign::{Drives, Handles},
    config::{self, Config},
    domain::Owner,
    web::WebOptions,
};

#[derive(Args)]
#[command(after_help = "example: glyphoxa serve --listen 127.0.0.1:4100\n\
                        A program needs a token: glyphoxa mcp entry makes one, and prints the \
                        entry for its configuration.")]
pub struct Arguments {
    /// Address to listen on [default: web.listen, then 127.0.0.1:4100].
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
}

/// Serves until Ctrl-C or a request to end.
pub fn run(arguments: &Arguments, from: Configured) -> Result<u8, Failure> {
    let config = from.load()?;
    let set_level = log_to_stderr(&config.log_level);
    block_on(serve(options(arguments, &config), config, from, &set_level))
}

fn options(arguments: &Arguments, config: &Config) -> WebOptions {
    let options = config.web.clone().unwrap_or_default();
    WebOptions { listen: arguments.listen.unwrap_or(options.listen), ..options }
}

async fn serve(
    options: WebOptions,
    config: Config,
    from: Configured<'_>,
    log_level: &(dyn Fn(&str) + Send + Sync),
) -> Result<u8, Failure> {
    // The address that entries have unless another is named.
    let entered = config.web.clone().unwrap_or_default().listen;
    let listener = Listener::bind(&options).await?;
    let agreed = from.agreements().with(&config);
    let program = Program::open(config, Some(&listener), false).await?;
    let (table, mut gone) = table::open(&program.handles).await?;
    // An error ends the session in order.
    let begun = announce(&program.handles, listener.address(), entered).await;
    let has_begun = begun.is_ok();
    let stop = CancellationToken::new();
    let listening = listener.start(&program.handles, false, &stop);
    let serving = async {
        listening.end().await;
        table.close(&program.handles.sessions).await
    };
    let following =
        app::follow(program.running(from, agreed, log_level), Arc::clone(&program.config));
    let firing = fire_schedules(&program.handles, &stop);
    let beside = async {
        if !has_begun {
            return;
        }
        tokio::select! {
            () = following => {}
            () = firing => {}
            _ = &mut gone => {}
        }
    };
    let manager = ServiceManager::find(config::environment);
    let is_whole = tokio::select! {
        is_whole = serving => Some(is_whole),
        () = ended(beside, &stop) => None,
        () = manager.follow(&stop) => None,
    };
    let Some(is_whole) = is_whole else {
        return Err(Failure::Failed(anyhow::anyhow!("stopped early")));
    };
    program.close().await;
    begun?;
    Ok(if is_whole { DONE } else { FAILED })
}

/// Prints the `address`, and how a program gets in if none can; entries have the address `entered`
/// unless they name another.
async fn announce(
    handles: &Handles,
    address: SocketAddr,
    entered: SocketAddr,
) -> Result<(), Failure> {
    writeln!(stdout(), "listening on http://{address}/mcp (Ctrl-C ends it)")?;
    if handles.access.list(None).await?.is_empty() {
        let url = match address == entered {
            true => String::new(),
            false => format!(" --url http://{address}/mcp"),
        };
        complain(&format!("no program has a token yet (glyphoxa mcp entry{url} makes one)"));
    }
    Ok(())
}

/// Fires the schedules of this machine until `stop`.
fn fire_schedules(
    handles: &Handles,
    stop: &CancellationToken,
) -> impl Future<Output = ()> + Send + use<> {
    let drives = Drives::Only(handles.scope(Owner::Local, None));
    let starts = Arc::new(handles.workflows.clone());
    handles.schedules.clone().run(drives, starts, stop.child_token())
}
