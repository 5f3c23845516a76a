//! A fact that a model proposes, and what a game master says to it.
//!
//! Entry types: [`Fact`], [`Verdict`]. **Never**: shows itself; every face does that in its own way.

use crate::campaign::PlayedCampaign;
pub use crate::memory::Status as FactStatus;

/// Which fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactId {
    /// Key of its campaign.
    pub campaign: String,
    /// Its id there.
    pub fact: String,
}

/// A fact as game masters see it.
#[derive(Clone, Debug)]
pub struct Fact {
    /// Which.
    pub id: FactId,
    /// What is so.
    pub text: String,
    /// The lines that prove it, quoted.
    pub proof: Vec<String>,
    /// When that was said.
    pub when: String,
    /// No NPC is told, accepted or not.
    pub dm_only: bool,
    /// What became of it.
    pub status: FactStatus,
}

/// Some of the facts that wait.
#[derive(Clone, Debug, Default)]
pub struct WaitingFacts {
    /// These, the oldest first.
    pub facts: Vec<Fact>,
    /// How many there are before them.
    pub before: usize,
    /// How many there are in all.
    pub all: usize,
    /// Why there may be none.
    pub note: Option<&'static str>,
}

/// Which of the facts that wait are wanted.
#[derive(Clone, Debug)]
pub struct WantedFacts {
    /// Of sessions of this guild.
    pub guild: u64,
    /// The campaign; `None`: the configured one.
    pub played: Option<PlayedCampaign>,
    /// After so many.
    pub after: usize,
    /// At most so many.
    pub count: usize,
}

/// What the game master says to a fact.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It holds.
    Accept,
    /// It holds in these words.
    Edit(String),
    /// It does not.
    Reject,
}
