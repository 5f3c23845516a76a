//! Web search services: SearXNG, Brave and Tavily.
//!
//! Entry types: [`SearchOptions`], which `config` builds; [`Searches`] opens them; [`probe`].
//! **Never**: sends anything but the query; stores a result.

mod brave;
mod client;
mod options;
mod results;
mod searxng;
mod site;
mod tavily;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use self::options::{Safe, SearchOptions, SearchService};
use self::{brave::Brave, client::SearchClient, searxng::Searxng, tavily::Tavily};
use crate::provider::{Attempts, Error, contracts::WebSearch, entries::Pool};

const PROBE: &str = "tabletop role-playing";

#[derive(Default)]
pub struct Searches(Pool<SearchOptions, Arc<dyn WebSearch>>);

impl Searches {
    pub fn open(&self, options: &SearchOptions) -> Result<Arc<dyn WebSearch>, Error> {
        let own = || options.clone();
        self.0.get(options, || {
            Ok(match options.service {
                SearchService::Searxng => Arc::new(SearchClient::<Searxng>::new(own())?),
                SearchService::Brave => Arc::new(SearchClient::<Brave>::new(own())?),
                SearchService::Tavily => Arc::new(SearchClient::<Tavily>::new(own())?),
            })
        })
    }

    pub fn retain(&self, wanted: Option<&SearchOptions>) {
        self.0.retain(|options| Some(options) == wanted);
    }
}

/// Checks a service with one harmless query, which costs as much as any; returns one line for a
/// report.
pub async fn probe(options: &SearchOptions) -> Result<String, Error> {
    let service = Searches::default().open(options)?;
    let found = service.search(PROBE, Attempts::default().once()).await?;
    Ok(match found.len() {
        0 => "answers, but finds nothing".to_owned(),
        1 => "finds 1 page".to_owned(),
        several => format!("finds {several} pages"),
    })
}
