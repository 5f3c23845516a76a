//! Plays inputs through a table. Entry function: [`at_table`].

use std::{
    cell::Cell,
    io::{self, IsTerminal},
    sync::Arc,
    time::Duration,
};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc,
};

use super::{
    super::{DONE, FAILED, Failure, complain},
    arguments::{Arguments, Files},
    drive::{Driver, Pacing},
    face::{LocalPermits, LocalRuns, RecapParts, SlashContext},
    inputs::What,
    local::{LocalMemory, Saved},
    planned::LocalSchedules,
    player::Player,
    print::{self, Printer},
    record::SessionRecord,
    sink::WavSink,
    steps::Step,
    terminal::{PictureFiles, TerminalEffects, Typed, is_yes},
};
use crate::{
    app::{self, LiveConfig, OpenTable, OpenTables, Resumed, Running, SeatedTable, Tools},
    campaign::{
        Accounts, Assistant, AssistantParts, CallLog, Dice, EveningTable, KeptSession, LinkParts,
        Mistakes, SeededWorlds, TableLink, Tables, Transcript, TranscriptWriter, WorkflowParts,
        WorkflowRuns,
    },
    config::Config,
    domain::{Npc, SessionId},
    engine::Budget,
    memory::{Automation, MemoryStore},
    provider::{Chain, SpeechToText},
    session::{
        Command, Continuation, Conversations, Halts, MusicPlayer, Outlets, SceneChange, SeatId,
        TableEvents, TableSetup,
    },
    tools::Effects,
};

/// Events waiting to be printed: a burst of several turns. Later ones replace the oldest.
const EVENT_CAPACITY: usize = 256;
/// Longest wait for servers of tools before the first of several inputs.
pub const SERVERS_PATIENCE: Duration = Duration::from_secs(5);

/// Text and addressee.
pub struct Said {
    /// Seat of the NPC that hears everything; `None`: the addressed one.
    pub npc: Option<usize>,
    /// In order; empty for typed lines.
    pub steps: Vec<Step>,
}

/// Parts of a table or the assistant.
pub struct Setting<'a> {
    pub arguments: &'a Arguments,
    /// The configuration of this session.
    pub config: &'a Config,
    pub tools: &'a Tools,
    /// `None`: nothing is recorded.
    pub memory: Option<Arc<dyn MemoryStore>>,
    /// The session to continue, if any.
    pub kept: KeptSession,
    pub budget: Budget,
    /// True once the table handles its own shutdown.
    pub is_open: &'a Cell<bool>,
}

enum End {
    /// All inputs were played.
    Whole,
    /// The typist has left.
    Left,
    /// The typist skipped the rest.
    Stopped,
}

