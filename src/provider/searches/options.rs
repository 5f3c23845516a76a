//! Settings of a web search service.
//!
//! Entry types: [`SearchOptions`], [`SearchService`], [`Safe`].

use crate::{
    domain::Secret,
    provider::{pages::AllowedHost, service::ServiceInfo},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchService {
    /// The operator's own instance, which asks public search engines.
    Searxng,
    Brave,
    Tavily,
}

impl SearchService {
    pub const NAMES: &[&str] = &["searxng", "brave", "tavily"];
    const ALL: [Self; 3] = [Self::Searxng, Self::Brave, Self::Tavily];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Searxng => "searxng",
            Self::Brave => "brave",
            Self::Tavily => "tavily",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// The vendor's own address; `None`: operators run their own instances.
    pub const fn base_url(self) -> Option<&'static str> {
        match self {
            Self::Searxng => None,
            Self::Brave => Some("https://api.search.brave.com"),
            Self::Tavily => Some("https://api.tavily.com"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Safe {
    Off,
    /// Filters explicit pictures and videos.
    Moderate,
    #[default]
    Strict,
}

impl Safe {
    /// Names in the configuration and at Brave.
    pub const NAMES: &[&str] = &["off", "moderate", "strict"];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Moderate => "moderate",
            Self::Strict => "strict",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        [Self::Off, Self::Moderate, Self::Strict].into_iter().find(|it| it.name() == name)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct SearchOptions {
    pub service: SearchService,
    /// Without a slash at its end.
    pub base_url: String,
    /// Key of Brave or Tavily.
    pub api_key: Option<Secret>,
    /// Filter for adult results; Tavily has none.
    pub safe: Safe,
    /// Two-letter code of the preferred language of results; Tavily uses the query's.
    pub language: String,
    /// Name in the price list; `None`: free.
    pub priced_as: Option<String>,
    pub allow: Vec<AllowedHost>,
}

impl SearchOptions {
    pub fn info(&self) -> ServiceInfo {
        ServiceInfo::at(self.service.name(), &self.base_url)
    }
}
