//! A fact that a model proposes, and the game master's verdict.

use crate::domain::CampaignKey;
pub use crate::memory::Status as FactStatus;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactId {
    pub campaign: CampaignKey,
    pub fact: String,
}

#[derive(Clone, Debug)]
pub struct Fact {
    /// Survives a restart.
    pub id: FactId,
    pub text: String,
    /// The lines that prove it, quoted.
    pub proof: Vec<String>,
    pub when: String,
    /// Hidden from NPCs, accepted or not.
    pub dm_only: bool,
    pub status: FactStatus,
}

#[derive(Clone, Debug, Default)]
pub struct WaitingFacts {
    pub facts: Vec<Fact>,
    /// Number of facts before this page.
    pub before: usize,
    pub all: usize,
    pub note: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
pub struct FactsPage {
    /// Number of facts before it.
    pub after: usize,
    /// Most facts on it.
    pub count: usize,
}

#[derive(Clone, Debug)]
pub enum Verdict {
    /// True as it is.
    Accept,
    /// True in these words.
    Edit(String),
    Reject,
}
