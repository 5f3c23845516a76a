//! What every layer of a store shares: whose memory it is, and how an answer comes.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::error::Error;

/// What a store answers. Dropping it does not take back what was already asked for: a write may
/// still happen, whole.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// The campaign something belongs to; nothing is seen from another one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CampaignKey(pub String);
