//! Type of a store's answers.

use futures::future::BoxFuture;

use super::error::Error;

/// Answer of a store. Dropping it does not take back what was already asked for: a write may still
/// happen, whole.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, Error>>;
