//! Error of parsing a URL.

use std::str::FromStr;

use reqwest::Url;

/// Error of parsing a [`Url`]; its own crate is not a direct dependency.
pub type UrlError = <Url as FromStr>::Err;
