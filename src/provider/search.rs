//! The contract of web search.
//!
//! Entry types: [`WebSearch`], [`WebResult`]. **Never**: stores a result.

use futures::future::BoxFuture;

use super::{Attempts, Error};

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
