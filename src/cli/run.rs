//! `glyphoxa run`: the bot. Entry function: [`run`].

use std::sync::Arc;

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::{
    Configured, DONE, Failure, complain, listener::Listener, program::Program,
    service_manager::ServiceManager, signals::ended,
};
use crate::{
    app,
    campaign::{LEASE_TTL, Node, ServedGuilds},
    config::{self, Config, MemoryPlace, TO_SHARE, UNSHARED},
    discord::{self, Sharing},
};

/// Longest name of a process, in characters: the longest name of a host.
const NAME_MAX: usize = 253;

#[derive(Args, Default)]
#[command(after_help = "example: glyphoxa run --node cellar")]
pub struct Arguments {
    /// Name of this process among several that share one PostgreSQL [default: none, with `cluster`
    /// the machine's].
    #[arg(long, value_name = "NAME", value_parser = name)]
    node: Option<String>,
}

fn name(given: &str) -> Result<String, String> {
    let is_name = !given.trim().is_empty()
        && given.chars().count() <= NAME_MAX
        && !given.chars().any(char::is_control);
    match is_name {
        true => Ok(given.trim().to_owned()),
        false => Err(format!("invalid name (use 1 to {NAME_MAX} characters)")),
    }
}

/// Runs the bot until Ctrl-C or a request to end. Fails on faults that only its owner can fix.
pub fn run(
    arguments: &Arguments,
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
    let sharing = sharing(arguments, &config)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let status = runtime.block_on(serve(config, sharing, from, set_level));
    // Does not wait for recognisers and voices in use.
    runtime.shutdown_background();
    status
}

/// This run of the program beside others; `None`: it is the only one. Fails for a named one that
/// shares no memory with others.
fn sharing(arguments: &Arguments, config: &Config) -> Result<Option<Sharing>, Failure> {
    if arguments.node.is_none() && config.cluster.is_none() {
        return Ok(None);
    }
    let is_alone = matches!(config.memory.place, MemoryPlace::File(_));
    match &arguments.node {
        Some(name) if is_alone => {
            return Err(Failure::Usage(format!(
                "--node '{name}': {UNSHARED} (set memory.url, or leave out --node)"
            )));
        }
        None if is_alone => tracing::warn!("cluster: {UNSHARED} ({TO_SHARE})"),
        _ => {}
    }
    let host = || rustix::system::uname().nodename().to_string_lossy().into_owned();
    let node = Node {
        name: arguments.node.clone().unwrap_or_else(host),
        run: format!("{:032x}", rand::random::<u128>()),
        build: env!("CARGO_PKG_VERSION").to_owned(),
        shards: config.cluster.map_or(1, |it| it.shards),
        capacity: config.cluster.and_then(|it| it.capacity),
        ..Node::default()
    };
    let ttl = config.cluster.map_or(LEASE_TTL, |it| it.lease);
    Ok(Some(Sharing { node, ttl }))
}

async fn serve(
    config: Config,
    sharing: Option<Sharing>,
    from: Configured<'_>,
    log_level: &(dyn Fn(&str) + Send + Sync),
) -> Result<u8, Failure> {
    let agreed = from.agreements().with(&config);
    // A port that is in use stops the bot before anything else starts.
    let listener = match &config.web {
        Some(options) => Some(Listener::bind(options).await?),
        None => None,
    };
    let program = Program::open(config, listener.as_ref(), true).await?;
    let (options, stop) = (bot_options(&program.config.load()), CancellationToken::new());
    let listening = listener.map(|listener| {
        complain(&format!("listening on http://{}", listener.address()));
        listener.start(&program.handles, true, &stop)
    });
    let running = program.running(from, agreed, log_level);
    let bot = discord::run(options, program.handles.clone(), sharing, stop.clone());
    let beside = ended(app::follow(running, Arc::clone(&program.config)), &stop);
    let manager = ServiceManager::find(config::environment);
    let ended = tokio::select! {
        ended = bot => Some(ended),
        () = beside => None,
        () = manager.follow(&stop) => None,
    };
    let Some(ended) = ended else { return Err(Failure::Failed(anyhow::anyhow!("stopped early"))) };
    stop.cancel();
    if let Some(listening) = listening {
        listening.end().await;
    }
    if let Err(fatal) = ended {
        program.handles.workflows.close().await;
        return Err(Failure::Failed(fatal.into()));
    }
    program.close().await;
    Ok(DONE)
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::tools::builtin;

    #[test]
    fn named_process_needs_a_shared_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("glyphoxa.yaml");
        for (memory, is_shared) in [("", false), ("memory: { url: 'postgres://db/t' }", true)] {
            let npc = "npcs: [{ name: Bart, lines: [{ say: hi }] }]";
            fs::write(&path, format!("{npc}\n{memory}\n")).unwrap();
            let config = config::load(Some(&path), &|_| None, builtin::IDENTITIES).unwrap();
            let named = Arguments { node: Some("cellar".to_owned()) };
            let beside = sharing(&named, &config);
            assert_eq!(beside.is_ok_and(|it| it.is_some()), is_shared, "{memory}");
            let alone = sharing(&Arguments::default(), &config);
            assert!(alone.is_ok_and(|it| it.is_none()), "{memory}");
        }
    }
}
