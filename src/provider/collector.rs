//! Sends traces to a collector of the operator: OTLP over HTTP, in protobuf.
//!
//! Entry type: [`Collector`]. **Never**: follows a redirect.

use std::time::Duration;

use reqwest::{Client, StatusCode, Url, header::CONTENT_TYPE, redirect::Policy};
use tokio::time::sleep;

use super::{webhook::NotPosted, with_proxy_and_tls};

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pauses before a request is sent again to a collector that is away or overloaded.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];

pub struct Collector {
    client: Client,
    url: String,
}

impl Collector {
    /// `url` takes traces. Fails if this machine has no certificates to check it with.
    pub fn new(url: &str) -> Result<Self, NotPosted> {
        let parsed = Url::parse(url).ok();
        let host = parsed.as_ref().and_then(Url::host_str).unwrap_or_default();
        let secure = parsed.as_ref().is_some_and(|url| url.scheme() == "https");
        let builder = Client::builder().timeout(PATIENCE).redirect(Policy::none());
        let client = with_proxy_and_tls(builder, host, secure).build()?;
        Ok(Self { client, url: url.to_owned() })
    }

    /// Sends an encoded request, up to three times. Cancel safe.
    pub async fn post(&self, body: &[u8]) -> Result<(), NotPosted> {
        let mut pauses = PAUSES.into_iter();
        loop {
            let sent = self.once(body).await;
            let Err(error) = sent else { return Ok(()) };
            match pauses.next().filter(|_| may_pass(&error)) {
                Some(pause) => sleep(pause).await,
                None => return Err(error.into()),
            }
        }
    }

    async fn once(&self, body: &[u8]) -> Result<(), reqwest::Error> {
        let request = self.client.post(&self.url).header(CONTENT_TYPE, "application/x-protobuf");
        request.body(body.to_vec()).send().await?.error_for_status()?;
        Ok(())
    }
}

/// True if a later attempt may succeed, by the specification of OTLP.
fn may_pass(error: &reqwest::Error) -> bool {
    error.status().is_none_or(|status| {
        matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT
        )
    })
}
