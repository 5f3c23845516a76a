//! Makes tables from the current configuration. Entry type: [`TableFactory`].

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};

use super::{
    LiveConfig, OpenTables, Resumed, SeatedTable, TableRecogniser, Tools, open_table,
    seeded_for_session, servers, table_recogniser, turn_judge, voice_check::silent_npc,
};
use crate::{
    campaign::{
        AccountFor, Accounts, AddedServer, Announcer, Factory, GuildStore, HandleParts, Handles,
        KeptSession, KeptStore, MadeTable, OpenError, PlayedCampaign, RunningTable, Scoped,
        ServerError, TableRequest, Tables, TranscriptWriter,
    },
    config::{self, Config},
    domain::{Npc, Scope, SessionId, Voice},
    engine::{Budget, Synthesizer},
    memory::SessionFilter,
    provider::{Error, TurnJudge, VoiceService},
    session::TableSetup,
    tools::{
        self,
        connection::{ServerOptions, SessionFacts},
    },
};

/// The free voice of announcements.
const ANNOUNCER: &str = "slt";
/// Their voice in German.
const GERMAN_ANNOUNCER: &str = "de";

pub struct FactoryParts {
    /// The current configuration.
    pub config: Arc<LiveConfig>,
    /// Tools, shared by all tables.
    pub tools: Arc<Tools>,
    /// Running tables, whose NPCs change with their files.
    pub open: OpenTables,
    /// Writes transcripts.
    pub transcripts: TranscriptWriter,
    /// Pay for everything.
    pub accounts: Accounts,
}

struct Listeners {
    by: TableRecogniser,
    judge: Option<Arc<dyn TurnJudge>>,
}

/// Makes tables. Cloning shares it.
#[derive(Clone)]
pub struct TableFactory(Arc<FactoryParts>);

impl TableFactory {
    /// All services of a face, around tables of `parts`; general notices go to game masters of
    /// `tables`. Fails without a voice for announcements.
    pub fn handles(parts: FactoryParts, tables: Tables) -> Result<Handles, Error> {
        let voice = Voice::as_is(VoiceService::Flite.name(), ANNOUNCER);
        let store = parts.transcripts.store();
        let german = Voice::as_is(VoiceService::MULTILINGUAL.name(), GERMAN_ANNOUNCER);
        let speaks = |voice| parts.tools.services.voice(&parts.config.load().services, voice);
        let (announcing, in_german) = (speaks(&voice)?, speaks(&german)?);
        let slot = parts.tools.runs_slot().clone();
        let handles = Handles::new(HandleParts {
            settings: parts.config.settings(),
            transcripts: parts.transcripts.clone(),
            accounts: parts.accounts.clone(),
            tables,
            guilds: GuildStore::new(store, &parts.config.load().discord.folder),
            tools: parts.tools.host.clone(),
            servers: parts.tools.servers.clone(),
            music: parts.tools.music(),
            announcer: Announcer::new(announcing, voice)
                .and_german(in_german, german)
                .levelled_by(parts.tools.voice_levels()),
            factory: Arc::new(Self(Arc::new(parts))),
        });
        slot.fill(&handles.workflows);
        Ok(handles)
    }

    /// The configuration for a session of `played`; only names of files if the store fails.
    async fn config_for(&self, scope: &Scope, played: Option<&PlayedCampaign>) -> Config {
        let config = self.0.config.load_full();
        let store = self.0.transcripts.store();
        let at = Scoped::new(&*store, scope);
        let found = seeded_for_session(&config, at, played);
        found.await.unwrap_or_else(|error| {
            let error = format!("{error:#}");
            tracing::error!(%error, "names from the memory are missing (names in files still \
                                     work)");
            (*config).clone()
        })
    }

    /// The session that one of `scope` continues. If it names no campaign, its lines decide.
    async fn kept(
        &self,
        config: &Config,
        scope: &Scope,
        before: Option<&SessionId>,
    ) -> Result<KeptSession, OpenError> {
        let Some(before) = before else { return Ok(KeptSession::unkept()) };
        let store = self.0.transcripts.store();
        let kept = KeptStore::new(&*store, &config.data_dir).open(&before.0, scope).await?;
        if !kept.is_unclaimed() {
            return Ok(kept);
        }
        let filter = SessionFilter { id: Some(before.0.clone()), limit: 1 };
        let found = store.sessions(scope, filter).await;
        let is_theirs = found.is_ok_and(|found| !found.is_empty());
        Ok(if is_theirs { kept } else { KeptSession::unkept() })
    }

