//! `glyphoxa voices`: voices of the configured services, to read and to hear.
//!
//! Entry function: [`run`].

use std::{
    io::{IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use clap::Args;
use futures::StreamExt;
use serde_json::json;

use super::{DONE, FAILED, Failure, ask, block_on, complain, stdout};
use crate::{
    app::{self, VoiceLists},
    audio::{Clip, SampleRate, write_wav},
    campaign::{AccountFor, Accounts, KnownVoice},
    config::Config,
    domain::{Npc, Voice},
    engine::Synthesizer,
    files,
    provider::{Error, NamedEntry, Registry, VoiceEntry, language_code},
    yaml::nearest,
};

type Entry = NamedEntry<VoiceEntry>;

/// Most voices that speak one text.
const SPEAKING_MAX: usize = 12;
/// Longest text to speak, in characters.
const TEXT_MAX: usize = 1_000;
/// Widest id of a table whose columns line up, in characters.
const ID_MAX: usize = 32;

#[derive(Args)]
#[command(after_help = "examples:
  glyphoxa voices --language de
  glyphoxa voices slt --play 'Well met, traveller.'")]
pub struct Arguments {
    /// Part of an id, a name or a description [default: all voices].
    name: Option<String>,
    /// Only voices of this service or entry, by its name in files [default: all configured].
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Only voices that may speak this language (ISO 639-1, such as de).
    #[arg(long, value_name = "CODE")]
    language: Option<String>,
    /// Speak this text in each of the voices; services with a price cost money.
    #[arg(long, value_name = "TEXT")]
    play: Option<String>,
    /// Save what is spoken as one recording: 48 kHz mono, 16-bit PCM.
    #[arg(long, value_name = "FILE.wav", requires = "play")]
    out: Option<PathBuf>,
    /// Print one JSON object per voice.
    #[arg(long)]
    json: bool,
}

/// Prints the voices, and has them speak if wanted. Exit status 1 without a voice.
pub fn run(config: &Config, arguments: &Arguments) -> Result<u8, Failure> {
    let entries = entries(config, arguments.provider.as_deref())?;
    if let Some(language) = &arguments.language
        && language_code(language).as_ref() != Some(language)
    {
        let why = format!("invalid language '{language}' (use an ISO 639-1 code, such as de)");
        return Err(Failure::Usage(why));
    }
    if let Some(text) = &arguments.play
        && (text.trim().is_empty() || text.chars().count() > TEXT_MAX)
    {
        return Err(Failure::Usage(format!("--play takes 1 to {TEXT_MAX} characters")));
    }
    if let Some(path) = &arguments.out {
        ask::check_out(path).map_err(Failure::usage)?;
    }
    block_on(async {
        let mut voices = listed(&VoiceLists::open(&config.data_dir), &entries).await;
        voices.retain(|voice| fits(voice, arguments));
        if voices.is_empty() {
            complain("no voice fits (see: glyphoxa voices; glyphoxa doctor tries the services)");
            return Ok(FAILED);
        }
        print(&voices, arguments.json)?;
        match &arguments.play {
            Some(text) => play(config, &voices, text, arguments.out.as_deref()).await,
            None => Ok(DONE),
        }
    })
}

/// The configured services, or the one called `provider`.
fn entries<'c>(config: &'c Config, provider: Option<&str>) -> Result<Vec<&'c Entry>, Failure> {
    let all = &config.services.voices;
    let found = all.called(provider);
    let Some(name) = provider.filter(|_| found.is_empty()) else { return Ok(found) };
    let known: Vec<&str> = all.named().iter().map(|entry| entry.name.as_str()).collect();
    let fix = nearest(name, known.iter().copied()).map_or_else(
        || format!("use one of: {}", known.join(", ")),
        |near| format!("did you mean {near}? configured: {}", known.join(", ")),
    );
    Err(Failure::Usage(format!("voice service '{name}' is not configured ({fix})")))
}

/// Voices of `entries`; reports services that list none.
async fn listed(lists: &VoiceLists, entries: &[&Entry]) -> Vec<KnownVoice> {
    let mut voices = Vec::new();
    for NamedEntry { name, entry } in entries {
        let of = |voice| KnownVoice { service: name.clone(), voice };
        match lists.of(entry).await {
            Ok(Some(listed)) => voices.extend(listed.into_iter().map(of)),
            Ok(None) => {
                complain(&format!("note: {} does not list its voices", entry.info()));
            }
            Err(error) => complain(&format!("note: no voices of {name}: {error}")),
        }
    }
    voices
}

