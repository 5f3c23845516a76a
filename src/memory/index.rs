//! Search by meaning: pieces of conversation and facts, with vectors made elsewhere.
//!
//! Entry trait: [`Index`].

use serde::{Deserialize, Serialize};

use crate::domain::Scope;

use super::{StoreFuture, Viewer, Visibility};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// Consecutive lines of a conversation.
    Chunk,
    Fact,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Proposed,
    /// Counts as true; NPCs may know it.
    #[default]
    Accepted,
    /// Stored so that it is not proposed again.
    Rejected,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Chosen by the caller, unique in the campaign.
    pub id: String,
    pub kind: ItemKind,
    /// Searched and shown.
    pub text: String,
    pub session: Option<String>,
    /// First and last line, both included; `None`: not from lines.
    pub lines: Option<(u64, u64)>,
    pub visibility: Visibility,
    pub status: Status,
    pub made: i64,
}

/// Filter for items; the default matches all.
#[derive(Clone, Debug, Default)]
pub struct ItemFilter {
    pub ids: Option<Vec<String>>,
    pub kinds: Vec<ItemKind>,
    pub status: Option<Status>,
    pub session: Option<String>,
    /// Accepted or proposed items without a vector of this model.
    pub without: Option<String>,
    /// Most to return, oldest first; 0: all.
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    pub item: String,
    /// Never all zeros; one length per model.
    pub values: Vec<f32>,
}

/// An exact search by cosine.
#[derive(Clone, Debug)]
pub struct VectorQuery {
    pub model: String,
    pub values: Vec<f32>,
    pub kinds: Vec<ItemKind>,
    pub limit: usize,
}

#[derive(Clone, Debug, Default)]
pub struct ItemQuery {
    /// Words as typed or spoken; one match suffices.
    pub text: String,
    pub kinds: Vec<ItemKind>,
    pub session: Option<String>,
    pub limit: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemHit {
    #[serde(flatten)]
    pub item: Item,
    /// Higher is better; the cosine for vectors.
    pub score: f64,
}

/// The second layer. Only [`Index::items`] returns rejected items; searches return proposed ones to
/// the game master alone.
pub trait Index: Send + Sync {
    /// Writes items over those with the same ids; a changed text loses its vectors. A chunk marks
    /// its lines as indexed. Skips items whose lines are withdrawn, deleted or missing. Returns the
    /// number written.
    fn put_items<'a>(&'a self, scope: &'a Scope, items: Vec<Item>) -> StoreFuture<'a, u64>;

    fn items<'a>(
        &'a self,
        scope: &'a Scope,
        filter: ItemFilter,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<Item>>;

    /// Writes vectors of `model`, skipping removed items. Returns the number written.
    fn put_vectors<'a>(
        &'a self,
        scope: &'a Scope,
        model: &'a str,
        vectors: Vec<Vector>,
    ) -> StoreFuture<'a, u64>;

    /// The nearest items, best first; empty if the length is not the model's.
    fn nearest<'a>(
        &'a self,
        scope: &'a Scope,
        query: VectorQuery,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<ItemHit>>;

    /// Items that contain words, best first.
    fn search_items<'a>(
        &'a self,
        scope: &'a Scope,
        query: ItemQuery,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<ItemHit>>;

    /// Removes the vectors of all other models. Returns their number.
    fn keep_vectors_of<'a>(&'a self, scope: &'a Scope, model: &'a str) -> StoreFuture<'a, u64>;
}
