//! `glyphoxa ask`: turns through the real table, from recordings, text, or typed lines.
//!
//! Entry function: [`run`].

mod books;
mod drive;
mod face;
mod inputs;
mod print;
mod sink;
mod slash;
mod steer;
mod written;

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::{ArgMatches, Args};

pub use face::Face;

use self::{
    books::Books,
    drive::{Driver, Pacing},
    face::{Approve, Typed},
    inputs::{Input, What, inputs},
    print::Printer,
    sink::WavSink,
    steer::Desk,
    written::assist,
};
use super::{DONE, FAILED, Failure, block_on, complain};
use crate::{
    app::{self, LiveConfig, OpenTables, Running, TableSetup, Tools},
    audio::{Clip, Resampler, SampleRate, decode},
    campaign::{
        Assistant, AssistantParts, CallLog, KeptError, KeptSession, Tables, Transcript,
        TranscriptWriter,
    },
    config::Config,
    domain::{Npc, SessionId, Tier},
    engine::Purse,
    logic::budget::Ledger,
    memory::MemoryStore,
    session::{Command, Pace, SceneChange, SeatId, TableEvents},
    tools::Effects,
};

/// Events of the table that wait to be printed.
const EVENT_CAPACITY: usize = 256;
/// Longest wait for servers of tools before the first of several inputs; a table that listens
/// does not wait for them.
const SERVERS_PATIENCE: Duration = Duration::from_secs(5);

#[derive(Args)]
#[command(after_help = "examples:
  glyphoxa ask --text 'Bartok, roll two d six plus three'
  glyphoxa ask --in question.wav --out answer.wav --json
  glyphoxa ask --speaker Anna --in a.wav --speaker Ben --at 1.5 --in b.wav
  glyphoxa ask --assistant --text 'how does grappling work?'
  glyphoxa ask                      (type to the cast)")]
pub struct Arguments {
    /// Everything is said to this NPC [default: whoever is addressed].
    #[arg(long)]
    npc: Option<String>,
    /// A recording of somebody speaking (WAV, Ogg Vorbis or MP3); may be repeated.
    #[arg(long = "in", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Something said in writing; may be repeated.
    #[arg(long = "text", value_name = "TEXT")]
    texts: Vec<String>,
    /// Who says what follows [default: Player].
    #[arg(long, value_name = "NAME")]
    speaker: Vec<String>,
    /// When the next input begins, in seconds; the clock then runs as for real.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    at: Vec<f64>,
    /// The speaker is the game master and may steer the NPCs by voice.
    #[arg(long)]
    as_dm: bool,
    /// The texts are questions of the game master to the assistant, answered in writing.
    #[arg(long, requires = "texts", conflicts_with_all = ["files", "npc", "at", "out", "tier"])]
    assistant: bool,
    /// Continue a kept session, or begin one with this name.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// All replies as one recording: 48 kHz mono, 16-bit PCM.
    #[arg(long, value_name = "FILE.wav")]
    out: Option<PathBuf>,
    /// The game master's tier for every turn.
    #[arg(long)]
    tier: Option<Tier>,
    /// Decide calls that need the game master's approval beforehand [default: ask, on a terminal].
    #[arg(long, value_name = "all|none")]
    approve: Option<Approve>,
    /// Feed sound at its own pace.
    #[arg(long)]
    realtime: bool,
    /// One JSON object a turn.
    #[arg(long)]
    json: bool,
}

/// Where the configuration came from, and what follows when it changes.
pub struct Files<'a> {
    /// Named on the command line.
    pub path: Option<PathBuf>,
    /// Sets what is logged.
    pub set_level: &'a (dyn Fn(&str) + Send + Sync),
}

/// Plays the inputs through a table and prints what came of them.
///
/// # Errors
/// Wrong usage, inputs that cannot be read, speech that cannot be heard or written.
pub fn run(
    arguments: &Arguments,
    matches: &ArgMatches,
    config: Config,
    files: Files<'_>,
) -> Result<u8, Failure> {
    let said = inputs(matches)?;
    let npc = match &arguments.npc {
        None => None,
        Some(name) => Some(app::find_npc(&config.npcs, name).map_err(Failure::Usage)?.0),
    };
    if let Some(path) = &arguments.out {
        sink::check(path).map_err(Failure::Usage)?;
    }
    let steps = said.into_iter().map(load).collect::<Result<Vec<_>, _>>()?;
    let kept = match &arguments.session {
        None => KeptSession::unkept(),
        Some(id) => KeptSession::open(&config.data_dir, id).map_err(|error| match error {
            KeptError::Name(_) => Failure::Usage(format!("--{error}")),
            other => other.into(),
        })?,
    };
    block_on(play(arguments, &config, (npc, steps), (kept, files)))
}

/// Whether sound is fed at its own pace.
fn clock_runs(arguments: &Arguments, steps: &[Step]) -> bool {
    arguments.realtime || steps.iter().any(|step| step.input.at.is_some())
}

/// One thing said, its sound at 16 kHz.
pub struct Step {
    /// Who, when, what.
    pub input: Input,
    /// 16 kHz mono; empty for text.
    pub samples: Vec<i16>,
}

