//! The command line: one file per subcommand. Entry function: [`main`].

mod ask;
mod check;
mod cost;
mod doctor;
mod export;
mod forget;
mod import;
mod invite;
mod listener;
mod local_table;
mod log;
mod mcp;
mod memory;
mod models;
mod program;
mod rehearse;
mod roll;
mod run;
mod runtime;
mod schedule;
mod schema;
mod serve;
mod service_manager;
mod session;
mod shown;
mod signals;
mod tier;
mod token;
mod tools;
mod trust;
mod voices;
mod whose;
mod workflow;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use self::{
    log::log_to_stderr,
    runtime::{DONE, FAILED, Failure, WRONG, block_on, is_closed_pipe, load, with_tools},
    shown::{complain, counted, report_panics, stderr, stdout, within},
    trust::Configured,
};
use crate::{
    app,
    config::{SchemaKind, Use},
    domain::redact,
    launch,
    tools::builtin,
};

/// AI-voiced NPCs for tabletop role-playing.
#[derive(Parser)]
#[command(name = "glyphoxa", version, about)]
struct Arguments {
    /// Configuration file [default: glyphoxa.yaml here, then the shipped cast].
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Do what the configuration says without asking: start its programs, and send to its addresses.
    // The container has it already.
    #[arg(long, global = true, overrides_with = "trust")]
    trust: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the bot, which joins voice channels and plays the NPCs (the default).
    #[command(after_help = "example: DISCORD_TOKEN=... glyphoxa run")]
    Run(run::Arguments),
    /// Serves programs on this machine without Discord: they have NPCs speak, and call tools.
    Serve(serve::Arguments),
    /// Talks to the NPCs in the browser: speak or type, hear the answer, see the reasons for it.
    Rehearse(rehearse::Arguments),
    /// Talks to the NPCs by recordings, text or typed lines.
    Ask(ask::Arguments),
    /// Checks all files and reports every mistake.
    #[command(after_help = "example: glyphoxa check --config table/glyphoxa.yaml")]
    Check {
        /// Also ask the voice services whether they have the NPCs' voices.
        #[arg(long)]
        online: bool,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Prints a JSON Schema for editors.
    #[command(after_help = "example: glyphoxa schema npc > npc.schema.json")]
    Schema {
        /// Kind of file.
        kind: Kind,
    },
    /// Checks this machine, the services and the bot, and suggests a fix for each fault.
    Doctor(doctor::Arguments),
    /// Prints the link that invites the bot to a server.
    Invite(invite::Arguments),
    /// Lists, shows, recaps, exports and deletes saved sessions.
    Session(session::Arguments),
    /// Searches and edits the NPCs' memory.
    Memory(memory::Arguments),
    /// Lists, makes and cancels schedules of workflows and NPCs' lines.
    Schedule(schedule::Arguments),
    /// Lists voices of the configured services, and plays them.
    Voices(voices::Arguments),
    /// Manages model files for hearing, speaking and the end of a turn.
    Models(models::Arguments),
    /// Imports campaign files, files of other programs, and exports.
    Import(import::Arguments),
    /// Exports a campaign as a folder of plain files, with transcripts and character cards.
    Export(export::Arguments),
    /// Rolls dice, in the notation of Avrae and others.
    Roll(roll::Arguments),
    /// Predicts the latency tier of an utterance, with the reason.
    Tier(tier::Arguments),
    /// Lists, calls, measures and counts the NPCs' tools.
    Tools(tools::Arguments),
    /// Shows what a month has cost, by service, NPC, tool and session.
    Cost(cost::Arguments),
    /// Manages MCP servers, which provide tools.
    #[command(after_help = "example: glyphoxa mcp servers")]
    Mcp(mcp::Arguments),
    /// Makes, lists and revokes access tokens for programs outside.
    Token(token::Arguments),
    /// Lists, checks and runs workflows: prepared scenes, music, lines, rolls and tools.
    Workflow(workflow::Arguments),
    /// Shows what a folder's configuration starts and sends, and records that you agree.
    Trust(trust::Arguments),
}

/// Kinds of files with a schema.
#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// `glyphoxa.yaml`.
    Config,
    /// An NPC file.
    Npc,
    /// A campaign file.
    Campaign,
    /// A file of rules.
    Rules,
    /// A file of a tool.
    Tool,
    /// `music.yaml` in a folder of music.
    Music,
    /// A file of a workflow.
    Workflow,
}

