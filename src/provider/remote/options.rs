//! Connection settings of a service behind an address.

use std::time::Duration;

use crate::{domain::Secret, provider::service::ServiceInfo};

/// Tokens a chat model has room for where nobody says otherwise.
pub const CONTEXT_WINDOW: u32 = 32_768;

/// Settings of one endpoint; `config` builds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Base address up to and including the version ("http://127.0.0.1:11434/v1").
    pub base_url: String,
    /// Key sent as a bearer token; local servers need none.
    pub api_key: Option<Secret>,
    /// Model name as the service knows it.
    pub model: String,
    /// Sampling temperature; the service's default without it.
    pub temperature: Option<f32>,
    /// Extra members of the request body ("reasoning_effort": "low").
    pub extra_body: serde_json::Map<String, serde_json::Value>,
    /// Tokens a chat model reads and writes for one request, at most.
    pub context_window: u32,
    /// Longest answer of a chat model, in tokens; `None`: the table's.
    pub max_tokens: Option<u32>,
    /// The server continues an answer of a chat model that is begun in the last message.
    pub continues: bool,
    /// Longest wait for the connection and the first byte.
    pub first_byte_timeout: Duration,
    /// Longest silence between two pieces of an answer.
    pub idle_timeout: Duration,
    /// Priced calls: the name in the price list. `None` for free local servers.
    pub priced_as: Option<String>,
}

impl Options {
    /// Name of the model, and the address that requests go to.
    pub fn info(&self) -> ServiceInfo {
        ServiceInfo::at(&self.model, &self.base_url)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Options for a service at `base_url`, with short patience.
    pub fn options(base_url: &str) -> Options {
        Options {
            base_url: base_url.into(),
            api_key: None,
            model: "test-model".into(),
            temperature: None,
            extra_body: serde_json::Map::new(),
            context_window: 32_768,
            max_tokens: None,
            continues: false,
            first_byte_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(10),
            priced_as: None,
        }
    }

    #[test]
    fn key_never_prints() {
        let mut options = options("http://127.0.0.1:1/v1");
        options.api_key = Some(Secret("sk-very-secret".into()));
        assert!(!format!("{options:?}").contains("very"));
    }
}
