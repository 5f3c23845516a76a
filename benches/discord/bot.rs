//! The bot's own process: the program's bot around tables of stand-ins.
//!
//! A line on stdin, `GUILD FRAMES WORDS`, is what the recogniser of a guild reads from then on:
//! `WORDS` as the final, and as partials from `FRAMES` frames on, a word more each time, unless that
//! is 0. Lines on stdout, `GUILD WHAT NANOSECONDS` of the system's clock, say when something
//! happened.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use arc_swap::ArcSwap;
use futures::{
    FutureExt,
    future::{BoxFuture, ready},
    stream::{self, BoxStream, StreamExt},
};
use glyphoxa::measure::{
    Accounts, AddedServer, Announcer, ApprovalOptions, AssistantSettings, Attempts, Budget,
    BudgetOptions, Campaign, Chain, Command, Consent, DiscordOptions, EngineError, EngineKind,
    EngineOffer, Engines, Error, Factory, Facts, Frame, GuildStore, HandleParts, Handles,
    ImportSettings, Ledger, MadeTable, ModelMaker, Music, MusicOrder, Npc, OpenError, Outlets,
    RunningTable, ScheduleOptions, Secret, ServedGuilds, ServerError, ServerOptions, Servers,
    ServiceInfo, Services, SessionId, Settings, Setup, SpeechEvent, SpeechToText, Sqlite,
    SttAbilities, Synthesizer, TableRequest, TableSetup, Tables, ToolHost, Track,
    TranscriptOptions, TranscriptWriter, VoiceLister, VoiceOut, open, run_discord,
};
use jiff::tz::TimeZone;
use rand::{SeedableRng, rngs::StdRng};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    music::track,
    support::{
        figures::runtime,
        stand_ins::{Model, Recogniser, Synthesiser},
        table::{self, nothing, npc, parts},
    },
};

/// Argument that starts this bench as the bot.
pub const BOT: &str = "--bot";

/// songbird warns of the answers to its own keepalives.
const QUIET: &str = "warn,songbird=error";

/// Frames from one word to the next.
const WORD: usize = 8;

/// Text that the recogniser of a guild reads.
#[derive(Clone, Default)]
struct Cue {
    /// The first word after so many frames of an utterance.
    frames: usize,
    words: String,
}

impl Cue {
    /// The partial that a frame of an utterance brings.
    fn partial(&self, frame: usize) -> Option<&str> {
        let since = frame.checked_sub(self.frames).filter(|_| self.frames > 0)?;
        let ends = self.words.match_indices(' ').map(|(at, _)| at).chain([self.words.len()]);
        let ends = ends.enumerate().find(|(word, _)| word * WORD == since);
        ends.map(|(_, end)| &self.words[..end])
    }
}

/// Cues of all speakers.
type Cues = Arc<Mutex<HashMap<String, Cue>>>;

/// Runs the bot until stdin ends. `arguments`: address, token, folder, length of a sentence in ms, and
/// the file of the music that every table plays, if one does.
pub fn run(arguments: &[String]) {
    let [api, token, folder, sentence, music @ ..] = arguments else { return };
    let api: SocketAddr = api.parse().expect("an address");
    tracing_subscriber::fmt().with_env_filter(QUIET).with_writer(io::stderr).init();
    let options = DiscordOptions {
        token: Secret(token.clone()),
        api: Some(api),
        guild: None,
        served: ServedGuilds::Any,
        code: None,
        dm_role: None,
        everyone_is_dm: false,
        consent: Consent::Notice,
        idle: Duration::from_secs(60),
        folder: PathBuf::from(folder),
    };
    let (cues, stop) = (Cues::default(), CancellationToken::new());
    let sentence = Duration::from_millis(sentence.parse().expect("a length"));
    let runtime = runtime();
    std::thread::spawn({
        let (cues, stop) = (Arc::clone(&cues), stop.clone());
        move || {
            io::stdin().lines().map_while(Result::ok).for_each(|line| take_cue(&cues, &line));
            stop.cancel();
        }
    });
    let music = music.first().map(|file| track(PathBuf::from(file)));
    let factory = StandInFactory { cues, sentence, music };
    let handles = runtime.block_on(async { handles(factory, folder) });
    let ended = runtime.block_on(run_discord(options, handles, None, stop));
    runtime.shutdown_background();
    ended.expect("the bot runs until its end is ordered");
}

