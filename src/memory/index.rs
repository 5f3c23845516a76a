//! What is searched by meaning: pieces of conversation and facts, with vectors made elsewhere.
//!
//! Entry trait: [`Index`]. **Never**: makes a vector.

use serde::{Deserialize, Serialize};

use super::{CampaignKey, StoreFuture, Viewer, Visibility};

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// Lines that belong together.
    Chunk,
    /// Something that is so.
    Fact,
}

/// Whether it counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Waits for the game master.
    Proposed,
    /// Counts.
    #[default]
    Accepted,
    /// Is not so; kept so that it is not proposed again.
    Rejected,
}

/// A piece of text worth finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Its identity in the campaign, of the caller's making.
    pub id: String,
    /// What it is.
    pub kind: ItemKind,
    /// The text.
    pub text: String,
    /// The session it comes from; `None`: from none.
    pub session: Option<String>,
    /// First and last line it comes from, both included; `None`: from no lines.
    pub lines: Option<(u64, u64)>,
    /// Who may see it.
    pub visibility: Visibility,
    /// Whether it counts.
    pub status: Status,
    /// When it was made, in Unix time in ms.
    pub made: i64,
}

/// Which items.
#[derive(Clone, Debug, Default)]
pub struct ItemFilter {
    /// These.
    pub ids: Option<Vec<String>>,
    /// Of these kinds; empty: of any.
    pub kinds: Vec<ItemKind>,
    /// Of this status; `None`: of any.
    pub status: Option<Status>,
    /// From this session.
    pub session: Option<String>,
    /// Accepted or proposed ones that have no vector of this model.
    pub without: Option<String>,
    /// At most so many, the oldest first; 0: all.
    pub limit: usize,
}

/// Where an item lies in the space of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    /// The item.
    pub item: String,
    /// The vector; any length, never all zeros, and always as long for one model.
    pub values: Vec<f32>,
}

/// A search by meaning: exact, by cosine.
#[derive(Clone, Debug)]
pub struct VectorQuery {
    /// The model the vectors are of.
    pub model: String,
    /// What is looked for.
    pub values: Vec<f32>,
    /// Of these kinds; empty: of any.
    pub kinds: Vec<ItemKind>,
    /// At most so many.
    pub limit: usize,
}

/// A search by words.
#[derive(Clone, Debug, Default)]
pub struct ItemQuery {
    /// Words, as somebody types or says them; one of them suffices.
    pub text: String,
    /// Of these kinds; empty: of any.
    pub kinds: Vec<ItemKind>,
    /// From this session.
    pub session: Option<String>,
    /// At most so many.
    pub limit: usize,
}

/// An item found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ItemHit {
    /// The item.
    #[serde(flatten)]
    pub item: Item,
    /// The higher the better; of vectors the cosine.
    pub score: f64,
}

/// The second layer. Rejected items are found by [`Index::items`] alone, proposed ones elsewhere
/// only by the game master.
pub trait Index: Send + Sync {
    /// Writes items, in place of those of the same ids; a changed text loses its vectors. A chunk
    /// marks its lines as indexed. An item from lines that are withdrawn, forgotten or not there is
    /// not written. Gives how many were written.
    fn put_items<'a>(&'a self, campaign: &'a CampaignKey, items: Vec<Item>)
    -> StoreFuture<'a, u64>;

    /// Items, the oldest first.
    fn items<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        filter: ItemFilter,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<Item>>;

    /// Writes vectors of `model`; those of items that are gone are left out. Gives how many were
    /// written.
    fn put_vectors<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        model: &'a str,
        vectors: Vec<Vector>,
    ) -> StoreFuture<'a, u64>;

    /// The nearest items, the best first. A query whose length is not the model's finds nothing.
    fn nearest<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        query: VectorQuery,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<ItemHit>>;

    /// Items that hold words, the best first.
    fn search_items<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        query: ItemQuery,
        viewer: Viewer,
    ) -> StoreFuture<'a, Vec<ItemHit>>;

    /// Removes the vectors of every model but `model`. Gives how many there were.
    fn keep_vectors_of<'a>(
        &'a self,
        campaign: &'a CampaignKey,
        model: &'a str,
    ) -> StoreFuture<'a, u64>;
}
