//! All services of a face (Discord, the command line, programs outside). Entry type: [`Handles`].

use std::sync::Arc;

use super::{
    access::Access,
    analytics::Analytics,
    announcer::Announcer,
    assistant::Questions,
    bringing::PreviewedFiles,
    dice::Dice,
    factory::Factory,
    facts::ProposedFacts,
    guilds::GuildStore,
    notices::{Notifier, Tables},
    outside::{Outside, OutsideParts},
    played::{PlayedCampaign, key_of},
    privacy::Privacy,
    recap::Recaps,
    schedules::{Evenings, Schedules, SchedulesParts},
    served::Served,
    sessions::{Sessions, SessionsParts},
    settings::SharedSettings,
    spend::Accounts,
    transcript::TranscriptWriter,
    workflows::{WorkflowParts, WorkflowRuns},
    world::{SeededWorlds, WorldEdits},
};
use crate::{
    domain::{Npc, Owner, Scope, SessionId},
    figures::Figures,
    memory::Leases,
    tools::{Payments, ToolHost, builtin::Music, connection::Servers},
};

/// Parts of [`Handles`].
pub struct HandleParts {
    /// The configuration.
    pub settings: SharedSettings,
    /// Makes tables and servers from the configuration.
    pub factory: Arc<dyn Factory>,
    /// Writes transcripts.
    pub transcripts: TranscriptWriter,
    /// Accounts that pay for everything.
    pub accounts: Accounts,
    /// Running tables, for general notices to game masters.
    pub tables: Tables,
    /// Settings of guilds.
    pub guilds: GuildStore,
    /// All tools.
    pub tools: ToolHost,
    /// MCP servers that provide tools.
    pub servers: Servers,
    /// Speaks announcements.
    pub announcer: Announcer,
    /// Music that tables may play.
    pub music: Music,
}

/// All services of a face. Cloning shares them.
#[derive(Clone)]
pub struct Handles {
    /// The current configuration.
    pub settings: SharedSettings,
    /// Makes tables and servers from the configuration.
    pub factory: Arc<dyn Factory>,
    /// Running sessions.
    pub sessions: Sessions,
    /// Running tables, blocked ones among them.
    pub tables: Tables,
    /// Figures of this run of the program.
    pub figures: Figures,
    /// Pay for calls outside sessions.
    accounts: Accounts,
    /// Settings of guilds.
    pub guilds: GuildStore,
    /// Access tokens of programs outside.
    pub access: Access,
    /// Stored data of people.
    pub privacy: Privacy,
    /// Recaps of sessions.
    pub recaps: Recaps,
    /// Facts that models propose.
    pub facts: ProposedFacts,
    /// Worlds of campaigns.
    pub world: WorldEdits,
    /// The game master's assistant.
    pub assistant: Questions,
    /// Speaks announcements.
    pub announcer: Announcer,
    /// Dice that people roll themselves.
    pub dice: Dice,
    /// All tools.
    pub tools: ToolHost,
    /// MCP servers that provide tools.
    pub servers: Servers,
    /// Notifies an operator of waiting calls, and lets the notified system decide them.
    pub notifier: Notifier,
    /// Music that tables may play.
    pub music: Music,
    /// Workflows and lines at set times.
    pub schedules: Schedules,
    /// Workflows that run.
    pub workflows: WorkflowRuns,
    /// Tables, as programs outside use them.
    pub outside: Outside,
}

