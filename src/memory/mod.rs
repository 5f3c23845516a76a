//! The memory of a table: its lines, searchable texts made from them, and the graph of its world.
//!
//! Entry trait: [`MemoryStore`]; all data belongs to one [`Scope`]. **Never**: makes vectors, asks
//! a model, or returns data hidden from the [`Viewer`].

mod deletion;
mod error;
mod graph;
mod index;
mod postgres;
mod settings;
mod spending;
mod sqlite;
#[cfg(test)]
mod suite;
mod text;
mod transcript;
mod viewer;

#[cfg(test)]
use crate::domain::Owner;
pub use crate::domain::{CampaignKey, Scope};
pub use deletion::{Deletion, Deletions, ForgetFrom};
pub use error::{Error, StoreFuture};
pub use graph::{
    Applied, Around, Change, DEPTH_MAX, Entity, EntityFilter, EntityKind, Graph, Neighbour,
    PATH_MAX, Provenance, Relation, RelationKey, Snapshot, Step, Tie,
};
pub use index::{
    Index, Item, ItemFilter, ItemHit, ItemKind, ItemQuery, Status, Vector, VectorQuery,
};
pub use postgres::{Address, Postgres};
pub use settings::{GuildRecord, Health, MemoryStore, Settings};
pub use spending::{AccountId, AccountRequest, MonthSpent, Posting, Spending};
pub use sqlite::{Sqlite, recognise};
pub use transcript::{
    Asked, Count, Counts, Forget, Forgotten, LineFilter, LineHit, LineQuery, Pick, Present,
    Session, SessionEntry, SessionFilter, Transcript, TranscriptLine, Uid, Utterance,
};
pub use viewer::{Viewer, Visibility};
