//! One search, retried where that may help.
//!
//! Entry types: [`SearchClient`] with the [`Wire`] of a service.

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use reqwest::RequestBuilder;
use serde_json::Value;
use tokio::time::timeout;

use super::{
    options::SearchOptions,
    results::bounded,
    site::{Answer, Site},
};
use crate::provider::{
    Attempts, Error, Kind,
    contracts::{WebResult, WebSearch},
    remote::Retry,
};

/// Longest wait for results, retries included.
const WHOLE: Duration = Duration::from_secs(8);

pub trait Wire: Send + Sync + 'static {
    /// Most words in a query.
    const WORDS: usize;

    fn request(site: &Site, query: &str) -> Result<RequestBuilder, Error>;

    /// The results of a successful answer, or the error in it.
    fn read(site: &Site, answer: &Value) -> Result<Vec<WebResult>, Error>;

    fn refusal(site: &Site, answer: &Answer) -> Error {
        site.refusal(answer)
    }
}

pub struct SearchClient<W> {
    site: Arc<Site>,
    wire: std::marker::PhantomData<W>,
}

impl<W: Wire> SearchClient<W> {
    pub fn new(options: SearchOptions) -> Result<Self, Error> {
        let site = Site::new(options)?;
        drop(W::request(&site, "")?);
        Ok(Self { site: Arc::new(site), wire: std::marker::PhantomData })
    }
}

impl<W: Wire> WebSearch for SearchClient<W> {
    fn priced_as(&self) -> Option<&str> {
        self.site.options.priced_as.as_deref()
    }

    fn search(
        &self,
        query: &str,
        attempts: Attempts,
    ) -> BoxFuture<'static, Result<Vec<WebResult>, Error>> {
        let (site, query) = (Arc::clone(&self.site), bounded(query, W::WORDS));
        async move {
            if query.is_empty() {
                let what = "the query is empty (write a few words)";
                return Err(Error::new(Kind::InvalidRequest, what));
            }
            let asked = timeout(WHOLE, persevere::<W>(&site, &query, attempts)).await;
            asked.unwrap_or_else(|_| Err(site.slow()))
        }
        .boxed()
    }
}

/// Retries until an answer arrives or retrying is pointless.
async fn persevere<W: Wire>(
    site: &Site,
    query: &str,
    attempts: Attempts,
) -> Result<Vec<WebResult>, Error> {
    let mut retry = Retry::new(WHOLE, attempts);
    loop {
        match once::<W>(site, query).await {
            Ok(found) => return Ok(found),
            Err(error) => retry.again(error).await?,
        }
    }
}

async fn once<W: Wire>(site: &Site, query: &str) -> Result<Vec<WebResult>, Error> {
    let answer = site.send(W::request(site, query)?, query).await?;
    if !(200..300).contains(&answer.status) {
        return Err(W::refusal(site, &answer));
    }
    let json = answer.json.as_ref().filter(|json| json.is_object());
    W::read(site, json.ok_or_else(|| site.no_json())?)
}
