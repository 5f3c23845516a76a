//! Consent: of a person, or none where the authorization server asks for no login.
//!
//! Entry types: [`Consent`], [`Headless`]. **Never**: fills in a login form.

use std::time::Duration;

use futures::future::BoxFuture;
use reqwest::{StatusCode, Url, header::LOCATION};

use crate::{
    provider::{Outbound, Refused},
    tools::url::UrlError,
};

/// Longest wait for a redirect from an authorization server.
const PATIENCE: Duration = Duration::from_secs(10);
/// Redirects of the authorization server's own before it sends us back.
const MAX_REDIRECTS: usize = 5;

/// Reason consent was not obtained.
#[derive(Debug, thiserror::Error)]
pub enum ConsentError {
    /// The authorization server gave an address that is not a URL.
    #[error("invalid address '{url}': {source}")]
    Address {
        /// Address as received.
        url: String,
        /// The problem with it.
        source: UrlError,
    },
    /// Nothing is sent to where the authorization server sends us.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The authorization server cannot be reached.
    #[error("{0}")]
    Http(reqwest::Error),
    /// It shows a page instead of sending us back.
    #[error(
        "its authorization page answers {0} instead of redirecting back: a person has to log in \
         (configure the server with auth: login, then run glyphoxa mcp login)"
    )]
    WantsPerson(StatusCode),
    /// It never sends us back.
    #[error("its authorization page redirects more than {MAX_REDIRECTS} times")]
    Redirects,
    /// No browser came back within so many seconds.
    #[error("no login within {0} s (run it again)")]
    Nobody(u64),
    /// This machine's port no longer listens.
    #[error("{0}")]
    Port(std::io::Error),
}

impl ConsentError {
    fn address(url: &str, source: UrlError) -> Self {
        Self::Address { url: url.to_owned(), source }
    }
}

/// Way to obtain consent.
pub trait Consent: Send + Sync {
    /// Address that the authorization server sends the person back to.
    fn redirect_uri(&self) -> &str;

    /// Has `url` opened and answers with the address it led back to, query and all; or with why
    /// it did not. Cancel safe.
    fn ask<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, ConsentError>>;
}

/// Follows the authorization address itself: only good where no login is needed.
pub struct Headless {
    outbound: Outbound,
}

impl Headless {
    /// Nothing listens there: the redirect is read, not followed.
    const REDIRECT_URI: &str = "http://127.0.0.1:9/callback";

    /// Goes only where `outbound` does.
    pub const fn new(outbound: Outbound) -> Self {
        Self { outbound }
    }

    async fn follow(&self, url: &str) -> Result<String, ConsentError> {
        let mut at = Url::parse(url).map_err(|error| ConsentError::address(url, error))?;
        for _ in 0..=MAX_REDIRECTS {
            let client = self.outbound.client(&at)?.timeout(PATIENCE).build();
            let client = client.map_err(ConsentError::Http)?;
            let answer = client.get(at.clone()).send().await;
            let answer = answer.map_err(|error| ConsentError::Http(error.without_url()))?;
            let Some(next) = answer.headers().get(LOCATION).and_then(|next| next.to_str().ok())
            else {
                return Err(ConsentError::WantsPerson(answer.status()));
            };
            let next = at.join(next).map_err(|error| ConsentError::address(next, error))?;
            if next.as_str().starts_with(Self::REDIRECT_URI) {
                return Ok(next.into());
            }
            at = next;
        }
        Err(ConsentError::Redirects)
    }
}

impl Consent for Headless {
    fn redirect_uri(&self) -> &str {
        Self::REDIRECT_URI
    }

    fn ask<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, ConsentError>> {
        Box::pin(self.follow(url))
    }
}
