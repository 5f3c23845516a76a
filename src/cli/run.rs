//! `glyphoxa run`: the bot. Entry function: [`run`].

use std::{path::Path, sync::Arc};

use tokio_util::sync::CancellationToken;

use super::{Configured, DONE, Failure, complain, listener::Listener};
use crate::{
    app::{self, FactoryParts, LiveConfig, OpenTables, Running, TableFactory},
    campaign::{ServedGuilds, Tables, TranscriptWriter},
    config::Config,
    discord,
    provider::RecogniserEntry,
};

/// Runs the bot until Ctrl-C or a request to end. Fails on faults that only its owner can fix.
pub fn run(
    config: Config,
    from: Configured,
    set_level: &(dyn Fn(&str) + Send + Sync),
) -> Result<u8, Failure> {
    if config.discord.token.0.is_empty() {
        return Err(Failure::Usage(
            "no bot token (put DISCORD_TOKEN into the environment, or set discord.token; \
             to try the cast without Discord: glyphoxa ask)"
                .to_owned(),
        ));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let status = runtime.block_on(serve(config, from, set_level));
    // Does not wait for recognisers and voices in use.
    runtime.shutdown_background();
    status
}

/// Tells the bot to stop once it is to end, and returns if it is told again.
async fn ended(following: impl Future<Output = ()>, stop: &CancellationToken) {
    tokio::select! {
        () = following => {}
        () = told_to_end() => {}
    }
    complain("shutting down; sessions are closed first (press Ctrl-C again to stop at once)");
    stop.cancel();
    // A second signal ends the program at once.
    told_to_end().await;
}

async fn serve(
    config: Config,
    from: Configured<'_>,
    log_level: &(dyn Fn(&str) + Send + Sync),
) -> Result<u8, Failure> {
    let (path, agreed) = (from.path.map(Path::to_owned), from.agreements().with(&config));
    // A port that is in use stops the bot before anything else starts.
    let listener = Listener::bind(config.web.as_ref()).await?;
    let store = app::open_memory(&config).await?;
    if let Some(listener) = &listener {
        listener.check_tokens(&store).await?;
    }
    let (playing, seed) = (app::Playing::Sessions, rand::random());
    let tools = app::open_tools(&config, playing, seed, Some(Arc::clone(&store)))?;
    tools.level_music(&config).await;
    let tools = Arc::new(tools);
    check_services(&tools, &config).await?;
    let (options, tables, open) = (bot_options(&config), Tables::default(), OpenTables::default());
    let accounts = app::accounts(&config, Some(Arc::clone(&store))).await?;
    let config = LiveConfig::new(config, tools.services.clone());
    let transcripts =
        TranscriptWriter::open(store, tables.clone(), &config.load().memory.transcripts);
    let indexer = tools.index(None, &transcripts);
    let handles = TableFactory::handles(
        FactoryParts {
            config: Arc::clone(&config),
            tools: Arc::clone(&tools),
            open: open.clone(),
            transcripts: transcripts.clone(),
            accounts: accounts.clone(),
        },
        tables.clone(),
    )?;
    let workflows = handles.workflows.clone();
    let (stop, memory) = (CancellationToken::new(), Some(transcripts.store()));
    let listening = listener.map(|listener| listener.start(&handles, transcripts.store(), &stop));
    let running =
        Running { path, agreed, tables, open, tools: &tools, memory, is_local: false, log_level };
    let bot = discord::run(options, handles, stop.clone());
    let beside = ended(app::follow(running, config), &stop);
    let ended = tokio::select! {
        ended = bot => Some(ended),
        () = beside => None,
    };
    let Some(ended) = ended else { return Err(Failure::Failed(anyhow::anyhow!("stopped early"))) };
    stop.cancel();
    if let Some(listening) = listening {
        listening.end().await;
    }
    workflows.close().await;
    ended.map_err(|fatal| Failure::Failed(fatal.into()))?;
    if let Some(missing) = transcripts.close().await {
        complain(&missing);
    }
    indexer.close().await;
    accounts.close().await;
    if let Some(tools) = Arc::into_inner(tools) {
        tools.close().await;
    }
    Ok(DONE)
}

/// Fails on services that only the bot's owner can fix.
async fn check_services(tools: &app::Tools, config: &Config) -> Result<(), Failure> {
    // Errors in the recogniser's options stop the bot here; missing model files do not.
    tools.services.recogniser(&config.services)?;
    if let RecogniserEntry::Local(here) = &config.services.recogniser
        && let Err(why) = here.found()
    {
        tracing::error!(%why, "no player will be heard");
    }
    // Loads it for the first session, and reports a failure now.
    app::turn_judge(&tools.services, config).await;
    tools.servers.required().await?;
    Ok(())
}

/// The bot's options; prints the setup code if no servers are listed.
fn bot_options(config: &Config) -> discord::Options {
    let mut options = app::bot_options(&config.discord);
    if options.served == ServedGuilds::LetIn {
        let code = discord::admission_code(rand::random());
        complain(&format!(
            "to let a Discord server in, use '/setup code:{code}' there (or set discord.guilds)"
        ));
        options.code = Some(code);
    }
    options
}

/// Waits for Ctrl-C or the system's request to end; forever if signals cannot be received.
async fn told_to_end() {
    if let Err(error) = signalled().await {
        tracing::error!(%error, "cannot listen for signals");
        std::future::pending::<()>().await;
    }
}

async fn signalled() -> std::io::Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}