impl Setting<'_> {
    fn session(&self) -> SessionId {
        SessionId(self.kept.id().to_owned())
    }

    /// Tools that need no more approval.
    pub fn permits(&self) -> Arc<LocalPermits> {
        LocalPermits::open(self.config, &self.tools.host, self.session())
    }

    pub fn effects(&self, typed: &Arc<Typed>, permits: &Arc<LocalPermits>) -> Arc<dyn Effects> {
        let Arguments { json, approve, as_dm, assistant, .. } = *self.arguments;
        let (typed, permits) = (Arc::clone(typed), Some(Arc::clone(permits)));
        let is_dm = as_dm || assistant;
        let pictures = self.arguments.out.clone().map(PictureFiles::beside);
        Arc::new(TerminalEffects { aloud: !json, approve, is_dm, typed, permits, pictures })
    }

    pub fn assistant(&self, effects: Arc<dyn Effects>) -> Result<Assistant, Failure> {
        let parts = AssistantParts {
            session: self.session(),
            budget: self.budget.clone(),
            host: self.tools.host.clone(),
            effects,
            seed: rand::random(),
        };
        Ok(Assistant::open(&app::assistant(&self.tools.services, self.config), parts)?)
    }

    /// For recaps of the session that `record` writes.
    fn recap(&self, record: Option<&SessionRecord>) -> Option<RecapParts> {
        record.map(|record| RecapParts {
            transcripts: record.transcripts.clone(),
            written: record.written.clone(),
            assistant: app::assistant(&self.tools.services, self.config),
            budget: self.budget.clone(),
        })
    }

    /// The memory of this machine, for commands.
    fn local_memory(&self, live: &LiveConfig, record: Option<&SessionRecord>) -> LocalMemory {
        LocalMemory {
            config: live.load_full(),
            settings: live.settings(),
            store: self.memory.clone(),
            schedules: LocalSchedules::open(self.config, live.settings(), self.memory.clone()),
            seeded: SeededWorlds::default(),
            saved: record.map(|record| Saved {
                transcripts: record.transcripts.clone(),
                session: self.kept.id().to_owned(),
            }),
        }
    }

    /// File for a saved session; `None`: it is not saved.
    fn record(&self, tables: &Tables) -> Result<Option<SessionRecord>, Failure> {
        let (Some(path), Some(store)) = (self.kept.call_log(), &self.memory) else {
            return Ok(None);
        };
        let calls = CallLog::open(path, self.kept.id())?;
        let options = &self.config.memory.transcripts;
        let transcripts = TranscriptWriter::open(Arc::clone(store), tables.clone(), options);
        let scope = app::local_scope(self.config);
        let indexer = self.tools.index(Some(scope.clone()), &transcripts);
        let written = Transcript { scope, session: self.session() };
        transcripts.begins(&written);
        let data_dir = self.config.data_dir.clone();
        Ok(Some(SessionRecord { calls, transcripts, indexer, written, data_dir }))
    }

    /// Waits for servers of tools; without this, an early question would find no tools.
    async fn find_servers(&self) {
        self.tools.servers.settled(SERVERS_PATIENCE, |server| self.may_use(server)).await;
    }

    /// Parts that changed files affect.
    fn running<'r>(&'r self, files: Files<'r>, tables: Tables, open: OpenTables) -> Running<'r> {
        let (tools, memory) = (self.tools, self.memory.clone());
        let Files { path, agreed, set_level: log_level } = files;
        let mistakes = Mistakes::default();
        Running { path, agreed, tables, open, tools, memory, mistakes, is_local: true, log_level }
    }

    /// The table, for updates from changed files.
    fn seated(&self, table: &OpenTable) -> SeatedTable {
        let (commands, scope) = (&table.handle.commands, app::local_scope(self.config));
        SeatedTable::new(commands, &table.seats, scope, self.config, &self.tools.lists)
    }

    /// The configuration, updated from its files.
    fn live_config(&self) -> Arc<LiveConfig> {
        LiveConfig::new(self.config.clone(), self.tools.services.clone())
    }

    /// Failure of a stopped run; says how to see the lines so far, or that none are saved.
    fn stopped(&self) -> Failure {
        let kept = match self.kept.call_log() {
            Some(_) => {
                format!("the lines so far are saved (glyphoxa session show {})", self.kept.id())
            }
            None => "nothing is saved (--session NAME saves it)".to_owned(),
        };
        let out = self.arguments.out.as_ref();
        let out = out.map(|path| format!("'{}' not written, ", path.display()));
        let out = out.unwrap_or_default();
        Failure::Failed(anyhow::anyhow!("stopped before everything was answered: {out}{kept}"))
    }

    /// Saved state to resume, with notices. Asks a typist at a terminal if an X-card is over.
    async fn resumed(&self, typed: &Typed, is_typed: bool) -> Resumed {
        let mut continuation = self.kept.continuation();
        if let Some(continuation) = &mut continuation {
            // A run begins like an evening: unpaused, with the music of its scene.
            (continuation.paused, continuation.music) = (false, None);
            let can_ask = is_typed && !self.arguments.json && io::stdin().is_terminal();
            self.silent(continuation, can_ask.then_some(typed)).await;
        }
        Resumed { histories: self.kept.histories(), continuation, budget: self.budget.clone() }
    }

    /// Reports muted NPCs, and the fix; ends an X-card if the typist agrees.
    async fn silent(&self, continuation: &mut Continuation, asks: Option<&Typed>) {
        let session = self.kept.id();
        if let (false, Some(typed)) = (continuation.carded.is_empty(), asks)
            && is_over(typed, session).await
        {
            continuation.end_card();
        }
        let Continuation { muted, carded, .. } = &*continuation;
        if muted.is_empty() {
            return;
        }
        let way_out = match (carded.is_empty(), self.arguments.as_dm) {
            (false, _) => "by an X-card: \"everyone continue\" or /resume unmutes them",
            (true, true) => "/npc unmute NAME or /npc unmuteall",
            (true, false) => "start with --as-dm and use /npc unmute NAME or /npc unmuteall",
        };
        let muted = muted.join(", ");
        complain(&format!("'{session}' resumes with {muted} still muted ({way_out})"));
    }

    /// Prepares the table for `npc`, or any addressed NPC, before the first input. Fails if the
    /// table is closed.
    async fn bring_in(
        &self,
        npc: Option<usize>,
        commands: &mpsc::Sender<Command>,
    ) -> Result<(), Failure> {
        let brought = npc.and_then(|seat| brought(self.config, seat, self.kept.continuation()));
        let tier = Command::SetTier { seat: None, tier: self.arguments.tier, until: None };
        let pin = Command::Pin { seat: npc.map(SeatId), player: None };
        for command in brought.map(Command::Scene).into_iter().chain([pin, tier]) {
            commands.send(command).await?;
        }
        Ok(())
    }

    /// Setup of the table; `is_heard` as in [`TableSetup`].
    async fn setup(
        &self,
        stt: Chain<dyn SpeechToText>,
        outlets: Outlets,
        record: Option<&SessionRecord>,
        is_heard: bool,
    ) -> TableSetup {
        TableSetup {
            session: self.session(),
            stt,
            judge: app::turn_judge(&self.tools.services, self.config).await,
            outlets,
            host: self.tools.host.clone(),
            backlog: record.map(SessionRecord::backlog).unwrap_or_default(),
            is_here: true,
            is_heard,
            seed: rand::random(),
        }
    }

    /// Starts the service of workflows, for the table of `reached`.
    async fn workflows(&self, live: &LiveConfig, reached: Reached<'_>) -> LocalRuns {
        let Reached { table, events, effects, halts } = reached;
        let dice = Dice::new(rand::random());
        let service = WorkflowRuns::new(WorkflowParts {
            settings: live.settings(),
            // The table pays.
            accounts: Accounts::new(None),
            tools: self.tools.host.clone(),
            music: self.tools.music(),
            dice: dice.clone(),
            guilds: None,
            store: self.memory.clone().map(|store| store as Arc<dyn Automation>),
        });
        self.tools.runs_slot().fill(&service);
        let scope = app::local_scope(self.config);
        let parts = LinkParts {
            session: self.session(),
            events: events.downgrade(),
            effects: Arc::clone(&effects),
            halts,
            budget: table.budget.clone(),
        };
        service.opened(&scope, TableLink::new(&table.handle, parts)).await;
        LocalRuns { service, scope, effects, dice }
    }

    /// True if an NPC may use tools of `server`; a bare name may be any server's.
    fn may_use(&self, server: &str) -> bool {
        self.config.npcs.iter().any(|npc| uses(npc, server))
    }
}

