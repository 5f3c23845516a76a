//! The error of reading a URL.

use std::str::FromStr;

use reqwest::Url;

/// The error of reading a [`Url`], whose own crate is not ours.
pub type UrlError = <Url as FromStr>::Err;