    fn make(
        &self,
        config: &Config,
        wanted: TableRequest,
        listeners: Listeners,
        resumed: Resumed,
    ) -> Result<MadeTable, OpenError> {
        let parts = &*self.0;
        let cannot_hear = listeners.by.cannot_hear;
        let setup = TableSetup {
            is_here: false,
            is_heard: true,
            session: wanted.session.clone(),
            stt: listeners.by.stt,
            judge: listeners.judge,
            outlets: wanted.outlets,
            host: parts.tools.host.at(&wanted.session, &wanted.scope),
            backlog: parts.transcripts.backlog(),
            seed: rand::random(),
        };
        let memory = Some(parts.transcripts.store());
        let table = open_table(config, &parts.tools, memory, resumed, setup)?;
        let commands = &table.handle.commands;
        let (scope, lists) = (wanted.scope.clone(), &parts.tools.lists);
        let seated = SeatedTable::new(commands, &table.seats, scope, config, lists);
        let seated = SeatedTable { played: wanted.played, is_told: true, ..seated };
        parts.open.add(seated.clone());
        let facts = servers::facts(&config.campaign, Some(&wanted.session));
        parts.tools.facts.begin(SessionFacts {
            session: wanted.session.clone(),
            owner: wanted.scope.owner,
            values: facts,
        });
        Ok(MadeTable {
            assistant: Arc::clone(&seated.assistant),
            table: RunningTable {
                handle: table.handle,
                task: table.task,
                cannot_hear,
                engines: Arc::new(seated),
            },
            budget: table.budget,
        })
    }
}

impl Factory for TableFactory {
    fn table(&self, wanted: TableRequest) -> BoxFuture<'static, Result<MadeTable, OpenError>> {
        let factory = self.clone();
        async move {
            let config = factory.config_for(&wanted.scope, wanted.played.as_ref()).await;
            if let Some(silent) = silent_npc(&factory.0.tools.lists, &config).await {
                return Err(OpenError::Voice(silent.to_string()));
            }
            let services = &factory.0.tools.services;
            let by = table_recogniser(services, &config, wanted.is_heard).await;
            let by = by.map_err(OpenError::Hearing)?;
            if let Some(why) = &by.cannot_hear {
                tracing::error!(why, "a session opens without hearing: no speech is recognised");
            }
            let judge = match wanted.is_heard {
                true => turn_judge(services, &config).await,
                false => None,
            };
            let listeners = Listeners { by, judge };
            let accounts = &factory.0.accounts;
            let account = AccountFor::Play { session: wanted.session.0.clone() };
            let budget = accounts.open(&wanted.scope, account, &config.budget).await?;
            // Read as late as possible: the previous session may be closing.
            let kept = factory.kept(&config, &wanted.scope, wanted.after.as_ref()).await?;
            // A new evening begins where the campaign does.
            let histories = kept.histories();
            let mut resumed = Resumed { histories, continuation: None, budget };
            if wanted.began.is_some() {
                let own = factory.kept(&config, &wanted.scope, Some(&wanted.session)).await?;
                // NPCs that have not spoken in it continue from the one before.
                resumed.histories.extend(own.histories());
                resumed.continuation = own.continuation();
            }
            factory.make(&config, wanted, listeners, resumed)
        }
        .boxed()
    }

    fn closed(&self, session: &SessionId) {
        self.0.tools.facts.end(session);
    }

    fn breakers(&self) -> Vec<(&'static str, Vec<(String, bool)>)> {
        self.0.tools.services.breakers(&self.0.config.load().services)
    }

    fn voice(&self, npc: &Arc<Npc>, budget: Budget) -> Result<Synthesizer, Error> {
        let (config, tools) = (self.0.config.load(), &self.0.tools);
        let voices = tools.services.voices(&config.services, npc)?;
        budget.expect(&npc.name, npc.policy.max_cost);
        let voice = Synthesizer::of(Arc::clone(npc), voices, budget, &config.campaign.entities);
        Ok(voice.levelled_by(tools.voice_levels()))
    }

    fn server(&self, name: &str, added: &AddedServer) -> Result<ServerOptions, ServerError> {
        let config = self.0.config.load();
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
        let mut options = config::server(&described, &manifests).map_err(ServerError::Wrong)?;
        if options.reach.is_inside() && !config.discord.trust_dms {
            return Err(ServerError::TooNear);
        }
        // Addresses are checked when names are resolved on connecting.
        options.reach.set_may_be_inside(config.discord.trust_dms);
        Ok(options)
    }
}
