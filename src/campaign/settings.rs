//! Parts of the configuration that services read. Entry type: [`Settings`], shared as
//! [`SharedSettings`]; `app` replaces it when files change.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use jiff::tz::TimeZone;

use super::{bringing::VoiceOffer, played::PlayedCampaign};
use crate::{
    domain::{Campaign, CampaignKey, Npc},
    import::campaign::World,
    logic::{budget::BudgetOptions, workflow::Workflows},
    provider::{Chain, ChatModel, Error, Services},
};

/// The current configuration; each load takes the settings of that moment.
pub type SharedSettings = Arc<ArcSwap<Settings>>;

/// Parts of the configuration that services read.
pub struct Settings {
    /// The configured campaign.
    pub campaign: Arc<Campaign>,
    /// Worlds from campaign files; every owner gets entities of their own from them.
    pub worlds: BTreeMap<CampaignKey, Arc<World>>,
    /// Further campaigns, which every server may play.
    pub shared: Vec<PlayedCampaign>,
    /// The NPCs, in the order of the files.
    pub cast: Vec<Arc<Npc>>,
    /// The assistant outside sessions.
    pub assistant: AssistantSettings,
    /// Spending limits of a session.
    pub budget: BudgetOptions,
    /// Settings of calls that wait for a game master.
    pub approvals: ApprovalOptions,
    /// After a session, the chat model summarises it and proposes facts.
    pub consolidate: bool,
    /// Folder of sessions and figures.
    pub data_dir: PathBuf,
    /// Environment in which tools are measured.
    pub environment: String,
    /// All services, for notices to players.
    pub services: Services,
    /// Settings of imported NPCs.
    pub imports: ImportSettings,
    /// Workflows of the folder `workflows`.
    pub workflows: Arc<Workflows>,
    pub schedules: ScheduleOptions,
}

/// Settings of schedules.
#[derive(Clone, Debug)]
pub struct ScheduleOptions {
    /// The table's time zone.
    pub zone: TimeZone,
    /// A missed firing is made up for once.
    pub catch_up: bool,
}

/// Settings of imported NPCs.
#[derive(Clone)]
pub struct ImportSettings {
    /// Folder of their files.
    pub npc_dir: PathBuf,
    /// ISO 639-1 code of those whose file says none.
    pub language: String,
    /// Lists the voices for them.
    pub voices: VoiceLister,
}

type List = dyn Fn() -> Vec<VoiceOffer> + Send + Sync;

/// Lists the voices that are installed or configured now, the preferred ones first. Cloning shares it.
#[derive(Clone)]
pub struct VoiceLister(Arc<List>);

impl VoiceLister {
    /// Uses `list`, which may read folders.
    pub fn new(list: impl Fn() -> Vec<VoiceOffer> + Send + Sync + 'static) -> Self {
        Self(Arc::new(list))
    }

    /// The voices.
    pub fn list(&self) -> Vec<VoiceOffer> {
        (self.0)()
    }
}

/// The assistant during a session; `app` replaces it when files change.
pub type SharedAssistant = Arc<ArcSwap<AssistantSettings>>;

/// Settings of the game master's assistant.
#[derive(Clone)]
pub struct AssistantSettings {
    /// Described like an NPC, but never at the table.
    pub npc: Arc<Npc>,
    /// Makes its chat model.
    pub model: ModelMaker,
    /// The campaign whose world it knows.
    pub campaign: Arc<Campaign>,
    /// Longest spoken answer, in tokens.
    pub max_tokens: u32,
    /// A slower tool call is bridged by a filler.
    pub filler_after: Duration,
}

type Make = dyn Fn(u64) -> Result<Chain<dyn ChatModel>, Error> + Send + Sync;

/// Makes the configured chat models. Cloning shares it.
#[derive(Clone)]
pub struct ModelMaker(Arc<Make>);

impl ModelMaker {
    /// Uses `make`, whose argument varies scripted lines.
    pub fn new(
        make: impl Fn(u64) -> Result<Chain<dyn ChatModel>, Error> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(make))
    }

    /// The models; `seed` varies scripted lines.
    ///
    /// # Errors
    /// An address or key that makes no request.
    pub fn make(&self, seed: u64) -> Result<Chain<dyn ChatModel>, Error> {
        (self.0)(seed)
    }
}

/// Default time limit for a decision.
const EXPIRES: Duration = Duration::from_secs(60);

/// Settings of calls that wait for a game master.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalOptions {
    /// Time after which an undecided call is refused.
    pub expires: Duration,
    /// Receives a notification for each waiting call.
    pub notify: Option<NotifyOptions>,
}

impl Default for ApprovalOptions {
    fn default() -> Self {
        Self { expires: EXPIRES, notify: None }
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct NotifyOptions {
    pub url: String,
    /// Key of the HMAC-SHA256 signature of each notification.
    pub secret: String,
}

impl fmt::Debug for NotifyOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}
