//! Web search, as tools ask for it.
//!
//! Entry types: [`WebSearch`], [`WebResult`]. **Never**: stores a result.

use futures::future::BoxFuture;

use super::{Attempts, Error};

/// Most results of one search.
pub const RESULTS_MAX: usize = 5;

/// A result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebResult {
    /// Title of the page, on one line; may be empty.
    pub title: String,
    /// Its address, as the service wrote it.
    pub url: String,
    /// An excerpt without mark-up, on one line; may be empty.
    pub text: String,
}

/// A service that searches the web.
pub trait WebSearch: Send + Sync {
    /// Its name in the price list; `None`: a request costs nothing.
    fn priced_as(&self) -> Option<&str>;

    /// Pages about `query`, the best first: at most [`RESULTS_MAX`], with about 2,000 characters
    /// in all, and none when nothing was found. A longer query is cut. It ends within 8 s; `attempts`
    /// pay for each further request. Cancel safe.
    fn search(
        &self,
        query: &str,
        attempts: Attempts,
    ) -> BoxFuture<'static, Result<Vec<WebResult>, Error>>;
}