impl From<Kind> for SchemaKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Config => Self::Config,
            Kind::Npc => Self::Npc,
            Kind::Campaign => Self::Campaign,
            Kind::Rules => Self::Rules,
            Kind::Tool => Self::Tool,
            Kind::Music => Self::Music,
            Kind::Workflow => Self::Workflow,
        }
    }
}

/// Runs the command of the arguments. Must be called before the process starts any threads.
pub fn main() -> ExitCode {
    if let Some(status) = launch::helper(std::env::args_os().skip(1)) {
        return status;
    }
    launch::hide();
    report_panics();
    let matches = Arguments::command().get_matches();
    let arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    let status = match run(arguments, &matches) {
        Ok(status) => status,
        Err(Failure::Usage(text)) => {
            complain(&redact::known(&text));
            WRONG
        }
        Err(Failure::Failed(error)) if is_closed_pipe(&error) => DONE,
        Err(Failure::Failed(error)) => {
            complain(&redact::known(&format!("{error:#}")));
            FAILED
        }
    };
    ExitCode::from(status)
}

fn run(arguments: Arguments, matches: &ArgMatches) -> Result<u8, Failure> {
    let path = arguments.config.as_deref();
    let configured = Configured { path, is_trusted: arguments.trust };
    match arguments.command.unwrap_or_else(|| Command::Run(run::Arguments::default())) {
        Command::Run(run) => {
            let config = configured.load()?;
            let set_level = log_to_stderr(&config.log_level);
            run::run(&run, config, configured, &set_level)
        }
        Command::Serve(serve) => serve::run(&serve, configured),
        Command::Rehearse(rehearse) => rehearse::run(&rehearse, configured),
        Command::Ask(ask) => {
            let config = configured.load()?;
            let set_level = log_to_stderr(&config.log_level);
            let own = matches.subcommand_matches("ask").unwrap_or(matches);
            let agreed = configured.agreements().with(&config);
            let path = path.map(Path::to_owned);
            let files = ask::Files { path, agreed, set_level: &set_level };
            ask::run(&ask, own, config, files)
        }
        Command::Check { online: true, json } => check::run_online(configured, json),
        Command::Check { online: false, json } => {
            let outputs = check::Outputs { out: &mut stdout(), err: &mut stderr() };
            Ok(check::run(path, json, builtin::IDENTITIES, outputs)?)
        }
        Command::Schema { kind } => {
            schema::write(kind.into(), &mut stdout())?;
            Ok(DONE)
        }
        Command::Doctor(doctor) => doctor::run(configured, &doctor),
        Command::Invite(invite) => invite::run(&configured.load_for(Use::Discord)?, &invite),
        Command::Session(session) => {
            let config = configured.load_for(session.does())?;
            session::run(&config, session)
        }
        Command::Memory(memory) => memory::run(&configured.load_for(Use::Remember)?, memory),
        Command::Schedule(schedule) => {
            schedule::run(&configured.load_for(Use::Remember)?, schedule)
        }
        Command::Voices(voices) => voices::run(&configured.load()?, &voices),
        Command::Models(models) => models::run(&configured.load_for(Use::Download)?, models),
        Command::Import(import) => import::run(configured, &import),
        Command::Export(export) => export::run(&configured.load_for(Use::Remember)?, &export),
        Command::Roll(roll) => roll::run(&roll),
        Command::Tier(tier) => {
            let config = configured.load_for(Use::Remember)?;
            block_on(async { tier::run(&app::with_names(&config).await, &tier) })
        }
        Command::Tools(tools) => {
            let config = configured.load_for(tools.does())?;
            let _fixed = log_to_stderr(&config.log_level);
            tools::run(&config, tools)
        }
        Command::Cost(cost) => cost::run(&configured.load_for(Use::Remember)?, &cost),
        Command::Mcp(mcp) => mcp::run(configured, mcp),
        Command::Token(token) => token::run(&configured.load_for(Use::Remember)?, token),
        Command::Workflow(workflow) => workflow::run(configured, &workflow),
        Command::Trust(trust) => trust::run(configured, &trust),
    }
}
