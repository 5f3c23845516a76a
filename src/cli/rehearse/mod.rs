//! `glyphoxa rehearse`: a table of this machine whose players are pages in browsers.
//!
//! Entry function: [`run`]. Follows changed files and fires schedules as `serve` does.

mod links;

use std::{
    io::Write,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use anyhow::Context;
use clap::Args;
use tokio_util::sync::CancellationToken;

use self::links::Invitations;
use super::{
    Configured, DONE, FAILED, Failure, block_on, listener::Listener, local_table::LocalTable,
    log_to_stderr, program::Program, signals::ended, stdout,
};
use crate::{
    app,
    campaign::Drives,
    config::Config,
    domain::Owner,
    web::{self, PageOutlets, Rehearsal, RehearsalTable, WebOptions},
};

#[derive(Args)]
#[command(after_help = "example: glyphoxa rehearse --npc Bartok")]
pub struct Arguments {
    /// NPC that joins the scene, and answers lines that name no other.
    #[arg(long, value_name = "NAME")]
    npc: Option<String>,
    /// Port of the page on this machine [default: 4100].
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Print the link without opening a browser.
    #[arg(long)]
    no_open: bool,
}

/// Rehearses until Ctrl-C or a request to end.
pub fn run(arguments: &Arguments, from: Configured) -> Result<u8, Failure> {
    let mut config = from.load()?;
    config.session.explains = true;
    if let Some(name) = &arguments.npc {
        app::find_npc(&config.npcs, name).map_err(Failure::usage)?;
    }
    let set_level = log_to_stderr(&config.log_level);
    block_on(rehearse(arguments, config, from, &set_level))
}

/// This machine alone is listened to, whatever else the configuration has the bot listen on.
fn options(arguments: &Arguments, config: &Config) -> WebOptions {
    let plain = WebOptions::default();
    let port = arguments.port.unwrap_or(plain.listen.port());
    let mcp = config.web.as_ref().map(|web| web.mcp).unwrap_or_default();
    WebOptions { listen: SocketAddr::from((Ipv4Addr::LOCALHOST, port)), mcp, ..plain }
}

async fn rehearse(
    arguments: &Arguments,
    config: Config,
    from: Configured<'_>,
    log_level: &(dyn Fn(&str) + Send + Sync),
) -> Result<u8, Failure> {
    let listener = Listener::bind(&options(arguments, &config)).await?;
    let agreed = from.agreements().with(&config);
    let program = Program::open(config, Some(&listener), true).await?;
    let data_dir = program.config.load().data_dir.clone();
    let (doors, joined) = Rehearsal::open(&data_dir)
        .with_context(|| format!("cannot store the page's key in '{}'", data_dir.display()))?;
    let (pages, outlets) = PageOutlets::open();
    let local = LocalTable::open(&program.handles, outlets, true).await?;
    let at = (&local.session, &local.table);
    let opened = RehearsalTable::of(&program.handles, program.mistakes.clone(), at, pages);
    let (table, told) = opened.context("the table has closed at once (see the log)")?;
    let base = format!("http://{}", listener.address());
    let invitations = Invitations { doors: doors.clone(), base };
    // An error ends the session in order.
    let begun = begin(arguments, &table, &invitations).await;
    let has_begun = begun.is_ok();
    let stop = CancellationToken::new();
    let listening = listener.start_with(&program.handles, doors, &stop);
    let sessions = program.handles.sessions.clone();
    let serving = async {
        listening.end().await;
        local.close(&sessions).await
    };
    let running = program.running(from, agreed, log_level);
    let drives = Drives::Only(program.handles.scope(Owner::Local, None));
    let starts = Arc::new(program.handles.workflows.clone());
    let firing = program.handles.schedules.clone().run(drives, starts, stop.child_token());
    let seating = web::seat_pages(Arc::clone(&table), joined);
    let music = web::play_music(Arc::clone(&table));
    let beside = async {
        if !has_begun {
            return;
        }
        tokio::select! {
            () = app::follow(running, Arc::clone(&program.config)) => {}
            () = firing => {}
            () = web::show_table(table, told) => {}
            () = seating => {}
            () = music => {}
            () = invitations.more() => {}
        }
    };
    let is_whole = tokio::select! {
        is_whole = serving => Some(is_whole),
        () = ended(beside, &stop) => None,
    };
    let Some(is_whole) = is_whole else {
        return Err(Failure::Failed(anyhow::anyhow!("stopped early")));
    };
    drop(sessions);
    program.close().await;
    begun?;
    Ok(if is_whole { DONE } else { FAILED })
}

/// Brings in the wanted NPC, and prints or opens the first link.
async fn begin(
    arguments: &Arguments,
    table: &RehearsalTable,
    invitations: &Invitations,
) -> Result<(), Failure> {
    if let Some(name) = &arguments.npc {
        table.bring_in(name).await.map_err(Failure::usage)?;
    }
    writeln!(stdout(), "rehearsing at {} (Ctrl-C ends it)", invitations.base)?;
    Ok(invitations.open(!arguments.no_open)?)
}
