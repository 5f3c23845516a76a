//! Contracts of embedding models, web search, picture services and judges of the end of speech.
//!
//! Entry types: [`Embedder`], [`WebSearch`], [`ImageModel`], [`TurnJudge`]. **Never**: compares
//! vectors, stores a result, decides whether a picture may be shown or when a turn ends.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::oneshot;

use super::{Attempts, Error};
use crate::{audio::Frame, logic::budget::Consumption};

pub trait Embedder: Send + Sync {
    /// Short name for logs and reports ("openai").
    fn name(&self) -> &str;

    /// Length of its vectors; `None` before the first answer.
    fn dimension(&self) -> Option<usize>;

    /// Returns one vector per text, in order, all of one length, not normalised. Cancel safe.
    fn embed(&self, texts: &[String]) -> BoxFuture<'static, Result<Vec<Vec<f32>>, Error>>;
}

pub trait ImageModel: Send + Sync {
    /// Name in the price list; `None`: free.
    fn priced_as(&self) -> Option<&str>;

    /// Makes one picture. Cancel safe, but a dropped request may still be billed.
    fn generate(&self, request: ImageRequest) -> BoxFuture<'static, Result<Picture, NoPicture>>;
}

#[derive(Clone, Debug, Default)]
pub struct ImageRequest {
    pub prompt: String,
    pub attempts: Attempts,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// At most 8 MiB.
    pub bytes: Arc<[u8]>,
    /// `image/png` or `image/jpeg`.
    pub mime: &'static str,
    /// Use counted by the service; only the picture where the count is implausible.
    pub used: Consumption,
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum NoPicture {
    /// The service refuses this picture; asking another one is no way out.
    #[error("the picture service refuses this description: {why}")]
    Refused {
        /// The service's reason, in a word or a short sentence.
        why: String,
        used: Consumption,
    },
    #[error(transparent)]
    Failed(#[from] Error),
}

pub trait TurnJudge: Send + Sync {
    /// Short name for logs ("smart-turn").
    fn name(&self) -> &str;

    /// Estimates the probability (0 to 1) that the speaker of `sound` has finished: 16 kHz mono of
    /// one speaker, with up to 200 ms of silence. `None`: it is too busy to answer in time. The
    /// answer may never arrive; dropping the receiver cancels it.
    fn judge(&self, sound: Vec<Frame>) -> Option<oneshot::Receiver<f32>>;
}

pub const RESULTS_MAX: usize = 5;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebResult {
    /// On one line; may be empty.
    pub title: String,
    /// As the service wrote it.
    pub url: String,
    /// An excerpt without mark-up, on one line; may be empty.
    pub text: String,
}

pub trait WebSearch: Send + Sync {
    fn priced_as(&self) -> Option<&str>;

    /// Pages about `query`, the best first: at most [`RESULTS_MAX`], with about 2,000 characters in
    /// all. Cuts a longer query. Ends within 8 s; `attempts` pay for each further request. Cancel
    /// safe.
    fn search(
        &self,
        query: &str,
        attempts: Attempts,
    ) -> BoxFuture<'static, Result<Vec<WebResult>, Error>>;
}
