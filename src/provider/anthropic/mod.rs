//! Anthropic's Messages API: a chat model with thoughts and a prompt cache.
//!
//! Entry types: [`Chat`], made from [`Options`]; [`probe`] for a quick check. **Never**: speaks
//! thoughts, changes them on their way back, or keeps them beyond their turn.

mod blocks;
mod chat;
mod messages;
mod request;
mod taste;

#[cfg(test)]
pub use blocks::Reading;
pub use chat::Chat;
pub use request::OWN_MEMBERS;

use super::{
    Error, ServiceInfo,
    remote::{self, Endpoint, Manner},
};

pub const NAME: &str = "anthropic";
pub const BASE_URL: &str = "https://api.anthropic.com/v1";

/// Pins an API version whose requests have no sampling parameters.
const MANNER: Manner = Manner {
    key: "x-api-key",
    before_key: "",
    headers: &[("anthropic-version", "2026-10-21")],
    models: "/models?limit=1000",
};

#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Address, key, model and timeouts, without a temperature.
    pub reach: remote::Options,
    /// Thinking tokens besides the answer; `None`: as little thinking as possible.
    pub thinking: Option<u32>,
}

impl Options {
    pub fn info(&self) -> ServiceInfo {
        self.reach.info()
    }
}

fn endpoint(options: &Options) -> Result<Endpoint, Error> {
    Endpoint::in_manner(options.reach.clone(), MANNER)
}

/// Checks that the service answers and knows the model; one line for a report.
pub async fn probe(options: &Options) -> Result<String, Error> {
    remote::probe(&endpoint(options)?).await
}
