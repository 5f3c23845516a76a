//! Web search services: SearXNG, Brave and Tavily.
//!
//! Entry types: [`SearchOptions`], which `config` builds; [`Searches`] opens them.
//! **Never**: sends anything but the query; stores a result.

mod brave;
mod client;
mod open;
mod options;
mod results;
mod searxng;
mod site;
mod tavily;
#[cfg(test)]
mod tests;

pub use open::{Searches, probe};
pub use options::{Safe, SearchOptions, SearchService};
