//! Contract of a service that makes pictures.
//!
//! Entry type: [`ImageModel`]. **Never**: decides whether a picture may be shown.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::{Attempts, Error};
use crate::logic::budget::Consumption;

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
