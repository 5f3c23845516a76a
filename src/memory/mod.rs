//! What the table remembers: its lines, what was made searchable of them, and what is true in its
//! world.
//!
//! Entry trait: [`MemoryStore`]; everything in it belongs to one [`CampaignKey`]. **Never**: makes
//! vectors, asks a model, or shows a [`Viewer`] what it may not see.

mod error;
mod graph;
mod index;
mod postgres;
mod settings;
mod sqlite;
#[cfg(test)]
mod suite;
mod text;
mod transcript;
mod viewer;

use futures::future::BoxFuture;

pub use crate::domain::CampaignKey;
pub use error::Error;
pub use graph::{
    Applied, Around, Change, DEPTH_MAX, Entity, EntityFilter, EntityKind, Graph, Neighbour,
    PATH_MAX, Provenance, Relation, RelationKey, Snapshot, Step, Tie,
};
pub use index::{
    Index, Item, ItemFilter, ItemHit, ItemKind, ItemQuery, Status, Vector, VectorQuery,
};
pub use postgres::{Address, Postgres};
pub use settings::{GuildRecord, Health, Settings};
pub use sqlite::Sqlite;
pub use transcript::{
    Count, Counts, Forget, Forgotten, LineFilter, LineHit, LineQuery, Pick, Present, Session,
    SessionEntry, SessionFilter, Transcript, TranscriptLine, Uid, Utterance,
};
pub use viewer::{Viewer, Visibility};

/// What a store answers. Dropping it does not take back what was already asked for: a write may
/// still happen, whole.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// Everything a table remembers.
pub trait MemoryStore: Transcript + Graph + Index + Settings {}

impl<T: Transcript + Graph + Index + Settings> MemoryStore for T {}