fn take_cue(cues: &Cues, line: &str) {
    let mut words = line.splitn(3, ' ');
    let mut next = || words.next().unwrap_or_default();
    let (guild, frames) = (next().to_owned(), next().parse().expect("a number"));
    let cue = Cue { frames, words: next().to_owned() };
    cues.lock().unwrap_or_else(PoisonError::into_inner).insert(guild.clone(), cue);
    report(&guild, "cued");
}

/// Says that something happens now.
#[expect(clippy::disallowed_methods, reason = "two processes have this clock in common")]
fn report(guild: &str, what: &str) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    println!("{guild} {what} {}", now.as_nanos());
}

/// The program's services, around tables of stand-ins.
fn handles(factory: StandInFactory, folder: &str) -> Handles {
    let folder = PathBuf::from(folder);
    let store = Sqlite::open(&folder.join("memory.db")).expect("a folder that takes a store");
    let store = Arc::new(store);
    let tools = ToolHost::new(StdRng::seed_from_u64(1));
    let setup = Setup {
        host: tools.clone(),
        data_dir: folder.clone(),
        environment: Vec::new(),
        // No program is started.
        launcher: PathBuf::new(),
        hidden: Vec::new(),
        facts: Arc::new(Facts::default()),
        seed: 1,
    };
    let options = TranscriptOptions { spill: folder.join("memory-waiting"), retention_days: None };
    let tables = Tables::default();
    Handles::new(HandleParts {
        accounts: Accounts::new(None),
        settings: Arc::new(ArcSwap::from_pointee(settings(&folder))),
        factory: Arc::new(factory),
        transcripts: TranscriptWriter::open(store.clone(), tables.clone(), &options),
        tables,
        guilds: GuildStore::new(store, &folder),
        tools,
        servers: Servers::new(setup),
        announcer: Announcer::new(Arc::new(Synthesiser::new(Duration::ZERO)), npc().voice),
        music: Music::new(Arc::default(), StdRng::seed_from_u64(1)),
    })
}

fn stand_ins() -> Services {
    let service = || ServiceInfo::here("stand-in");
    Services {
        hears: vec![service()],
        here: None,
        thinks: vec![service()],
        sums_up: false,
        speaks: vec![service()],
        speaks_and_hears: Vec::new(),
        compares: None,
        draws: None,
        searches: None,
        programs: None,
        collector: None,
    }
}

fn settings(folder: &Path) -> Settings {
    let campaign = Arc::new(Campaign::default());
    Settings {
        campaign: Arc::clone(&campaign),
        shared: Vec::new(),
        cast: vec![Arc::new(npc())],
        assistant: assistant(campaign),
        budget: BudgetOptions::default(),
        approvals: ApprovalOptions::default(),
        consolidate: false,
        data_dir: folder.to_owned(),
        worlds: BTreeMap::new(),
        environment: "bench".to_owned(),
        services: stand_ins(),
        imports: ImportSettings {
            npc_dir: folder.join("npcs"),
            language: "en".to_owned(),
            voices: VoiceLister::new(Vec::new),
        },
        workflows: Arc::default(),
        schedules: ScheduleOptions { zone: TimeZone::UTC, catch_up: false },
    }
}

fn assistant(campaign: Arc<Campaign>) -> AssistantSettings {
    let model = || Arc::new(Model { token: Duration::ZERO, calls: 0 });
    AssistantSettings {
        npc: Arc::new(npc()),
        model: ModelMaker::new(move |_| Ok(Chain::of("stand-in", model()))),
        campaign,
        max_tokens: 100,
        filler_after: Duration::from_secs(1),
    }
}

/// Makes tables of stand-ins.
struct StandInFactory {
    cues: Cues,
    sentence: Duration,
    music: Option<Arc<Track>>,
}

