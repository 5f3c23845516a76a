//! `glyphoxa doctor`: checks this machine and the services, and suggests fixes.

mod finding;
mod listener;

use std::{
    fs,
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use clap::Args;

use self::finding::Finding;
use super::{Configured, DONE, FAILED, Failure, ask, counted, stdout};
use crate::{
    app::{self, DoubtfulVoice, VoiceLists},
    campaign::{Access, GuildStore, check_sound, now},
    config::{self, Config, MemoryPlace, Use},
    discord,
    domain::{Npc, Owner, Voice},
    files, launch,
    logic::{music::shipped_sound, turn::Detector},
    memory::KeptToken,
    provider::{
        EntryList, Error, ImageRequest, Kind, ModelEntry, NamedEntry, NoPicture, Options,
        RecogniserEntry, Registry, TextToSpeech, VoiceEntry, VoiceList, VoiceService, probe_search,
        probe_speech,
    },
    tools::{
        builtin,
        connection::{Reach, State, Status},
    },
    weights::{NotHere, WeightSet, Weights},
};

const TOOL_SERVER: &str = "tool server";
/// Longest wait for a picture.
const DRAWING: Duration = Duration::from_mins(2);
/// Longest wait for all servers.
const CONNECTING: Duration = Duration::from_secs(15);

#[derive(Args)]
#[command(after_help = "example: glyphoxa doctor --json")]
pub struct Arguments {
    /// Print one JSON object per finding.
    #[arg(long)]
    json: bool,
    /// Try the picture and search services too, with one request each; it may cost money.
    #[arg(long)]
    try_paid: bool,
}

/// Prints a tick, a dash or a cross for everything the configuration needs.
pub fn run(configured: Configured, arguments: &Arguments) -> Result<u8, Failure> {
    let loaded = config::load(configured.path, &config::environment, builtin::IDENTITIES);
    if let Ok(config) = &loaded {
        configured.agreed(config, Use::Play)?;
    }
    let mut findings = vec![Finding::new(
        "configuration",
        loaded
            .as_ref()
            .map(|config| match config.npcs.len() {
                1 => "1 NPC".to_owned(),
                several => format!("{several} NPCs"),
            })
            .map_err(|report| {
                format!("{} (see: glyphoxa check)", counted(report.problems.len(), "problem"))
            }),
    )];
    if let Ok(config) = &loaded {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        findings.extend(runtime.block_on(examine(config, arguments.try_paid)));
    }
    let mut out = stdout();
    for finding in &findings {
        if arguments.json {
            writeln!(out, "{}", serde_json::to_string(finding)?)?;
        } else {
            writeln!(out, "{} {}: {}", finding.mark(), finding.what, finding.detail)?;
        }
    }
    Ok(if findings.iter().all(|finding| finding.ok) { DONE } else { FAILED })
}

async fn examine(config: &Config, try_paid: bool) -> Vec<Finding> {
    let (services, options) = (Registry::default(), &config.services);
    let mut findings = hears(&services, &options.recognisers).await;
    findings.push(pauses(&services, config).await);
    findings.extend(thinks(&options.models).await);
    findings.extend(talks(&services, config).await);
    if let Some(search) = &options.search {
        let service = (search.info().where_it_is(), search.priced_as.is_some());
        findings.push(perhaps_paid("web search", service, try_paid, probe_search(search)).await);
    }
    let is_program = |entry: &&VoiceEntry| entry.service().without_settings().is_some();
    for named in options.voices.named().iter().filter(|named| !is_program(&&named.entry)) {
        findings.extend(speech_service(&options.voices, named, &config.npcs).await);
    }
    let doubts = app::doubtful_voices(&VoiceLists::open(&config.data_dir), config).await;
    for npc in &config.npcs {
        let found = speaks(&services, options, npc).await;
        findings.push(voice(npc, found, doubts.iter().find(|it| it.npc == npc.name)));
    }
    let mut programs: Vec<&VoiceEntry> = options.voices.iter().filter(is_program).collect();
    programs.sort_by_key(|entry| VoiceService::ALL.iter().position(|it| *it == entry.service()));
    for entry in programs {
        findings.push(Finding::new(entry.name(), entry.probe().await.map_err(said)));
    }
    if config.mcp.servers.iter().any(|server| matches!(server.reach, Reach::Stdio { .. })) {
        findings.push(confined());
    }
    findings.extend(model_files(&config.models.weights));
    findings.extend(pictures(&services, options, try_paid).await);
    findings.push(player());
    findings.push(Finding::new("music", music(config)));
    findings.push(Finding::new("disk", writable(&config.data_dir)));
    findings.push(remembered(config).await);
    findings.extend(reached(config).await);
    findings.extend(tool_servers(config).await);
    findings.extend(bot(config).await);
    findings
}

/// Player of sound at a terminal; a server needs none.
fn player() -> Finding {
    ask::installed_player().map_or_else(
        || Finding::unchecked("sound", ask::NO_PLAYER.to_owned()),
        |program| {
            Finding::new("sound", Ok(format!("{} plays the NPCs at a terminal", program.display())))
        },
    )
}

/// The service that makes pictures, if configured.
async fn pictures(services: &Registry, options: &Options, try_paid: bool) -> Option<Finding> {
    let entry = options.image.as_ref()?;
    let probe = async {
        let painter = services.painter(options)?;
        let Some(painter) = painter.filter(|_| try_paid) else {
            return entry.probe().await;
        };
        let request =
            ImageRequest { prompt: "a plain grey stone".to_owned(), ..ImageRequest::default() };
        let made = tokio::time::timeout(DRAWING, painter.generate(request)).await;
        let late = || Error::new(Kind::Timeout, format!("no picture in {} s", DRAWING.as_secs()));
        match made.map_err(|_| late())? {
            Ok(picture) => Ok(format!("drew {}, {} KiB", picture.mime, picture.bytes.len() >> 10)),
            Err(NoPicture::Failed(error)) => Err(error),
            Err(refused) => Err(Error::new(Kind::InvalidRequest, refused.to_string())),
        }
    };
    let service = (entry.info().to_string(), entry.options.priced_as.is_some());
    Some(perhaps_paid("pictures", service, try_paid, probe).await)
}

/// The result of `probe` for `service`, if it is free or `try_paid` is set.
async fn perhaps_paid(
    what: &'static str,
    (service, is_paid): (String, bool),
    try_paid: bool,
    probe: impl Future<Output = Result<String, Error>>,
) -> Finding {
    if is_paid && !try_paid {
        let skipped = format!("{service}, not tried (costs money; use --try-paid)");
        return Finding::unchecked(what, skipped);
    }
    let tried = probe.await.map(|found| format!("{service}, {found}"));
    Finding::new(what, tried.map_err(|error| format!("{service}: {error}")))
}

/// Tests each recogniser.
async fn hears(services: &Registry, recognisers: &EntryList<RecogniserEntry>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for NamedEntry { name, entry } in &recognisers.entries {
        let told = |text: String| match recognisers.entries.len() {
            1 => text,
            _ => format!("{name}: {text}"),
        };
        let found = services.probe_recogniser(entry).await.map_err(said);
        findings.push(Finding::new("hearing", found.map(told).map_err(told)));
    }
    findings
}

/// Tests each chat model and measures its response time.
async fn thinks(models: &EntryList<ModelEntry>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for NamedEntry { name, entry } in &models.entries {
        let begun = Instant::now();
        let found = entry.probe().await;
        let ms = begun.elapsed().as_millis();
        let told = |text: String| match models.entries.len() {
            1 => text,
            _ => format!("{name}: {text}"),
        };
        // Scripted lines need no request.
        let timed =
            |text: String| if entry.reads_prompts() { format!("{text}, {ms} ms") } else { text };
        let found = found.map(timed).map_err(said);
        findings.push(Finding::new("thinking", found.map(told).map_err(told)));
    }
    findings
}

/// Tries each speech-to-speech service of an NPC.
async fn talks(services: &Registry, config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (entry, npcs) in config.services.hear_own_voices(&config.npcs) {
        let voices = npcs.iter().filter_map(|npc| npc.s2s.voice.clone()).collect();
        let found = match services.speech_to_speech(entry) {
            Ok(service) => probe_speech(&*service, &voices).await,
            Err(error) => Err(error),
        };
        let told = |text: String| match config.services.speech_to_speech.len() {
            1 => text,
            _ => format!("{}: {text}", entry.name),
        };
        findings
            .push(Finding::new("speech to speech", found.map(told).map_err(|it| told(said(it)))));
    }
    findings
}

/// Tests a speech service of `list` for its NPCs in `cast`; `None`: no NPC uses it, and it needs
/// files.
async fn speech_service(
    list: &VoiceList,
    named: &NamedEntry<VoiceEntry>,
    cast: &[Npc],
) -> Option<Finding> {
    let NamedEntry { name, entry } = named;
    let needs_files = matches!(entry.service(), VoiceService::Piper | VoiceService::Kokoro);
    let is_its = |voice: &Voice| list.get(&voice.provider).is_some_and(|it| it.name == *name);
    if needs_files && !cast.iter().any(|npc| list.speaks(npc).iter().any(is_its)) {
        return None;
    }
    let mut npcs = cast.iter().filter(|npc| is_its(&npc.voice));
    let all_have_a_second = npcs.all(|npc| list.speaks(npc).len() > 1);
    Some(match entry.probe().await {
        Err(error) if needs_files && all_have_a_second && error.kind() == Kind::Missing => {
            let detail = format!("{name} is unavailable, the fallback voices speak: {error}");
            Finding::unchecked("speech service", detail)
        }
        found => {
            let told = |text| if name == entry.name() { text } else { format!("{name}: {text}") };
            Finding::new("speech service", found.map(told).map_err(|error| told(said(error))))
        }
    })
}

/// Tests the judge of pauses and its files.
async fn pauses(services: &Registry, config: &Config) -> Finding {
    let what = "end of turn";
    let said = match config.session.detector {
        Detector::Off => {
            return Finding::unchecked(what, "by silence alone (turn.detector)".to_owned());
        }
        Detector::Text => return Finding::unchecked(what, "by the words".to_owned()),
        Detector::Model => "by the sound",
        Detector::Both => "by the words and the sound",
    };
    let judge = services.turn_judge(&config.services).await;
    let found = judge
        .map(|judge| format!("{said} ({})", judge.name()))
        .map_err(|error| format!("by the words alone, despite turn.detector: {error}"));
    Finding::new(what, found)
}

/// State of each tool server, after a bounded wait for all of them.
async fn tool_servers(config: &Config) -> Vec<Finding> {
    if config.mcp.servers.is_empty() {
        return Vec::new();
    }
    let tools = match app::open_tools(config, app::Playing::Here(None), rand::random(), None) {
        Ok(tools) => tools,
        Err(error) => return vec![Finding::new(TOOL_SERVER, Err(format!("{error:#}")))],
    };
    tools.servers.settled(CONNECTING, |_| true).await;
    let finding = |status: Status| {
        let said = status.to_string();
        let said = said.trim_end().replace("\n  ", "; ");
        let found = if status.state == State::Ready { Ok(said) } else { Err(said) };
        Finding::new(TOOL_SERVER, found)
    };
    let findings = tools.servers.status(Owner::Local).into_iter().map(finding).collect();
    tools.close().await;
    findings
}

/// Model files found, and the purpose of missing ones; all are optional.
fn model_files(weights: &Weights) -> Vec<Finding> {
    let look = |set: &WeightSet| {
        let what = "model files";
        match weights.installed(&set.name) {
            Ok(folder) => {
                let detail = format!("{}: {}, in '{}'", set.name, set.purpose, folder.display());
                Finding::new(what, Ok(detail))
            }
            Err(absent @ NotHere::Absent(_)) => {
                Finding::unchecked(what, format!("{absent}; it {}", set.purpose))
            }
            Err(damaged) => Finding::new(what, Err(damaged.to_string())),
        }
    };
    weights.sets().iter().map(look).collect()
}

fn confined() -> Finding {
    let what = "servers' programs";
    if launch::is_possible() {
        return Finding::new(
            what,
            Ok("confined by Landlock to what their configuration names".to_owned()),
        );
    }
    let open = "NOT confined: they can read everything you can, because this kernel lacks Landlock (use \
                Linux 5.13 or newer)";
    Finding::unchecked(what, open.to_owned())
}

/// State of the store; a missing one is not created.
async fn remembered(config: &Config) -> Finding {
    let what = "memory";
    if let MemoryPlace::File(path) = &config.memory.place
        && !is_there(config)
    {
        return Finding::unchecked(what, format!("the first session creates '{}'", path.display()));
    }
    Finding::new(what, stored(config).await)
}

/// State of the existing store.
async fn stored(config: &Config) -> Result<String, String> {
    let store = app::open_memory(config).await.map_err(|error| format!("{error:#}"))?;
    let health = store.health().await.map_err(|error| error.to_string())?;
    Ok(format!("{} in '{}', schema {}", health.engine, health.place, health.schema))
}

/// The listener and its tokens, if configured.
async fn reached(config: &Config) -> Vec<Finding> {
    let Some(options) = &config.web else { return Vec::new() };
    let tokens = tokens(config).await;
    vec![listener::port(options).await, listener::tokens(options, tokens, now())]
}

/// Tokens in the store; a missing store is not created.
async fn tokens(config: &Config) -> Result<Vec<KeptToken>, String> {
    if !is_there(config) {
        return Ok(Vec::new());
    }
    let store = app::open_memory(config).await.map_err(|error| format!("{error:#}"))?;
    Access::new(store).list(None).await.map_err(|error| error.to_string())
}

/// True if a store may exist; creates no file.
fn is_there(config: &Config) -> bool {
    match &config.memory.place {
        MemoryPlace::File(path) => path.exists(),
        MemoryPlace::Server(_) => true,
    }
}

/// The bot at Discord; skipped without a token.
async fn bot(config: &Config) -> Vec<Finding> {
    let options = &app::bot_options(&config.discord);
    if options.token.0.is_empty() {
        let skipped = "not checked: no bot token (put DISCORD_TOKEN into the environment, or set \
                       discord.token)";
        return vec![Finding::unchecked("discord", skipped.to_owned())];
    }
    let kept = if is_there(config) { app::open_memory(config).await.ok() } else { None };
    let kept = kept.map(|store| GuildStore::new(store, &options.folder));
    let found = discord::diagnose(options, kept.as_ref()).await;
    found.into_iter().map(|it| Finding::new(it.what, it.found)).collect()
}

/// The voice of `npc` after a try; a doubt names the nearest voices.
fn voice(npc: &Npc, found: Result<Voiced, String>, doubt: Option<&DoubtfulVoice>) -> Finding {
    let what = "voice";
    let told = |it: String| format!("{} speaks ({it})", npc.name);
    match (found, doubt) {
        (Ok(Voiced::Spoke(how)), _) => Finding::new(what, Ok(told(how))),
        (Ok(Voiced::Untried(_)), Some(doubt)) if doubt.is_certain => {
            Finding::new(what, Err(doubt.to_string()))
        }
        (Err(why), Some(doubt)) => Finding::new(what, Err(format!("{why}; {}", doubt.way_out))),
        (Ok(Voiced::Untried(why)), Some(doubt)) => {
            Finding::unchecked(what, format!("{}; {doubt}", told(why)))
        }
        (Ok(Voiced::Untried(why)), None) => Finding::unchecked(what, told(why)),
        (Err(why), None) => Finding::new(what, Err(why)),
    }
}

fn said(error: Error) -> String {
    error.to_string()
}

enum Voiced {
    /// Its result.
    Spoke(String),
    /// Why it was not tried.
    Untried(String),
}

/// Tests the voices of `npc` until one speaks, with the reasons why those before it failed.
async fn speaks(services: &Registry, options: &Options, npc: &Npc) -> Result<Voiced, String> {
    options.voice(&npc.voice).map_err(said)?;
    let mut failed: Vec<String> = Vec::new();
    for voice in options.voices.speaks(npc) {
        let service = services.voice(options, &voice).map_err(said)?;
        let found = match try_one(&*service, &voice).await {
            Ok(found) => found,
            Err(why) => {
                failed.push(why);
                continue;
            }
        };
        if failed.is_empty() {
            return Ok(found);
        }
        let why = failed.join("; ");
        let told = |found: String| format!("in its fallback voice, {found}: {why}");
        return Ok(match found {
            Voiced::Spoke(how) => Voiced::Spoke(told(how)),
            Voiced::Untried(reason) => Voiced::Untried(told(reason)),
        });
    }
    Err(failed.join("; "))
}

/// Tests a free voice; a paid one is not tried.
async fn try_one(tts: &dyn TextToSpeech, voice: &Voice) -> Result<Voiced, String> {
    if tts.priced_as().is_some() {
        let why = format!("'{}', not tried because it costs money", voice.voice_id);
        return Ok(Voiced::Untried(why));
    }
    let seconds = app::try_voice(tts, voice).await.map_err(said)?;
    let how = format!("{} '{}', {seconds:.1} s for a word", voice.provider, voice.voice_id);
    Ok(Voiced::Spoke(how))
}

/// Numbers of tracks and moods, or the first own track without sound.
fn music(config: &Config) -> Result<String, String> {
    let library = &config.music;
    let own: Vec<_> =
        library.tracks.iter().filter(|it| shipped_sound(&it.file).is_none()).collect();
    for track in &own {
        let named = |why: String| format!("'{}': {why}", track.file.display());
        check_sound(&track.file).map_err(named)?;
    }
    let own = own.len();
    let built_in = library.tracks.len() - own;
    let moods = library.moods().len();
    Ok(match own {
        0 => format!(
            "{} with {moods} moods, all built in (put your own into the folder 'music')",
            counted(built_in, "track")
        ),
        own => format!(
            "{} of yours and {built_in} built in, with {moods} moods",
            counted(own, "track")
        ),
    })
}

/// Tries to write; removes a folder that it had to create.
fn writable(folder: &Path) -> Result<String, String> {
    let probe = folder.join(".glyphoxa-probe");
    let was_there = folder.exists();
    let written = files::private_folder(folder).and_then(|()| files::replaceable(&probe));
    let removed = if was_there { Ok(()) } else { fs::remove_dir(folder) };
    written
        .and(removed)
        .map(|()| format!("'{}' is writable", folder.display()))
        .map_err(|error| format!("'{}' is not writable: {error} (set data_dir)", folder.display()))
}
