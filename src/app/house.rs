//! The program as the Discord bot sees it: tables opened from the configuration there is now.
//!
//! Entry type: [`Residence`]. **Never**: knows Discord's types.

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::UNIX_EPOCH,
};

use arc_swap::ArcSwap;
use futures::{FutureExt, StreamExt, future::BoxFuture};
use rand::{SeedableRng, rngs::StdRng};

use super::{
    Assistant, CallLog, IDENTITIES, Scribe, TableSetup, Tables, Tools, Transcribed, campaign_key,
    open_table, reload::wall_clock,
};
use crate::{
    app::kept::KeptSession,
    audio::Frame,
    config::{self, Config, LlmChoice, SttChoice, TtsChoice},
    discord::{AddedServer, House, Opened, Opening, Service, Services, Written},
    domain::{Campaign, Npc, SessionId, Voice},
    engine::{Purse, Shaping},
    logic::{
        budget::Ledger,
        dice::{DiceError, Outcome},
        spoken::read_dice,
    },
    provider::{Error, SpeakRequest, SpeechToText, TextToSpeech, flite::Flite, openai},
    session::{Kept, TurnLine},
    tools::{
        self, Effects, Report, ToolHost,
        connection::{ServerOptions, Servers},
    },
};

/// The voice of announcements: nobody's, and free.
const ANNOUNCER: &str = "slt";

/// Everything tables are opened from. Cloning shares it.
#[derive(Clone)]
pub struct Residence {
    config: Arc<ArcSwap<Config>>,
    tools: Arc<Tools>,
    tables: Tables,
    stt: Arc<dyn SpeechToText>,
    open: Arc<Mutex<HashMap<SessionId, Books>>>,
    /// Pays what is asked outside sessions.
    aside: Purse,
    dice: Arc<Mutex<StdRng>>,
    scribe: Scribe,
}

/// What is kept of a session while it runs.
struct Books {
    purse: Purse,
    calls: CallLog,
    written: Transcribed,
}

impl Residence {
    /// Opens tables from `config` as it is then; they are put into `tables`.
    pub fn new(
        config: Arc<ArcSwap<Config>>,
        tools: Arc<Tools>,
        tables: Tables,
        (stt, scribe): (Arc<dyn SpeechToText>, Scribe),
    ) -> Self {
        let aside = Purse::new(Ledger::new(config.load().budget.clone(), 0.0));
        let dice = Arc::new(Mutex::new(StdRng::seed_from_u64(rand::random())));
        Self { config, tools, tables, stt, open: Arc::default(), aside, dice, scribe }
    }

    /// Held for a line at most, never across an await.
    fn books(&self) -> MutexGuard<'_, HashMap<SessionId, Books>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_now(&self, opening: Opening) -> anyhow::Result<Opened> {
        let config = self.config.load_full();
        let kept = match &opening.after {
            Some(before) => KeptSession::open(&config.data_dir, &before.0)?,
            None => KeptSession::unkept(),
        };
        let setup = TableSetup {
            session: opening.session.clone(),
            histories: kept.histories(),
            spent: 0.0,
            stt: Arc::clone(&self.stt),
            out: opening.out,
            pace: opening.pace,
            host: self.tools.host.at(&opening.session),
            effects: opening.effects,
            events: opening.events.clone(),
            backlog: self.scribe.backlog(),
            memory: Some(self.scribe.store()),
            seed: rand::random(),
        };
        let id = &opening.session.0;
        let calls = KeptSession::open(&config.data_dir, id)?.call_log().unwrap_or_default();
        let calls = CallLog::open(calls, id)?;
        let table = open_table(&config, setup)?;
        self.tools.host.catalog().set_changes(&opening.session, opening.tools);
        self.tables.add(&table, opening.events);
        let written = Transcribed {
            campaign: campaign_key(&config),
            session: opening.session.0.clone(),
            guild: Some(opening.guild),
        };
        self.scribe.begins(&written);
        self.books().insert(opening.session, Books { purse: table.purse, calls, written });
        let cast = config.npcs.iter().cloned().map(Arc::new).collect();
        Ok(Opened { handle: table.handle, task: table.task, cast })
    }
}

impl House for Residence {
    fn name_session(&self, guild: u64) -> SessionId {
        let since = wall_clock().duration_since(UNIX_EPOCH).unwrap_or_default();
        SessionId(format!("discord-{guild}-{}", since.as_secs()))
    }