impl Factory for StandInFactory {
    fn table(&self, wanted: TableRequest) -> BoxFuture<'static, Result<MadeTable, OpenError>> {
        let guild = wanted.session.0.split('-').nth(1).unwrap_or_default().to_owned();
        let services = table::Services {
            recogniser: Recogniser { ends_utterances: false, partial: None },
            model: Model { token: Duration::ZERO, calls: 0 },
            synthesiser: Synthesiser::new(self.sentence),
            tool: nothing(),
        };
        let out = Watched { out: wanted.outlets.out, guild: guild.clone(), speaks: false };
        let outlets = Outlets { out: Box::new(out), ..wanted.outlets };
        let (setup, parts) = parts(services, outlets);
        let stt = Arc::new(Cued { cues: Arc::clone(&self.cues), guild });
        let stt = Chain::of("stand-in", stt as Arc<dyn SpeechToText>);
        let setup = TableSetup { session: wanted.session, stt, ..setup };
        let (handle, task) = open(setup, parts);
        if let Some(track) = &self.music {
            let play = Command::Music(MusicOrder::Play(Arc::clone(track)));
            handle.commands.try_send(play).expect("a new table has room");
        }
        let made = MadeTable {
            table: RunningTable {
                handle,
                task,
                cannot_hear: None,
                engines: Arc::new(StandInEngines(Arc::new(stand_ins()))),
            },
            budget: Budget::new(Ledger::default()),
            assistant: Arc::new(ArcSwap::from_pointee(assistant(Arc::default()))),
        };
        ready(Ok(made)).boxed()
    }

    fn closed(&self, _session: &SessionId) {}

    fn voice(&self, npc: &Arc<Npc>, budget: Budget) -> Result<Synthesizer, Error> {
        let voice = Arc::new(Synthesiser::new(self.sentence));
        Ok(Synthesizer::new(Arc::clone(npc), voice, budget, &[]))
    }

    fn server(&self, _name: &str, _added: &AddedServer) -> Result<ServerOptions, ServerError> {
        Err(ServerError::Wrong("no server is added here".to_owned()))
    }
}

/// No engine is changed.
struct StandInEngines(Arc<Services>);

impl Engines for StandInEngines {
    fn services(&self) -> Arc<Services> {
        Arc::clone(&self.0)
    }

    fn announced(&self, _services: &BTreeSet<String>) {}

    fn offer(&self, _npc: &str, _engine: EngineKind) -> Result<EngineOffer, EngineError> {
        Err(EngineError::NoService)
    }

    fn change(&self, _npc: &str, _engine: EngineKind) -> Result<(), EngineError> {
        Err(EngineError::NoService)
    }
}

/// Reads the cue, regardless of the sound.
struct Cued {
    cues: Cues,
    guild: String,
}

impl SpeechToText for Cued {
    fn name(&self) -> &'static str {
        "stand-in"
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn abilities(&self) -> SttAbilities {
        SttAbilities { partials: true, ..SttAbilities::default() }
    }

    fn expect(&self, _: &dyn Fn() -> Vec<String>) {}

    fn ready(&self) -> BoxFuture<'static, Result<(), Error>> {
        ready(Ok(())).boxed()
    }

    fn listen(
        &self,
        audio: mpsc::Receiver<Frame>,
        _: Attempts,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>> {
        let cues = self.cues.lock().unwrap_or_else(PoisonError::into_inner);
        let cue = cues.get(&self.guild).cloned().unwrap_or_default();
        let guild = self.guild.clone();
        let events = stream::unfold(Some((audio, cue, 0)), move |heard| {
            let guild = guild.clone();
            async move {
                let (mut audio, cue, mut frames) = heard?;
                while audio.recv().await.is_some() {
                    frames += 1;
                    if let Some(words) = cue.partial(frames) {
                        report(&guild, "word");
                        let read = SpeechEvent::Partial { text: words.to_owned() };
                        return Some((Ok(read), Some((audio, cue, frames))));
                    }
                }
                report(&guild, "utterance");
                Some((Ok(SpeechEvent::Final { text: cue.words }), None))
            }
        });
        events.boxed()
    }
}

/// Reports what a table does with its voice.
struct Watched {
    out: Box<dyn VoiceOut>,
    guild: String,
    speaks: bool,
}

impl VoiceOut for Watched {
    fn prepare(&mut self) {
        self.out.prepare();
    }

    fn play(&mut self, npc: &str, frame: Frame) {
        self.out.play(npc, frame);
        if !std::mem::replace(&mut self.speaks, true) {
            report(&self.guild, "speaks");
        }
    }

    fn ramp(&mut self, db: f32, over: Duration) {
        self.out.ramp(db, over);
        report(&self.guild, if db < 0.0 { "ducks" } else { "swells" });
    }

    fn rest(&mut self) {
        self.speaks = false;
        self.out.rest();
    }

    fn waiting(&self) -> usize {
        self.out.waiting()
    }

    fn stop(&mut self) -> usize {
        report(&self.guild, "stops");
        self.speaks = false;
        self.out.stop()
    }
}
