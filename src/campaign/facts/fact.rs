//! A fact that a model proposes, and what a game master says to it.
//!
//! Entry types: [`Fact`], [`Verdict`]. **Never**: shows itself; every face does that in its own way.

use crate::domain::CampaignKey;
pub use crate::memory::Status as FactStatus;

/// Identity of a fact in a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactId {
    /// The campaign it is a fact of.
    pub campaign: CampaignKey,
    /// Its id there.
    pub fact: String,
}

/// A fact as game masters see it.
#[derive(Clone, Debug)]
pub struct Fact {
    /// By which it is found again, also after a restart.
    pub id: FactId,
    /// The fact, in words.
    pub text: String,
    /// The lines that prove it, quoted.
    pub proof: Vec<String>,
    /// Time of those lines, as text.
    pub when: String,
    /// Hidden from NPCs, accepted or not.
    pub dm_only: bool,
    /// State of the proposal.
    pub status: FactStatus,
}

/// Some of the facts that wait.
#[derive(Clone, Debug, Default)]
pub struct WaitingFacts {
    /// These, the oldest first.
    pub facts: Vec<Fact>,
    /// Number of facts before them.
    pub before: usize,
    /// Total number of waiting facts.
    pub all: usize,
    /// Reason the list may be empty.
    pub note: Option<&'static str>,
}

/// Requested page of the waiting facts.
#[derive(Clone, Copy, Debug)]
pub struct FactsPage {
    /// Number of facts before it.
    pub after: usize,
    /// At most so many.
    pub count: usize,
}

/// Verdict of the game master.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It holds as it is.
    Accept,
    /// It holds in these words.
    Edit(String),
    /// It does not.
    Reject,
}
