//! The bot's own process: the program's bot around tables of stand-ins.
//!
//! A line on stdin, `GUILD FRAMES WORDS`, is what the recogniser of a guild reads from then on:
//! `WORDS` as the final, and as partials from `FRAMES` frames on, a word more each time, unless that
//! is 0. Lines on stdout, `GUILD WHAT NANOSECONDS` of the system's clock, say when something
//! happened.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use futures::{
    FutureExt,
    future::{BoxFuture, ready},
};
use glyphoxa::measure::{
    AddedServer, Backlog, Campaign, Consent, DiscordOptions, Effects, Error, Fact, FactId, Facts,
    ForgetRequest, Frame, GuildSettings, Heard, House, Kept, Npc, Opened, Opening, PlayedCampaign,
    Report, ServerOptions, Servers, ServiceInfo, Services, SessionId, Setup, SpeechToText,
    SttAbilities, TableParts, Token, ToolHost, TurnLine, Verdict, VoiceOut, WaitingFacts,
    WantedFacts, Wish, WorldAnswer, WorldOrder, Written, dice, open, run_discord, tool_figures,
};
use rand::{SeedableRng, rngs::StdRng};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::support::{
    figures::runtime,
    stand_ins::{Model, Recogniser, Synthesiser},
    table::{self, nothing, npc, parts},
};

/// What makes this bench the bot.
pub const BOT: &str = "--bot";

/// songbird warns of the answers to its own keepalives.
const QUIET: &str = "warn,songbird=error";

/// Frames from one word to the next.
const WORD: usize = 8;

/// What the recogniser of a guild reads.
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

/// Everybody's cues.
type Cues = Arc<Mutex<HashMap<String, Cue>>>;

