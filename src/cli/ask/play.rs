//! Opens the parts of a table or the assistant, and plays the inputs. Entry function: [`run`].

use std::cell::Cell;

use clap::ArgMatches;

use super::{
    super::{Failure, block_on},
    arguments::{Arguments, Files},
    at_table::{SERVERS_PATIENCE, Said, Setting, at_table, uses},
    inputs::{What, inputs},
    print::Printer,
    sink,
    steps::load,
    terminal::Typed,
    written::assist,
};
use crate::{
    app::{self, Tools},
    campaign::{AccountFor, KeptError, KeptSession, Scoped},
    config::Config,
    domain::SessionId,
    session::Limits,
};

/// Plays the inputs through a table and prints the results. Fails on wrong usage, unreadable
/// inputs, or speech that cannot be heard or written.
pub fn run(
    arguments: &Arguments,
    matches: &ArgMatches,
    config: Config,
    files: Files<'_>,
) -> Result<u8, Failure> {
    let said = inputs(matches)?;
    let npc = match &arguments.npc {
        None => None,
        Some(name) => Some(app::find_npc(&config.npcs, name).map_err(Failure::usage)?.0),
    };
    if let Some(path) = &arguments.out {
        sink::check(path).map_err(Failure::usage)?;
    }
    let steps = said.into_iter().map(load).collect::<Result<Vec<_>, _>>()?;
    let mut kept = match &arguments.session {
        None => KeptSession::unkept(),
        Some(id) => kept(&config, id)?,
    };
    let _hold = kept.hold().map_err(told)?;
    let is_open = Cell::new(false);
    let playing = Playing { arguments, kept, files, is_open: &is_open };
    block_on(async {
        tokio::select! {
            status = play(playing, &config, Said { npc, steps }) => status,
            stopped = stopped_before(&is_open) => Err(stopped),
        }
    })
}

struct Playing<'a> {
    arguments: &'a Arguments,
    kept: KeptSession,
    files: Files<'a>,
    /// True once the table handles its own shutdown.
    is_open: &'a Cell<bool>,
}

/// Ctrl-C before the table opens; afterwards the table handles it.
async fn stopped_before(is_open: &Cell<bool>) -> Failure {
    loop {
        match tokio::signal::ctrl_c().await {
            Ok(()) if is_open.get() => {}
            Ok(()) => return Failure::Failed(anyhow::anyhow!("stopped before all was answered")),
            Err(error) => return error.into(),
        }
    }
}

/// The session that `--session` names.
fn kept(config: &Config, id: &str) -> Result<KeptSession, Failure> {
    let kept = KeptSession::open(&config.data_dir, id, &app::local_scope(config));
    kept.map_err(told)
}

/// Failure to open the session that `--session` names.
fn told(error: KeptError) -> Failure {
    match error {
        KeptError::Name(_) | KeptError::Elsewhere { .. } => {
            Failure::Usage(format!("--session: {error}"))
        }
        other => other.into(),
    }
}

/// Waits for required servers.
async fn required(tools: &Tools) -> anyhow::Result<()> {
    Ok(tools.servers.required().await?)
}

/// Opens the tools while the table is open.
async fn play(playing: Playing<'_>, config: &Config, said: Said) -> Result<u8, Failure> {
    let Playing { arguments, kept, files, is_open } = playing;
    let session = SessionId(kept.id().to_owned());
    // A session that is not saved has no transcript.
    let memory = match kept.call_log() {
        Some(_) => Some(app::open_memory(config).await?),
        None => None,
    };
    let scope = app::local_scope(config);
    let mut config = match &memory {
        Some(store) => app::for_session(config, Scoped::new(&**store, &scope), None)
            .await
            .map_err(anyhow::Error::from)?,
        None => app::with_names(config).await,
    };
    // The user of this machine pays.
    config.session.limits = Limits::NONE;
    // A prompt holds secrets that players must not see.
    config.session.explains = arguments.as_dm;
    let config = &config;
    let playing = app::Playing::Here(Some(&session));
    let tools = app::open_tools(config, playing, rand::random(), memory.clone())?;
    tools.level_music(config).await;
    let accounts = app::accounts(config, memory.clone()).await?;
    let account = match kept.call_log() {
        Some(_) => AccountFor::Kept { session: kept.id().to_owned(), before: kept.spent() },
        None => AccountFor::Play { session: String::new() },
    };
    let budget = accounts.open(&app::local_scope(config), account, &config.budget).await?;
    let setting = Setting { arguments, config, tools: &tools, memory, kept, budget, is_open };
    let status = match required(&tools).await {
        Ok(()) if arguments.assistant => in_writing(setting, said).await,
        Ok(()) => at_table(setting, said, files).await,
        Err(missing) => Err(Failure::Failed(missing)),
    };
    tools.close().await;
    accounts.close().await;
    status
}

/// Lets the assistant answer everything.
async fn in_writing(setting: Setting<'_>, said: Said) -> Result<u8, Failure> {
    let Setting { arguments, config, tools, .. } = &setting;
    let printer = Printer::new(arguments.form(), false);
    let budget = setting.budget.clone();
    let assistant = setting.assistant(setting.effects(&Typed::new(), &setting.permits()))?;
    let may_use = |server: &str| uses(&config.assistant, server);
    tools.servers.settled(SERVERS_PATIENCE, may_use).await;
    let questions = said.steps.into_iter().filter_map(|step| match step.input.what {
        What::Text(text) => Some(text),
        What::File(_) => None,
    });
    let questions: Vec<String> = questions.collect();
    let status = assist(&assistant, &questions, &tools.host, &printer).await;
    let histories = setting.kept.histories();
    setting.kept.save(histories, budget.spent())?;
    status
}