/// A table with everything workflows use of it.
struct Reached<'a> {
    table: &'a OpenTable,
    events: &'a TableEvents,
    effects: Arc<dyn Effects>,
    halts: Arc<Halts>,
}

/// Plays everything through a table.
pub async fn at_table(
    setting: Setting<'_>,
    Said { npc, steps }: Said,
    files: Files<'_>,
) -> Result<u8, Failure> {
    let Setting { arguments, config, tools, .. } = setting;
    let stt = tools.services.recognisers(&config.services)?;
    let has_sound = steps.iter().any(|step| matches!(step.input.what, What::File(_)));
    // A recogniser that ends utterances itself measures silence in real time.
    let is_timed = has_sound && stt.iter().any(|it| it.service().abilities().endpointing);
    let clock_runs = is_timed || arguments.realtime || steps.iter().any(Step::has_time);
    if has_sound {
        print::while_waiting("loading the speech recogniser", stt.ready()).await?;
    }
    if !steps.is_empty() && !clock_runs {
        setting.find_servers().await;
    }
    let printer = Printer::new(arguments.form(), steps.is_empty() && io::stdin().is_terminal());
    let (tables, open) = (Tables::default(), OpenTables::default());
    let (record, events) = (setting.record(&tables)?, TableEvents::new(EVENT_CAPACITY));
    let sink = WavSink::new(Player::found(arguments.silent), MusicPlayer::new(events.downgrade()));
    let told = events.subscribe();
    let (typed, permits, live) = (Typed::new(), setting.permits(), setting.live_config());
    let (effects, recap) = (setting.effects(&typed, &permits), setting.recap(record.as_ref()));
    let memory = setting.local_memory(&live, record.as_ref());
    let outlets = sink.outlets(clock_runs, Arc::clone(&effects), events.clone());
    let halts = Arc::clone(&outlets.halts);
    let is_heard = has_sound || clock_runs || arguments.out.is_some() || sink.is_played();
    let setup = setting.setup(stt, outlets, record.as_ref(), is_heard).await;
    let resumed = setting.resumed(&typed, steps.is_empty()).await;
    let table = app::open_table(config, tools, setting.memory.clone(), resumed, setup)?;
    let (commands, seated) = (table.handle.commands.clone(), setting.seated(&table));
    open.add(seated.clone());
    tables.add(&events);
    let running = setting.running(files, tables, open);
    setting.bring_in(npc, &commands).await?;
    let (shown, stopped) = (Arc::clone(&effects), Arc::clone(&halts));
    let reached = Reached { table: &table, events: &events, effects: shown, halts: stopped };
    let runs = setting.workflows(&live, reached).await;
    let mut driver = Driver::new(table.handle, told, printer, record, Pacing::of(clock_runs));
    let assistant = &setting.assistant(effects)?;
    let (typist, is_dm, permits) = (arguments.typist(), arguments.as_dm, &*permits);
    let (engines, music) = (Arc::new(seated), tools.music());
    let firing =
        memory.schedules.clone().run(evening(&commands, &events, halts), runs.service.clone());
    let context =
        &SlashContext { assistant, permits, engines, music, recap, memory, runs, typist, is_dm };
    let interrupts = signal(SignalKind::interrupt())?;
    setting.is_open.set(true);
    let conducting = Conducting { steps: &steps, typed: &typed, context, sink: &sink, interrupts };
    let beside = Beside { following: app::follow(running, live), firing };
    let driven = drive(&mut driver, conducting, beside).await;
    let is_whole = matches!(driven, Ok(End::Whole));
    if is_whole && arguments.out.is_some() {
        sink.fade_music_out();
    }
    context.runs.service.close().await;
    commands.send(Command::Close).await?;
    let ended = table.task.await?;
    driver.close_record().await?;
    sink.played_out(is_whole).await;
    let whole = Whole { end: driven?, kept: ended, spent: table.budget.spent() };
    finish(setting, whole, &sink, &driver)
}

