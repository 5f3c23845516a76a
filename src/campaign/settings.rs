//! What services read of the configuration.
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

/// What is configured now; a reader takes the one there is.
pub type SharedSettings = Arc<ArcSwap<Settings>>;

/// What services read of the configuration.
pub struct Settings {
    /// The configured campaign.
    pub campaign: Arc<Campaign>,
    /// What is in the files of campaigns; every owner has entities of their own made of it.
    pub worlds: BTreeMap<CampaignKey, Arc<World>>,
    /// Further campaigns, which every server may play.
    pub shared: Vec<PlayedCampaign>,
    /// The NPCs, in the order of the files.
    pub cast: Vec<Arc<Npc>>,
    /// How the game master's assistant is asked outside sessions.
    pub assistant: AssistantSettings,
    /// What a session may spend.
    pub budget: BudgetOptions,
    /// How calls wait for a game master.
    pub approvals: ApprovalOptions,
    /// After a session the chat model summarises it and proposes facts.
    pub consolidate: bool,
    /// Folder of kept sessions and figures.
    pub data_dir: PathBuf,
    /// What figures of tools are measured in.
    pub environment: String,
    /// What the program works with, for the people who are heard.
    pub services: Services,
}

/// How the assistant is asked during a session; `app` replaces it when files change.
pub type SharedAssistant = Arc<ArcSwap<AssistantSettings>>;

/// How the game master's assistant is asked.
#[derive(Clone)]
pub struct AssistantSettings {
    /// Described as NPCs are, never at the table.
    pub npc: Arc<Npc>,
    /// What thinks for it.
    pub model: ModelMaker,
    /// What it knows the world of.
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
