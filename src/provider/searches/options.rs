//! Settings of a web search service.
//!
//! Entry types: [`SearchOptions`], [`SearchService`], [`Safe`].

use crate::{
    domain::Secret,
    provider::{pages::AllowedHost, service::ServiceInfo},
};

/// The supported services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchService {
    /// An instance of one's own, which asks public search engines.
    Searxng,
    /// Brave Search.
    Brave,
    /// Tavily.
    Tavily,
}

impl SearchService {
    /// The words of the configuration.
    pub const NAMES: &[&str] = &["searxng", "brave", "tavily"];
    const ALL: [Self; 3] = [Self::Searxng, Self::Brave, Self::Tavily];

    /// The word of the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Searxng => "searxng",
            Self::Brave => "brave",
            Self::Tavily => "tavily",
        }
    }

    /// The service that a word of the configuration means.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The vendor's own address; `None`: each operator runs an own instance.
    pub const fn base_url(self) -> Option<&'static str> {
        match self {
            Self::Searxng => None,
            Self::Brave => Some("https://api.search.brave.com"),
            Self::Tavily => Some("https://api.tavily.com"),
        }
    }
}

/// Strictness of the filter for adult results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Safe {
    /// Not at all.
    Off,
    /// Explicit pictures and videos are left out.
    Moderate,
    /// Pages for adults are left out.
    #[default]
    Strict,
}

impl Safe {
    /// The words of the configuration, which Brave shares.
    pub const NAMES: &[&str] = &["off", "moderate", "strict"];

    /// The word of the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Moderate => "moderate",
            Self::Strict => "strict",
        }
    }

    /// Value of a word of the configuration.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Off, Self::Moderate, Self::Strict].into_iter().find(|it| it.name() == name)
    }
}

/// Settings of web search; `config` builds it.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOptions {
    /// The service.
    pub service: SearchService,
    /// Address without a slash at its end.
    pub base_url: String,
    /// Key of Brave or Tavily.
    pub api_key: Option<Secret>,
    /// Filter for adults; Tavily has none.
    pub safe: Safe,
    /// Two-letter code of the language that results are preferred in; Tavily takes the query's.
    pub language: String,
    /// The name in the price list; `None` for a free service.
    pub priced_as: Option<String>,
    /// Hosts whose pages may be read without a search.
    pub allow: Vec<AllowedHost>,
}

impl SearchOptions {
    /// The service and the destination of queries.
    pub fn info(&self) -> ServiceInfo {
        ServiceInfo::at(self.service.name(), &self.base_url)
    }
}