/// Asks the typist if the X-card that ended `session` is over.
async fn is_over(typed: &Typed, session: &str) -> bool {
    complain(&format!(
        "'{session}' ended with an X-card: may everyone speak again? (y = yes, n = no)"
    ));
    let answer = typed.next().await.ok().flatten().unwrap_or_default();
    is_yes(&answer)
}

struct Whole {
    end: End,
    /// For continuing the session.
    kept: Conversations,
    spent: f64,
}

/// Saves the results; returns the exit status.
fn finish(
    mut setting: Setting<'_>,
    Whole { end, kept, spent }: Whole,
    sink: &WavSink,
    driver: &Driver,
) -> Result<u8, Failure> {
    let arguments = setting.arguments;
    let stopped = setting.stopped();
    driver.forgotten.iter().for_each(|person| setting.kept.leave_out(person));
    setting.kept.continue_with(kept.continuation);
    setting.kept.save(kept.histories.into_iter().collect(), spent)?;
    if matches!(end, End::Stopped) {
        return Err(stopped);
    }
    arguments.out.as_ref().map(|path| sink.write(path)).transpose()?;
    let well = driver.ended_well();
    let has_left = matches!(end, End::Left) || driver.is_quiet_end();
    Ok(if well || has_left { DONE } else { FAILED })
}

