//! Sends a signed message to an address of the operator.
//!
//! Entry function: [`post_signed`]. **Never**: follows a redirect, or sends a message twice.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use reqwest::{Client, Url, header::CONTENT_TYPE, redirect::Policy};
use sha2::Sha256;

use super::with_proxy_and_tls;
use crate::domain::hex;

const PATIENCE: Duration = Duration::from_secs(10);

pub struct Signed<'a> {
    pub url: &'a str,
    pub secret: &'a str,
    /// Unix seconds.
    pub at: u64,
    /// JSON, signed byte for byte.
    pub body: String,
}

/// Reason a message did not arrive, without the address, which may hold a key.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotPosted(reqwest::Error);

impl From<reqwest::Error> for NotPosted {
    fn from(error: reqwest::Error) -> Self {
        Self(error.without_url())
    }
}

/// Sends `message` once; a 4xx or 5xx status is an error. Cancel safe.
pub async fn post_signed(message: Signed<'_>) -> Result<(), NotPosted> {
    let Signed { url, secret, at, body } = message;
    let parsed = Url::parse(url).ok();
    let host = parsed.as_ref().and_then(Url::host_str).unwrap_or_default();
    let secure = parsed.as_ref().is_some_and(|url| url.scheme() == "https");
    let builder = Client::builder().timeout(PATIENCE).redirect(Policy::none());
    let client = with_proxy_and_tls(builder, host, secure).build()?;
    let signature = signature(secret, at, &body);
    let request = client
        .post(url)
        .header(CONTENT_TYPE, "application/json")
        .header("X-Glyphoxa-Timestamp", at)
        .header("X-Glyphoxa-Signature", signature);
    request.body(body).send().await?.error_for_status()?;
    Ok(())
}

/// HMAC-SHA256 of `at` and `body`.
fn signature(secret: &str, at: u64, body: &str) -> String {
    let digits = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map(|mut mac| {
        mac.update(format!("{at}.{body}").as_bytes());
        hex(&mac.finalize().into_bytes())
    });
    format!("sha256={}", digits.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_is_of_time_and_body() {
        // printf '1700000000.{}' | openssl dgst -sha256 -hmac key
        let known = signature("key", 1_700_000_000, "{}");
        assert_eq!(
            known,
            "sha256=9d713ed406bb7076d4123f0dc2c39d2df5c654ed4b0cd56b52c8b4c940bd63ae"
        );
        assert_ne!(known, signature("key", 1_700_000_001, "{}"));
        assert_ne!(known, signature("other", 1_700_000_000, "{}"));
    }
}