fn load(input: Input) -> Result<Step, Failure> {
    let samples = match &input.what {
        What::Text(_) => Vec::new(),
        What::File(path) => read_speech(path).map_err(|why| {
            Failure::Failed(anyhow::anyhow!("cannot hear '{}': {why}", path.display()))
        })?,
    };
    Ok(Step { input, samples })
}

/// A recording as a recogniser reads it.
fn read_speech(path: &Path) -> anyhow::Result<Vec<i16>> {
    let bytes = std::fs::read(path)?;
    let Clip { samples, rate } = decode(&bytes, path.extension().and_then(|end| end.to_str()))?;
    if rate == SampleRate::HZ_16000 {
        return Ok(samples);
    }
    let mut resampler = Resampler::new(rate, SampleRate::HZ_16000)?;
    let mut out = Vec::new();
    resampler.push(&samples, &mut out);
    resampler.finish(&mut out);
    Ok(out)
}

/// Waits for the servers nothing starts without.
async fn required(tools: &Tools) -> anyhow::Result<()> {
    Ok(tools.servers.required().await?)
}

/// Opens the tools for as long as there is a table.
async fn play(
    arguments: &Arguments,
    config: &Config,
    said: (Option<usize>, Vec<Step>),
    (kept, files): (KeptSession, Files<'_>),
) -> Result<u8, Failure> {
    let session = SessionId(kept.id().to_owned());
    // What is forgotten at the end is not written down.
    let memory = match kept.call_log() {
        Some(_) => Some(app::open_memory(config).await?),
        None => None,
    };
    let config = &match &memory {
        Some(store) => {
            app::for_session(config, &**store, None).await.map_err(anyhow::Error::from)?
        }
        None => app::with_names(config).await,
    };
    let tools = app::open_tools(config, Some(&session), rand::random(), memory.clone())?;
    let status = match required(&tools).await {
        Ok(()) if arguments.assistant => {
            in_writing(arguments, (config, &tools), said.1, kept).await
        }
        Ok(()) => at_table(arguments, (config, &tools, memory), said, (kept, files)).await,
        Err(missing) => Err(Failure::Failed(missing)),
    };
    tools.close().await;
    status
}

/// Has the assistant answer everything.
async fn in_writing(
    arguments: &Arguments,
    (config, tools): (&Config, &Tools),
    steps: Vec<Step>,
    kept: KeptSession,
) -> Result<u8, Failure> {
    let printer = Printer::new(arguments.json, false);
    let purse = Purse::new(Ledger::new(config.budget.clone(), kept.spent()));
    let effects = face(arguments, &Typed::new());
    let assistant = assistant(config, tools, &kept, purse.clone(), effects)?;
    let may_use = |server: &str| uses(&config.assistant, server);
    tools.servers.settled(SERVERS_PATIENCE, may_use).await;
    let questions = steps.into_iter().filter_map(|step| match step.input.what {
        What::Text(text) => Some(text),
        What::File(_) => None,
    });
    let questions: Vec<String> = questions.collect();
    let status = assist(&assistant, &questions, &tools.host, &printer).await;
    let histories = kept.histories();
    kept.save(histories, purse.spent())?;
    status
}

/// What tools reach here.
fn face(arguments: &Arguments, typed: &Arc<Typed>) -> Arc<dyn Effects> {
    Arc::new(Face { aloud: !arguments.json, approve: arguments.approve, typed: Arc::clone(typed) })
}

/// The game master's assistant, paid for from `purse`.
fn assistant(
    config: &Config,
    tools: &Tools,
    kept: &KeptSession,
    purse: Purse,
    effects: Arc<dyn Effects>,
) -> Result<Assistant, Failure> {
    let parts = AssistantParts {
        session: SessionId(kept.id().to_owned()),
        purse,
        host: tools.host.clone(),
        effects,
        seed: rand::random(),
    };
    Ok(Assistant::open(&app::assistant(&tools.services, config), parts)?)
}

/// Plays everything through a table.
async fn at_table(
    arguments: &Arguments,
    (config, tools, memory): (&Config, &Tools, Option<Arc<dyn MemoryStore>>),
    (npc, steps): (Option<usize>, Vec<Step>),
    (kept, files): (KeptSession, Files<'_>),
) -> Result<u8, Failure> {
    let clock_runs = clock_runs(arguments, &steps);
    let stt = app::recogniser(&tools.services, config)?;
    if steps.iter().any(|step| matches!(step.input.what, What::File(_))) {
        print::while_waiting("learning the names of this campaign", stt.ready()).await?;
    }
    if !steps.is_empty() && !clock_runs {
        // What is asked at once would find no tools yet.
        tools.servers.settled(SERVERS_PATIENCE, |server| may_use(config, server)).await;
    }
    let printer = Printer::new(arguments.json, steps.is_empty() && io::stdin().is_terminal());
    let tables = Tables::default();
    let books = books((config, tools), (&kept, memory.clone()), &tables)?;
    let sink = WavSink::default();
    let events = TableEvents::new(EVENT_CAPACITY);
    let told = events.subscribe();
    let typed = Typed::new();
    let effects = face(arguments, &typed);
    let setup = TableSetup {
        session: SessionId(kept.id().to_owned()),
        histories: kept.histories(),
        spent: kept.spent(),
        services: tools.services.clone(),
        stt,
        out: Box::new(sink.clone()),
        pace: if clock_runs { Pace::RealTime } else { Pace::Free },
        effects: Arc::clone(&effects),
        host: tools.host.clone(),
        events: events.clone(),
        backlog: books.as_ref().map(Books::backlog).unwrap_or_default(),
        memory,
        seed: rand::random(),
    };
    let table = app::open_table(config, setup)?;
    let commands = table.handle.commands.clone();
    let open = OpenTables::default();
    open.add(&table);
    tables.add(&events);
    let running = Running { path: files.path, tables, open, tools, log_level: files.set_level };
    if let Some(change) = npc.and_then(|seat| brought(config, seat)) {
        commands.send(Command::Scene(change)).await?;
    }
    commands.send(Command::Pin { seat: npc.map(SeatId), player: None }).await?;
    let tier = Command::SetTier { seat: None, tier: arguments.tier, until: None };
    commands.send(tier).await?;
    let pacing = if clock_runs { Pacing::Clock } else { Pacing::AsFastAsHeard };
    let mut driver = Driver::new(table.handle, told, (printer, books), pacing);
    let live = LiveConfig::new(config.clone(), tools.services.clone());
    let following = app::follow(running, live);
    let assistant = assistant(config, tools, &kept, table.purse.clone(), effects)?;
    let desk = Desk { assistant: &assistant, npcs: &config.npcs, is_dm: arguments.as_dm };
    let driven = drive(&mut driver, &steps, following, (&typed, &desk)).await;
    commands.send(Command::Close).await?;
    let ended = table.task.await?;
    driver.close_books().await?;
    driven?;
    kept.save(ended.histories.into_iter().collect::<BTreeMap<_, _>>(), table.purse.spent())?;
    if let Some(path) = &arguments.out {
        sink.write(path)?;
    }
    let well = driver.last_outcome().is_some_and(|outcome| outcome.is_well());
    Ok(if well || driver.is_quiet_end() { DONE } else { FAILED })
}

/// What brings somebody who was asked for and is not in the campaign's first scene.
fn brought(config: &Config, seat: usize) -> Option<SceneChange> {
    let (npc, scene) = (config.npcs.get(seat)?, config.campaign.scenes.first()?);
    if scene.npcs.contains(&npc.name) {
        return None;
    }
    complain(&format!("{} is not in the scene '{}', and comes to be asked", npc.name, scene.name));
    Some(SceneChange::Enter(SeatId(seat)))
}

/// Where a kept session is written down.
fn books(
    (config, tools): (&Config, &Tools),
    (kept, memory): (&KeptSession, Option<Arc<dyn MemoryStore>>),
    tables: &Tables,
) -> Result<Option<Books>, Failure> {
    let (Some(path), Some(store)) = (kept.call_log(), memory) else { return Ok(None) };
    let calls = CallLog::open(path, kept.id())?;
    let transcripts = TranscriptWriter::open(store, tables.clone(), &config.memory.transcripts);
    let session = SessionId(kept.id().to_owned());
    let written = Transcript { scope: app::local_scope(config), session };
    transcripts.begins(&written);
    let indexer = tools.index(config, &transcripts);
    Ok(Some(Books { calls, transcripts, indexer, written }))
}

/// Whether an NPC may use tools of `server`; a bare name may be any server's.
fn may_use(config: &Config, server: &str) -> bool {
    config.npcs.iter().any(|npc| uses(npc, server))
}

/// Whether this one may.
fn uses(npc: &Npc, server: &str) -> bool {
    let entries = npc.tools.iter().map(|entry| entry.split_once('.'));
    entries.into_iter().any(|it| it.is_none_or(|(of, _)| of == server))
}

/// Plays the steps, or what is typed while changed files are followed, until the end or ctrl-C.
async fn drive(
    driver: &mut Driver,
    steps: &[Step],
    following: impl Future<Output = ()>,
    (typed, desk): (&Typed, &Desk<'_>),
) -> Result<(), Failure> {
    let driven = async {
        if steps.is_empty() {
            driver.typed_lines(typed, desk).await
        } else {
            driver.steps(steps).await
        }
    };
    tokio::select! {
        driven = driven => driven?,
        () = following, if steps.is_empty() => {}
        interrupted = tokio::signal::ctrl_c() => {
            interrupted?;
            // Whoever typed has finished; recordings are answered whole or not at all.
            if steps.is_empty() {
                return Ok(());
            }
            return Err(Failure::Failed(anyhow::anyhow!("stopped; nothing was written")));
        }
    }
    // Whoever does not wait leaves it to the next time.
    tokio::select! {
        summed_up = print::while_waiting("summing up what was said", driver.sum_up()) => summed_up,
        interrupted = tokio::signal::ctrl_c() => Ok(interrupted?),
    }
}
