//! Contract of a service that makes pictures.
//!
//! Entry type: [`ImageModel`]. **Never**: decides whether a picture may be shown.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::{Attempts, Error};
use crate::logic::budget::Consumption;

/// Makes pictures from descriptions.
pub trait ImageModel: Send + Sync {
    /// Name in the price list; `None`: pictures are free.
    fn priced_as(&self) -> Option<&str>;

    /// Makes one picture. Cancel safe: dropping the future ends the request, which may be billed.
    fn generate(&self, request: ImageRequest) -> BoxFuture<'static, Result<Picture, NoPicture>>;
}

/// A picture to be made.
#[derive(Clone, Debug, Default)]
pub struct ImageRequest {
    /// Description of the picture.
    pub prompt: String,
    /// Pays for a second request.
    pub attempts: Attempts,
}

/// A picture, encoded again without metadata.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The file; at most 8 MiB.
    pub bytes: Arc<[u8]>,
    /// `image/png` or `image/jpeg`.
    pub mime: &'static str,
    /// Use as counted by the service; only the picture where its count cannot be true.
    pub used: Consumption,
}

/// Reason a request gave no picture.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NoPicture {
    /// The service refuses to show that; asking another one is no way out.
    #[error("the picture service refuses this description: {why}")]
    Refused {
        /// The service's reason, in a word or a short sentence.
        why: String,
        /// Use as counted by the service.
        used: Consumption,
    },
    /// The service failed.
    #[error(transparent)]
    Failed(#[from] Error),
}