/// Runs the bot until stdin ends. `arguments`: address, token, folder, length of a sentence in ms.
pub fn run(arguments: &[String]) {
    let [api, token, folder, sentence] = arguments else { return };
    let api: SocketAddr = api.parse().expect("an address");
    tracing_subscriber::fmt().with_env_filter(QUIET).with_writer(io::stderr).init();
    let options = DiscordOptions {
        token: Token(token.clone()),
        api: Some(api),
        guild: None,
        dm_role: None,
        everyone_is_dm: false,
        trust_dms: false,
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
    let house = runtime.block_on(async { StandInHouse::new(cues, sentence, folder) });
    let ended = runtime.block_on(run_discord(options, Arc::new(house), stop));
    runtime.shutdown_background();
    ended.expect("the bot runs until it is told to end");
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

/// A house of stand-ins.
struct StandInHouse {
    cues: Cues,
    sentence: Duration,
    folder: PathBuf,
    host: ToolHost,
    servers: Servers,
}

impl StandInHouse {
    fn new(cues: Cues, sentence: Duration, folder: &str) -> Self {
        let host = ToolHost::new(StdRng::seed_from_u64(1));
        let setup = Setup {
            host: host.clone(),
            data_dir: PathBuf::from(folder),
            environment: Vec::new(),
            facts: Arc::new(Facts::default()),
            seed: 1,
        };
        let folder = PathBuf::from(folder);
        Self { cues, sentence, folder, host, servers: Servers::new(setup) }
    }
}

impl House for StandInHouse {
    fn name_session(&self, guild: u64) -> SessionId {
        SessionId(format!("bench-{guild}"))
    }

    fn settings(&self, _guild: u64) -> BoxFuture<'static, Result<GuildSettings, String>> {
        ready(Ok(GuildSettings::default())).boxed()
    }

    fn keep_settings(
        &self,
        _guild: u64,
        _settings: GuildSettings,
    ) -> BoxFuture<'static, Result<(), String>> {
        ready(Ok(())).boxed()
    }

    fn open(&self, opening: Opening) -> BoxFuture<'static, Result<Opened, String>> {
        let guild = opening.session.0.split('-').nth(1).unwrap_or_default().to_owned();
        let services = table::Services {
            recogniser: Recogniser { ends_utterances: false, partial: None },
            model: Model { token: Duration::ZERO, calls: 0 },
            synthesiser: Synthesiser::new(self.sentence),
            tool: nothing(),
        };
        let out = Watched { out: opening.out, guild: guild.clone(), speaks: false };
        let (handle, task) = open(TableParts {
            backlog: Backlog::default(),
            memory: None,
            session: opening.session,
            stt: Arc::new(Cued { cues: Arc::clone(&self.cues), guild }),
            pace: opening.pace,
            effects: opening.effects,
            ..parts(services, Box::new(out), opening.events)
        });
        ready(Ok(Opened { handle, task, cast: vec![Arc::new(npc())] })).boxed()
    }

    fn record(&self, _session: &SessionId, _line: &TurnLine) {}

    fn keep(&self, _session: &SessionId, _kept: Kept) -> BoxFuture<'static, Result<(), String>> {
        ready(Ok(())).boxed()
    }

    fn cast(&self) -> Vec<Arc<Npc>> {
        vec![Arc::new(npc())]
    }

    fn roll(&self, text: &str) -> Result<dice::Outcome, dice::DiceError> {
        dice::parse(text)?.roll(&mut StdRng::seed_from_u64(1))
    }

    fn campaign(&self) -> Arc<Campaign> {
        Arc::default()
    }

    fn take_back(&self, _session: &SessionId, _turns: &[u64]) {}

    fn own_lines(&self, _user: u64) -> BoxFuture<'static, Result<String, String>> {
        nothing_kept()
    }

    fn forget(&self, _what: ForgetRequest) -> BoxFuture<'static, Result<u64, String>> {
        nothing_kept()
    }

    fn recap(&self, _wish: Wish) -> BoxFuture<'static, Result<String, String>> {
        nothing_kept()
    }

    fn consolidate(&self, _session: &SessionId) -> BoxFuture<'static, Result<Vec<Fact>, String>> {
        ready(Ok(Vec::new())).boxed()
    }

    fn waiting(&self, _wanted: WantedFacts) -> BoxFuture<'static, Result<WaitingFacts, String>> {
        nothing_kept()
    }

    fn fact(&self, _id: FactId) -> BoxFuture<'static, Result<Fact, String>> {
        nothing_kept()
    }

    fn decide(
        &self,
        _id: FactId,
        _verdict: Verdict,
    ) -> BoxFuture<'static, Result<(Fact, bool), String>> {
        nothing_kept()
    }

    fn world(
        &self,
        _played: Option<PlayedCampaign>,
        _order: WorldOrder,
    ) -> BoxFuture<'static, Result<WorldAnswer, String>> {
        ready(Ok(WorldAnswer::default())).boxed()
    }

    fn tools(&self) -> &ToolHost {
        &self.host
    }

    fn servers(&self) -> &Servers {
        &self.servers
    }

    fn services(&self) -> Services {
        let service = || ServiceInfo::here("stand-in");
        let (hears, thinks, speaks) = (service(), service(), vec![service()]);
        Services { hears, thinks, sums_up: false, speaks }
    }

    fn session_cap(&self) -> Option<f64> {
        None
    }

    fn ask(
        &self,
        _session: Option<&SessionId>,
        _text: String,
        _effects: Arc<dyn Effects>,
    ) -> BoxFuture<'static, Result<Written, String>> {
        ready(Err("nobody is asked here".to_owned())).boxed()
    }

    fn server(&self, _name: &str, _added: &AddedServer) -> Result<ServerOptions, String> {
        Err("no server is added here".to_owned())
    }

    fn figures(&self) -> Report {
        tool_figures(&self.folder, "bench")
    }

    fn announce(&self, _text: String) -> BoxFuture<'static, Result<Vec<Frame>, String>> {
        ready(Ok(Vec::new())).boxed()
    }
}

/// Nothing that was said is kept here.
fn nothing_kept<T: Send + 'static>() -> BoxFuture<'static, Result<T, String>> {
    ready(Err("nothing is kept here".to_owned())).boxed()
}

/// Reads what it is told to, whatever is said.
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
        SttAbilities { partials: true, endpointing: false }
    }

    fn expect(&self, _: &dyn Fn() -> Vec<String>) {}

    fn ready(&self) -> BoxFuture<'static, Result<(), Error>> {
        ready(Ok(())).boxed()
    }

    fn listen(
        &self,
        mut audio: mpsc::Receiver<Arc<[i16]>>,
        heard: mpsc::Sender<Heard>,
    ) -> BoxFuture<'static, Result<(), Error>> {
        let cues = self.cues.lock().unwrap_or_else(PoisonError::into_inner);
        let cue = cues.get(&self.guild).cloned().unwrap_or_default();
        let guild = self.guild.clone();
        async move {
            let mut frames = 0;
            while audio.recv().await.is_some() {
                frames += 1;
                if let Some(words) = cue.partial(frames) {
                    report(&guild, "word");
                    // A closed table hears nothing.
                    let _ = heard.send(Heard::Partial(words.to_owned())).await;
                }
            }
            report(&guild, "utterance");
            let _ = heard.send(Heard::Final(cue.words)).await;
            Ok(())
        }
        .boxed()
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

    fn stop(&mut self) -> usize {
        report(&self.guild, "stops");
        self.speaks = false;
        self.out.stop()
    }
}
