//! Type of a store's answers.

use futures::future::BoxFuture;

use super::error::Error;

/// Answer of a store. Dropping it does not cancel the request: a write may still happen, as a
/// whole.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, Error>>;
