//! Web pages, fetched and reduced to their readable text.
//!
//! Entry types: [`Pages`], [`Page`], [`PageError`]; [`AllowedHost`] for hosts that the operator names.
//! **Never**: runs a page's scripts, sends a cookie or a key, reaches an address of this network that
//! the operator has not written down.

mod allowed;
mod article;
mod charset;
mod markup;
mod reader;
#[cfg(test)]
mod tests;

pub use allowed::AllowedHost;
pub use markup::plain_text;
pub use reader::{Page, PageError, Pages, URL_MAX};
