//! Fetches web pages and extracts their readable text.
//!
//! Entry types: [`Pages`], [`Page`], [`PageError`]; [`AllowedHost`] for the operator's hosts.
//! **Never**: runs scripts, sends a cookie or a key, reaches a private address that the operator
//! did not configure.

mod allowed;
mod article;
mod charset;
mod reader;
#[cfg(test)]
mod tests;

pub use allowed::AllowedHost;
pub use reader::{Page, PageError, Pages, URL_MAX};
