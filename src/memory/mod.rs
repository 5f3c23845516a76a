//! The memory of a table: its lines, searchable texts made from them, and the graph of its world.
//!
//! Entry trait: [`MemoryStore`]; all data belongs to one [`Scope`]. **Never**: makes vectors, asks
//! a model, or returns data hidden from the [`Viewer`].

mod automation;
mod deletion;
mod graph;
mod index;
mod kept_tables;
mod leases;
mod postgres;
mod settings;
mod spending;
mod sqlite;
#[cfg(test)]
mod suite;
mod text;
mod tokens;
mod transcript;

#[cfg(test)]
use crate::domain::Owner;
pub use crate::domain::{CampaignKey, Scope};
pub use automation::{Automation, Claim, KeptRun, KeptSchedule};
pub use deletion::{Deletion, Deletions, ForgetFrom};
pub use graph::{
    Applied, Around, Change, DEPTH_MAX, Entity, EntityFilter, EntityKind, Graph, Neighbour,
    PATH_MAX, Provenance, Relation, RelationKey, Snapshot, Step, Tie,
};
pub use index::{
    Index, Item, ItemFilter, ItemHit, ItemKind, ItemQuery, Status, Vector, VectorQuery,
};
pub use kept_tables::{KeptTable, KeptTables};
pub use leases::{
    IDENTIFY_APART, LEASE_TTL, Lease, Leases, Node, NodeStatus, fair_share, shard_of,
};
pub use postgres::{Address, Postgres};
pub use settings::{GuildRecord, Health, MemoryStore, Settings};
pub use spending::{AccountId, AccountRequest, DayCost, MonthSpent, Posting, Spending};
pub use sqlite::{Sqlite, recognise};
pub use tokens::{AccessTokens, KeptToken};
pub use transcript::{
    ASKED, Asked, CANCELLED, Count, Counts, Forget, Forgotten, LineFilter, LineHit, LineQuery,
    Pick, Present, Session, SessionEntry, SessionFilter, Transcript, TranscriptLine, Uid,
    Utterance,
};

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// Error of a request, which then had no effect, with one exception: a deletion that fails with
/// [`Error::Away`] may have left words in a log and must be requested again.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// Unreachable, or the disk is full; the same request may work later.
    #[error("the memory cannot be reached: {0}")]
    Away(String),
    #[error(
        "the memory has schema {found}, and this glyphoxa knows {known} (update glyphoxa, or point \
         'memory' elsewhere)"
    )]
    Newer { found: u32, known: u32 },
    /// A step of its schema differs from the one in this program.
    #[error(
        "schema step {0} of the memory was not made by a released glyphoxa (restore a backup, or \
         point 'memory' elsewhere)"
    )]
    Foreign(u32),
    #[error("the memory failed: {0} (this is a fault of glyphoxa; please report it)")]
    Failed(String),
    #[error("the memory is damaged: {0} (restore a backup, or move its file away to start over)")]
    Damaged(String),
    #[error("{0}")]
    Asked(String),
    /// A write for this Discord server, whose shard this process does not hold.
    #[error(
        "nothing was written for server '{0}': another node serves it now (if this node should, check \
         its load and its connection to PostgreSQL; 'glyphoxa nodes' lists all nodes)"
    )]
    Fenced(u64),
}

impl Error {
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Away(_))
    }
}

/// Answer of a store. Dropping it does not cancel the request: a write may still happen, as a
/// whole.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// The viewer of an answer. Applied inside the query, never to its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// The game master: everything except withdrawn lines.
    Dm,
    /// The players: everything for everyone, but only accepted items.
    Everyone,
    /// An NPC. Lines: those it was present at. Items: accepted ones for everyone, if they come from
    /// no session or only from lines it was present at; and those that name it. Entities and
    /// relations: those for everyone, if they have no topics or share one with it; and those that
    /// name it.
    Npc { name: String, knows: Vec<String> },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    #[default]
    Everyone,
    Dm,
    Npcs(Vec<String>),
}

impl Visibility {
    /// True if some viewers may not see it.
    pub fn is_gated(&self) -> bool {
        *self != Self::Everyone
    }
}
