//! An operator is told that a call waits for a game master.
//!
//! Entry type: [`Notifier`]. Only told: it is decided where game masters are. **Never**: sends
//! arguments of a call, follows a redirect, or keeps anybody waiting.

use std::{
    fmt::Write,
    time::{Duration, UNIX_EPOCH},
};

use hmac::{Hmac, KeyInit, Mac};
use reqwest::{Client, Url, header::CONTENT_TYPE, redirect::Policy};
use serde::Serialize;
use sha2::Sha256;

use super::{approvals::NotifyOptions, clock::wall_clock, settings::SharedSettings};
use crate::provider::with_proxy_and_tls;

/// Longest wait for the operator's answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A call that waits.
#[derive(Clone, Debug, Serialize)]
pub struct WaitingCall {
    /// The NPC that wants to make it.
    pub npc: String,
    /// Identity of the tool.
    pub tool: String,
    /// The server of Discord that is asked.
    pub guild: String,
}

#[derive(Serialize)]
struct Body<'a> {
    event: &'static str,
    #[serde(flatten)]
    call: &'a WaitingCall,
}

/// Tells an operator of calls that wait. Cloning shares it.
#[derive(Clone)]
pub struct Notifier {
    /// Who is told.
    pub settings: SharedSettings,
}

impl Notifier {
    /// Tells of `call`, where somebody is to be told; what goes wrong is logged. Cancel safe.
    pub fn tell(&self, call: WaitingCall) -> impl Future<Output = ()> + Send + use<> {
        let to = self.settings.load().approvals.notify.clone();
        async move {
            let Some(to) = to else { return };
            if let Err(error) = send(&to, &call).await {
                // The address may hold a key.
                let error = error.without_url();
                tracing::warn!(%error, tool = call.tool, "nobody was notified of a call that waits");
            }
        }
    }
}

async fn send(to: &NotifyOptions, call: &WaitingCall) -> reqwest::Result<()> {
    let at = wall_clock().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs().to_string();
    let body = Body { event: "approval_needed", call };
    let body = serde_json::to_string(&body).unwrap_or_default();
    let url = Url::parse(&to.url).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    let secure = url.as_ref().is_some_and(|url| url.scheme() == "https");
    let builder = Client::builder().timeout(PATIENCE).redirect(Policy::none());
    let client = with_proxy_and_tls(builder, host, secure).build()?;
    let signature = signature(&to.secret, &at, &body);
    let request = client
        .post(&to.url)
        .header(CONTENT_TYPE, "application/json")
        .header("X-Glyphoxa-Timestamp", at)
        .header("X-Glyphoxa-Signature", signature);
    request.body(body).send().await?.error_for_status().map(|_| ())
}

/// What proves that `body` was sent at `at` by somebody who knows `secret`.
fn signature(secret: &str, at: &str, body: &str) -> String {
    let mut signature = "sha256=".to_owned();
    // A key of any length will do.
    if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) {
        mac.update(format!("{at}.{body}").as_bytes());
        for byte in mac.finalize().into_bytes() {
            // A string takes everything that is written.
            let _ = write!(signature, "{byte:02x}");
        }
    }
    signature
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_of_time_and_body() {
        // printf '1700000000.{}' | openssl dgst -sha256 -hmac key
        let known = signature("key", "1700000000", "{}");
        assert_eq!(known.len(), "sha256=".len() + 64);
        assert_ne!(known, signature("key", "1700000001", "{}"));
        assert_ne!(known, signature("other", "1700000000", "{}"));
        assert_ne!(known, signature("key", "1700000000", "{ }"));
    }
}