impl Handles {
    /// Builds the services of one run of the program.
    pub fn new(parts: HandleParts) -> Self {
        let (dice, evenings) = (Dice::new(rand::random()), Evenings::default());
        let workflows = workflows(&parts, dice.clone());
        let schedules = schedules(&parts, evenings.clone());
        let sessions = sessions(&parts, evenings, workflows.clone());
        let outside = outside(&parts, sessions.clone());
        let HandleParts {
            settings,
            factory,
            transcripts,
            accounts,
            tables,
            guilds,
            tools,
            servers,
            announcer,
            music,
        } = parts;
        let store = transcripts.store();
        Self {
            access: Access::new(Arc::clone(&store)),
            privacy: Privacy::new(Arc::clone(&settings), sessions.clone()),
            recaps: Recaps {
                settings: Arc::clone(&settings),
                sessions: sessions.clone(),
                accounts: accounts.clone(),
            },
            facts: ProposedFacts::new(Arc::clone(&settings), Arc::clone(&store)),
            world: WorldEdits {
                settings: Arc::clone(&settings),
                store,
                previewed: PreviewedFiles::default(),
                seeded: SeededWorlds::default(),
            },
            assistant: Questions {
                settings: Arc::clone(&settings),
                sessions: sessions.clone(),
                accounts: accounts.clone(),
                tools: tools.clone(),
            },
            figures: accounts.figures().clone(),
            accounts,
            notifier: Notifier::new(Arc::clone(&settings)),
            dice,
            settings,
            factory,
            sessions,
            tables,
            guilds,
            announcer,
            tools,
            servers,
            music,
            schedules,
            workflows,
            outside,
        }
    }

    /// Payments for tools called as `npc`: from the running `session`, else from outside sessions.
    pub fn payments(
        &self,
        scope: &Scope,
        session: Option<&SessionId>,
        npc: &Arc<Npc>,
    ) -> Arc<dyn Payments> {
        let own = session.and_then(|session| self.sessions.payments(session, npc));
        own.unwrap_or_else(|| self.accounts.payments(scope, &self.settings.load().budget, npc))
    }

    /// Owners that this process serves.
    pub fn served(&self) -> &Served {
        self.sessions.transcripts().served()
    }

    /// Leases of shards of Discord's gateway.
    pub fn leases(&self) -> Arc<dyn Leases> {
        self.sessions.transcripts().store()
    }

    /// Reports of calls and costs of `scope`.
    pub fn analytics(&self, scope: Scope) -> Analytics {
        let data_dir = self.settings.load().data_dir.clone();
        Analytics::new(self.sessions.transcripts().store(), data_dir, scope)
    }

    /// Scope of `owner` in `played`, or in the configured campaign.
    pub fn scope(&self, owner: Owner, played: Option<&PlayedCampaign>) -> Scope {
        let campaign = match played {
            Some(played) => key_of(&played.name),
            None => key_of(&self.settings.load().campaign.name),
        };
        Scope { owner, campaign }
    }
}

/// Runs workflows.
fn workflows(parts: &HandleParts, dice: Dice) -> WorkflowRuns {
    WorkflowRuns::new(WorkflowParts {
        settings: Arc::clone(&parts.settings),
        accounts: parts.accounts.clone(),
        tools: parts.tools.clone(),
        music: parts.music.clone(),
        dice,
        guilds: Some(parts.guilds.clone()),
        store: Some(parts.transcripts.store()),
    })
}

/// Opens sessions, which workflows and schedules use.
fn sessions(parts: &HandleParts, evenings: Evenings, workflows: WorkflowRuns) -> Sessions {
    Sessions::new(SessionsParts {
        settings: Arc::clone(&parts.settings),
        factory: Arc::clone(&parts.factory),
        transcripts: parts.transcripts.clone(),
        tables: parts.tables.clone(),
        tools: parts.tools.clone(),
        evenings,
        workflows,
        figures: parts.accounts.figures().clone(),
    })
}

/// Serves programs outside.
fn outside(parts: &HandleParts, sessions: Sessions) -> Outside {
    Outside::new(OutsideParts {
        settings: Arc::clone(&parts.settings),
        factory: Arc::clone(&parts.factory),
        sessions,
        accounts: parts.accounts.clone(),
        guilds: parts.guilds.clone(),
    })
}

/// Starts workflows and lines at set times.
fn schedules(parts: &HandleParts, evenings: Evenings) -> Schedules {
    let (settings, store) = (Arc::clone(&parts.settings), parts.transcripts.store());
    Schedules::new(SchedulesParts { settings, store, evenings })
}