fn fits(known: &KnownVoice, arguments: &Arguments) -> bool {
    let voice = &known.voice;
    let speaks = arguments.language.as_ref().is_none_or(|language| voice.speaks(language));
    let named = arguments.name.as_ref().is_none_or(|name| {
        let name = name.to_lowercase();
        [&voice.id, &voice.name, &voice.about].iter().any(|it| it.to_lowercase().contains(&name))
    });
    speaks && named
}

fn print(voices: &[KnownVoice], as_json: bool) -> Result<(), Failure> {
    let width = |text: &str| text.chars().count();
    let services = voices.iter().map(|it| width(&it.service)).max().unwrap_or_default();
    let ids = voices.iter().map(|it| width(&it.voice.id)).filter(|it| *it <= ID_MAX).max();
    let ids = ids.unwrap_or_default();
    let mut out = stdout();
    for known in voices {
        let KnownVoice { service, voice } = known;
        if as_json {
            let line = json!({
                "service": service, "id": voice.id, "name": voice.name,
                "languages": voice.languages, "about": voice.about,
            });
            writeln!(out, "{line}")?;
            continue;
        }
        let languages = match voice.languages.as_slice() {
            [] => "-".to_owned(),
            [one] => one.clone(),
            [one, ..] => format!("{one}+"),
        };
        let (id, about) = (&voice.id, known.about());
        let line = format!("{service:services$}  {id:ids$}  {languages:3}  {about}");
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Speaks `text` in each of `voices`, aloud or into a file.
async fn play(
    config: &Config,
    voices: &[KnownVoice],
    text: &str,
    file: Option<&Path>,
) -> Result<u8, Failure> {
    if voices.len() > SPEAKING_MAX {
        let count = voices.len();
        let why = format!(
            "{count} voices are too many to hear (name one, or narrow the list to {SPEAKING_MAX})"
        );
        return Err(Failure::Usage(why));
    }
    let player = match file {
        Some(_) => None,
        None if !std::io::stdout().is_terminal() => {
            let why = "nothing plays without a terminal (record it with --out FILE.wav)";
            return Err(Failure::usage(why));
        }
        // It has said what is missing.
        None => match ask::Player::found(false) {
            Some(player) => Some(player),
            None => return Ok(FAILED),
        },
    };
    let (mut samples, mut status) = (Vec::new(), DONE);
    for known in voices {
        match spoken(config, known, text).await {
            Ok(more) => match &player {
                Some(player) => {
                    player.tell(ask::Sound::Samples(more));
                    player.tell(ask::Sound::Rest);
                }
                None => samples.extend(more),
            },
            Err(Failure::Failed(error)) => {
                complain(&format!("{} {}: {error:#}", known.service, known.voice.id));
                status = FAILED;
            }
            Err(usage) => return Err(usage),
        }
    }
    if let Some(player) = player {
        player.finish(true).await;
    }
    if let Some(path) = file.filter(|_| !samples.is_empty()) {
        let wav = write_wav(&Clip { samples, rate: SampleRate::HZ_48000 });
        files::replace(path, &wav).with_context(|| format!("cannot write '{}'", path.display()))?;
    }
    Ok(status)
}

/// Samples of `text` at 48 kHz, paid like a call outside sessions.
async fn spoken(config: &Config, known: &KnownVoice, text: &str) -> Result<Vec<i16>, Failure> {
    let voice = Voice::as_is(&known.service, &known.voice.id);
    let service = Registry::default().voice(&config.services, &voice)?;
    let accounts = match service.priced_as() {
        Some(_) => app::accounts(config, None).await?,
        None => Accounts::new(None),
    };
    let scope = app::local_scope(config);
    let budget = accounts.open(&scope, AccountFor::Outside, &config.budget).await?;
    let npc = Arc::new(Npc { voice, ..config.assistant.clone() });
    let samples = synthesised(&Synthesizer::new(npc, service, budget, &[]), text).await;
    accounts.close().await;
    Ok(samples?)
}

async fn synthesised(voice: &Synthesizer, text: &str) -> Result<Vec<i16>, Error> {
    let (mut made, mut samples) = (voice.synthesise(text), Vec::new());
    while let Some(frames) = made.next().await {
        frames?.iter().for_each(|frame| samples.extend_from_slice(frame.samples()));
    }
    Ok(samples)
}
