//! Parts of the configuration that services read.
//!
//! Entry type: [`Settings`], shared as [`SharedSettings`]: `app` replaces it when files change.
//! **Never**: read from a file here.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use arc_swap::ArcSwap;

use super::{approvals::ApprovalOptions, played::PlayedCampaign};
use crate::{
    domain::{Campaign, CampaignKey, Npc},
    import::campaign::World,
    logic::budget::BudgetOptions,
    provider::{Chain, ChatModel, Error, Services},
};

/// The current configuration; each load takes the settings of that moment.
pub type SharedSettings = Arc<ArcSwap<Settings>>;

/// Parts of the configuration that services read.
pub struct Settings {
    /// The configured campaign.
    pub campaign: Arc<Campaign>,
    /// Worlds from the files of campaigns; every owner has entities of their own made of them.
    pub worlds: BTreeMap<CampaignKey, Arc<World>>,
    /// Further campaigns, which every server may play.
    pub shared: Vec<PlayedCampaign>,
    /// The NPCs, in the order of the files.
    pub cast: Vec<Arc<Npc>>,
    /// Settings of the game master's assistant outside sessions.
    pub assistant: AssistantSettings,
    /// Spending limits of a session.
    pub budget: BudgetOptions,
    /// Settings of calls that wait for a game master.
    pub approvals: ApprovalOptions,
    /// After a session the chat model summarises it and proposes facts.
    pub consolidate: bool,
    /// Folder of kept sessions and figures.
    pub data_dir: PathBuf,
    /// Environment in which figures of tools are measured.
    pub environment: String,
    /// The services of the program, for the people who are heard.
    pub services: Services,
}

/// Settings of the assistant during a session; `app` replaces them when files change.
pub type SharedAssistant = Arc<ArcSwap<AssistantSettings>>;

/// Settings of the game master's assistant.
#[derive(Clone)]
pub struct AssistantSettings {
    /// Described as NPCs are, never at the table.
    pub npc: Arc<Npc>,
    /// Makes its chat model.
    pub model: ModelMaker,
    /// The campaign whose world it knows.
    pub campaign: Arc<Campaign>,
    /// Longest spoken answer, in tokens.
    pub max_tokens: u32,
    /// A tool call that takes longer is bridged by a filler.
    pub filler_after: Duration,
}

type Make = dyn Fn(u64) -> Result<Chain<dyn ChatModel>, Error> + Send + Sync;

/// Makes the configured chat models. Cloning shares it.
#[derive(Clone)]
pub struct ModelMaker(Arc<Make>);

impl ModelMaker {
    /// Makes them with `make`, which is given what varies scripted lines.
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
