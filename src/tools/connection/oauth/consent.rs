//! Consent: by a person, or automatic where the authorization server requires no login. **Never**:
//! fills in a login form.

use std::time::Duration;

use futures::future::BoxFuture;
use reqwest::{StatusCode, Url, header::LOCATION};

use crate::{
    provider::{Outbound, Refused},
    tools::url::UrlError,
};

/// Longest wait for a redirect.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most redirects before the one back to us.
const MAX_REDIRECTS: usize = 5;

#[derive(Debug, thiserror::Error)]
pub enum ConsentError {
    #[error("invalid address '{url}': {source}")]
    Address { url: String, source: UrlError },
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("{0}")]
    Http(reqwest::Error),
    /// The authorization server shows a page instead of redirecting.
    #[error(
        "its authorization page answers {0} instead of redirecting back: a person has to log in \
         (configure the server with auth: login, then run glyphoxa mcp login)"
    )]
    WantsPerson(StatusCode),
    #[error("its authorization page redirects more than {MAX_REDIRECTS} times")]
    Redirects,
    #[error("no login within {0} s (run it again)")]
    Nobody(u64),
    #[error("{0}")]
    Port(std::io::Error),
}

impl ConsentError {
    fn address(url: &str, source: UrlError) -> Self {
        Self::Address { url: url.to_owned(), source }
    }
}

pub trait Consent: Send + Sync {
    /// Address the authorization server redirects to.
    fn redirect_uri(&self) -> &str;

    /// Opens `url` and returns the address it redirected back to, query included. Cancel safe.
    fn ask<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, ConsentError>>;
}

/// Follows the authorization URL itself; works only without a login page.
pub struct Headless {
    outbound: Outbound,
}

impl Headless {
    /// Nothing listens there: the redirect is read, not followed.
    const REDIRECT_URI: &str = "http://127.0.0.1:9/callback";

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