    fn open(&self, opening: Opening) -> BoxFuture<'static, Result<Opened, String>> {
        let house = self.clone();
        async move {
            house.stt.ready().await.map_err(|error| format!("I cannot hear: {error}"))?;
            house.open_now(opening).map_err(|error| format!("{error:#}"))
        }
        .boxed()
    }

    fn record(&self, session: &SessionId, line: &TurnLine) {
        if let Some(books) = self.books().get_mut(session) {
            if let Err(error) = books.calls.add(line) {
                tracing::error!(error = format!("{error:#}"), "tool calls are not logged");
            }
            self.scribe.line(&books.written, line);
        }
    }

    fn keep(&self, session: &SessionId, kept: Kept) -> BoxFuture<'static, Result<(), String>> {
        let books = self.books().remove(session);
        if let Some(books) = &books {
            self.scribe.ends(&books.written);
        }
        self.tools.host.catalog().set_changes(session, BTreeMap::new());
        let (folder, id): (PathBuf, String) =
            (self.config.load().data_dir.clone(), session.0.clone());
        async move {
            let save = move || {
                KeptSession::open(&folder, &id)?.save(
                    kept.histories.into_iter().collect(),
                    books.map_or(0.0, |books| books.purse.spent()),
                )
            };
            match tokio::task::spawn_blocking(save).await {
                Ok(saved) => saved.map_err(|error| format!("{error:#}")),
                Err(lost) => Err(lost.to_string()),
            }
        }
        .boxed()
    }

    fn cast(&self) -> Vec<Arc<Npc>> {
        self.config.load().npcs.iter().cloned().map(Arc::new).collect()
    }

    fn roll(&self, text: &str) -> Result<Outcome, DiceError> {
        let expression = read_dice(text)?;
        expression.roll(&mut *self.dice.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn campaign(&self) -> Arc<Campaign> {
        Arc::new(self.config.load().campaign.clone())
    }

    fn tools(&self) -> &ToolHost {
        &self.tools.host
    }

    fn servers(&self) -> &Servers {
        &self.tools.servers
    }

    fn services(&self) -> Services {
        services(&self.config.load())
    }

    fn ask(
        &self,
        session: Option<&SessionId>,
        text: String,
        effects: Arc<dyn Effects>,
    ) -> BoxFuture<'static, Result<Written, String>> {
        let own = session.and_then(|session| Some(self.books().get(session)?.purse.clone()));
        let purse = own.unwrap_or_else(|| self.aside.clone());
        let session = session.cloned().unwrap_or_else(|| SessionId("operator".to_owned()));
        let host = self.tools.host.at(&session);
        let paid = (session, purse);
        let opened = Assistant::open(&self.config.load(), paid, &host, effects, rand::random());
        async move {
            let assistant = opened.map_err(|error| error.to_string())?;
            let answer = assistant.ask(&text).await;
            let answer =
                answer.map_err(|why| format!("{} has no answer: {why}", assistant.name()))?;
            let tools = answer.tools.into_iter().map(|line| line.tool).collect();
            Ok(Written { text: answer.text, tools })
        }
        .boxed()
    }

    fn server(&self, name: &str, added: &AddedServer) -> Result<ServerOptions, String> {
        let config = self.config.load();
        let mut described = serde_json::json!({ "name": name });
        let given = [("command", &added.command), ("url", &added.url)];
        for (key, value) in
            given.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?)))
        {
            described[key] = value.as_str().into();
        }
        if let Some(token) = &added.token {
            described["auth"] = serde_json::json!({ "token": token });
        }
        let manifests = config.manifests.iter();
        let manifests: Vec<String> =
            manifests.map(|it| tools::identity(&it.namespace, &it.name)).collect();
        let options = config::server(&described, IDENTITIES, &manifests)?;
        if config::is_near(&options) && !config.discord.trust_dms {
            return Err(
                "programs on my machine, and addresses of its network, are not started or \
                        reached from Discord (whoever runs me can allow it: discord.trust_dms in \
                        glyphoxa.yaml; or give a public https:// address)"
                    .to_owned(),
            );
        }
        Ok(options)
    }

    fn figures(&self) -> Report {
        let config = self.config.load();
        tools::report(&config.data_dir, &config.environment)
    }

    fn announce(&self, text: String) -> BoxFuture<'static, Result<Vec<Frame>, String>> {
        async move { announcement(text).await.map_err(|error| error.to_string()) }.boxed()
    }
}

fn services(config: &Config) -> Services {
    let here = |name: &str| Service { name: name.to_owned(), is_local: true };
    let hears = match &config.stt {
        SttChoice::Local => here("PocketSphinx"),
        SttChoice::OpenAi { options, .. } => service(options),
    };
    let thinks = match &config.llm {
        LlmChoice::Scripted => here("written lines"),
        LlmChoice::OpenAi(options) => service(options),
    };
    let mut speaks = Vec::new();
    for npc in &config.npcs {
        let voice = match (npc.voice.provider.as_str(), &config.tts) {
            ("openai", TtsChoice::OpenAi(options)) => service(options),
            ("espeak", _) => here("espeak-ng"),
            _ => here("flite"),
        };
        if !speaks.contains(&voice) {
            speaks.push(voice);
        }
    }
    Services { hears, thinks, speaks, cap: config.budget.session_max }
}

fn service(options: &openai::Options) -> Service {
    let host = options.base_url.split("//").nth(1).and_then(|rest| rest.split('/').next());
    let name = format!("{} at {}", options.model, host.unwrap_or(&options.base_url));
    Service { name, is_local: config::is_local(&options.base_url) }
}

/// `text` as frames: 48 kHz.
async fn announcement(text: String) -> Result<Vec<Frame>, Error> {
    let mut chunks = Flite::new().speak(SpeakRequest {
        text,
        voice: Voice {
            provider: "flite".to_owned(),
            voice_id: ANNOUNCER.to_owned(),
            pitch_shift: 0.0,
            speed_factor: 1.0,
            volume: 1.0,
        },
        language: "en".to_owned(),
        pronunciation: Arc::from([]),
    });
    let (mut frames, mut shaping) = (Vec::new(), Shaping::new(1.0));
    while let Some(chunk) = chunks.next().await {
        frames.extend(shaping.push(&chunk?)?);
    }
    frames.extend(shaping.finish());
    Ok(frames)
}
