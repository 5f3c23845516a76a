//! How a store answers.

use futures::future::BoxFuture;

use super::error::Error;

/// What a store answers. Dropping it does not take back what was already asked for: a write may
/// still happen, whole.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, Error>>;
