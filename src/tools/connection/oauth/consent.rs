//! Consent of a person, or of nobody where an authorization server asks nobody.
//!
//! Entry types: [`Consent`], [`Headless`]. **Never**: fills in a login form.

use std::time::Duration;

use futures::future::BoxFuture;
use reqwest::{Url, header::LOCATION, redirect::Policy};

/// How long an authorization server may take to send us on.
const PATIENCE: Duration = Duration::from_secs(10);
/// Redirects of the authorization server's own before it sends us back.
const MAX_REDIRECTS: usize = 5;

/// How consent is had.
pub trait Consent: Send + Sync {
    /// Where the authorization server sends the person back to.
    fn redirect_uri(&self) -> &str;

    /// Has `url` opened and answers with the address it led back to, query and all; or with why
    /// it did not. Cancel safe.
    fn ask<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, String>>;
}

/// Follows the authorization address itself: only good where nobody has to log in.
pub struct Headless;

impl Headless {
    /// Nothing listens there: the redirect is read, not followed.
    const REDIRECT_URI: &str = "http://127.0.0.1:9/callback";

    async fn follow(url: &str) -> Result<String, String> {
        super::exchange::use_ring();
        let client = reqwest::Client::builder().redirect(Policy::none()).timeout(PATIENCE);
        let client = client.build().map_err(|error| error.to_string())?;
        let mut at = Url::parse(url).map_err(|error| format!("no address '{url}': {error}"))?;
        for _ in 0..=MAX_REDIRECTS {
            let answer = client.get(at.clone()).send().await;
            let answer = answer.map_err(|error| error.without_url().to_string())?;
            let Some(next) = answer.headers().get(LOCATION).and_then(|next| next.to_str().ok())
            else {
                let status = answer.status();
                return Err(format!(
                    "its authorization page answers {status} and does not send us back: it wants a \
                     person (configure the server with auth: login, then glyphoxa mcp login)"
                ));
            };
            let next = at.join(next).map_err(|error| format!("no address '{next}': {error}"))?;
            if next.as_str().starts_with(Self::REDIRECT_URI) {
                return Ok(next.into());
            }
            at = next;
        }
        Err(format!("its authorization page redirects more than {MAX_REDIRECTS} times"))
    }
}

impl Consent for Headless {
    fn redirect_uri(&self) -> &str {
        Self::REDIRECT_URI
    }

    fn ask<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(Self::follow(url))
    }
}