/// Commands that add a requested NPC who is not in the scene.
fn brought(
    config: &Config,
    seat: usize,
    continuation: Option<Continuation>,
) -> Option<SceneChange> {
    let npc = config.npcs.get(seat)?;
    let (scene, is_there) = match continuation {
        Some(it) => (it.location.unwrap_or_default(), !it.absent.contains(&npc.name)),
        None => {
            let first = config.campaign.scenes.first()?;
            (first.name.clone(), first.npcs.contains(&npc.name))
        }
    };
    if is_there {
        return None;
    }
    complain(&format!("{} was not in the scene '{scene}' and joins it", npc.name));
    Some(SceneChange::Enter(SeatId(seat)))
}

/// True if `npc` may use tools of `server`.
pub fn uses(npc: &Npc, server: &str) -> bool {
    let entries = npc.tools.iter().map(|entry| entry.split_once('.'));
    entries.into_iter().any(|it| it.is_none_or(|(of, _)| of == server))
}

/// Input of a table: the steps, or typed lines without steps.
struct Conducting<'a> {
    steps: &'a [Step],
    typed: &'a Typed,
    context: &'a SlashContext<'a>,
    sink: &'a WavSink,
    /// Registered before the table opens, so that no Ctrl-C is lost.
    interrupts: Signal,
}

/// Work that goes on beside the input.
struct Beside<F, S> {
    /// Follows changed files, for a typist.
    following: F,
    /// Fires schedules.
    firing: S,
}

/// The table, for schedules.
fn evening(
    commands: &mpsc::Sender<Command>,
    events: &TableEvents,
    halts: Arc<Halts>,
) -> EveningTable {
    EveningTable { commands: commands.downgrade(), events: events.downgrade(), halts }
}

/// Plays the steps, or typed lines while following changed files, until the end or Ctrl-C.
async fn drive(
    driver: &mut Driver,
    Conducting { steps, typed, context, sink, mut interrupts }: Conducting<'_>,
    Beside { following, firing }: Beside<impl Future<Output = ()>, impl Future<Output = ()>>,
) -> Result<End, Failure> {
    let driven = async {
        if steps.is_empty() {
            driver.typed_lines(typed, context).await
        } else {
            driver.steps(steps, context).await
        }
    };
    tokio::select! {
        driven = driven => driven?,
        () = following, if steps.is_empty() => {}
        () = firing => {}
        () = sink.play_between() => {}
        _ = interrupts.recv() => {
            // A recording is written whole or not at all; a typist has simply finished.
            return Ok(if steps.is_empty() { End::Left } else { End::Stopped });
        }
    }
    // Skipping the wait leaves it to the next time.
    tokio::select! {
        summed_up = print::while_waiting("summarising the session", driver.sum_up()) => summed_up?,
        _ = interrupts.recv() => {}
    }
    Ok(End::Whole)
}
