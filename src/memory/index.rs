//! Searching by meaning: pieces of conversation and facts, with vectors made elsewhere.
//!
//! Entry trait: [`Index`]. **Never**: makes a vector.

use serde::{Deserialize, Serialize};

use crate::domain::Scope;

use super::{
    reply::StoreFuture,
    viewer::{Viewer, Visibility},
};

/// Kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// A piece of conversation: lines that belong together.
    Chunk,
    /// A statement about the world.
    Fact,
}

/// Validity of an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Waits for the game master's decision.
    Proposed,
    /// It counts as true; NPCs may know of it.
    #[default]
    Accepted,
    /// Rejected; kept so that it is not proposed again.
    Rejected,
}

/// A piece of text worth finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Its identity in the campaign, chosen by the caller.
    pub id: String,
    /// Its kind.
    pub kind: ItemKind,
    /// Text that is searched and shown.
    pub text: String,
    /// The session it comes from, if any.
    pub session: Option<String>,
    /// First and last line it comes from, both included; `None`: from no lines.
    pub lines: Option<(u64, u64)>,
    /// Viewers that may see it.
    pub visibility: Visibility,
    /// Its validity.
    pub status: Status,
    /// Time of creation, in Unix time in ms.
    pub made: i64,
}

/// Narrows a list of items; the default takes all.
#[derive(Clone, Debug, Default)]
pub struct ItemFilter {
    /// Only the items with these ids.
    pub ids: Option<Vec<String>>,
    /// Of these kinds; empty: of any.
    pub kinds: Vec<ItemKind>,
    /// Of this status; `None`: of any.
    pub status: Option<Status>,
    /// From this session.
    pub session: Option<String>,
    /// Accepted or proposed ones that have no vector of this model.
    pub without: Option<String>,
    /// The most to return, oldest first; 0: all.
    pub limit: usize,
}

/// The vector of one item by one model.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    /// Id of the item it was made of.
    pub item: String,
    /// The values; never all zeros, and of one length for each model.
    pub values: Vec<f32>,
}

/// A search by meaning: exact, by cosine.
#[derive(Clone, Debug)]
pub struct VectorQuery {
    /// The model the vectors are of.
    pub model: String,
    /// The vector of what is searched for.
    pub values: Vec<f32>,
    /// Of these kinds; empty: of any.
    pub kinds: Vec<ItemKind>,
    /// At most so many.
    pub limit: usize,
}

/// A search by words.
#[derive(Clone, Debug, Default)]
pub struct ItemQuery {
    /// Words as typed or said; one match suffices.
    pub text: String,
    /// Of these kinds; empty: of any.
    pub kinds: Vec<ItemKind>,
    /// From this session.
    pub session: Option<String>,
    /// At most so many.
    pub limit: usize,
}

/// A search result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemHit {
    /// The item that was found.
    #[serde(flatten)]
    pub item: Item,
    /// Higher is better; for vectors it is the cosine.
    pub score: f64,
}

/// The second layer. Only [`Index::items`] finds rejected items; searches find proposed ones for
/// the game master alone.
pub trait Index: Send + Sync {
    /// Writes items, in place of those of the same ids; a changed text loses its vectors. A chunk
    /// marks its lines as indexed. An item from lines that are withdrawn, forgotten or not there is
    /// not written. Answers how many were written.
    fn put_items<'a>(&'a self, scope: &'a Scope, items: Vec<Item>) -> StoreFuture<'a, u64>;

    /// Items, the oldest first.
    fn items<'a>(
        &'a self,
        scope: &'a Scope,
        filter: ItemFilter,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<Item>>;

    /// Writes vectors of `model`; those of items that are gone are left out. Gives how many were
    /// written.
    fn put_vectors<'a>(
        &'a self,
        scope: &'a Scope,
        model: &'a str,
        vectors: Vec<Vector>,
    ) -> StoreFuture<'a, u64>;

    /// The nearest items, the best first. A query whose length is not the model's finds nothing.
    fn nearest<'a>(
        &'a self,
        scope: &'a Scope,
        query: VectorQuery,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<ItemHit>>;

    /// Items that hold words, the best first.
    fn search_items<'a>(
        &'a self,
        scope: &'a Scope,
        query: ItemQuery,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<ItemHit>>;

    /// Removes the vectors of every model but `model`. Answers how many there were.
    fn keep_vectors_of<'a>(&'a self, scope: &'a Scope, model: &'a str) -> StoreFuture<'a, u64>;
}
