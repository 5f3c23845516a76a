//! Connection settings of a service behind an address.

use std::time::Duration;

use crate::{domain::Secret, provider::service::ServiceInfo};

/// Default context window of a chat model.
pub const CONTEXT_WINDOW: u32 = 32_768;

#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Base address, including the version ("http://127.0.0.1:11434/v1").
    pub base_url: String,
    /// Bearer token; local servers need none.
    pub api_key: Option<Secret>,
    pub model: String,
    /// `None`: the service's default.
    pub temperature: Option<f32>,
    /// Additional members of the request body ("reasoning_effort": "low").
    pub extra_body: serde_json::Map<String, serde_json::Value>,
    /// Most tokens that a chat model reads and writes for one request.
    pub context_window: u32,
    /// Longest answer of a chat model; `None`: the table's.
    pub max_tokens: Option<u32>,
    /// True if the server continues an answer begun in the last message.
    pub continues: bool,
    /// Longest wait for the connection and the first byte.
    pub first_byte_timeout: Duration,
    pub idle_timeout: Duration,
    /// Name in the price list; `None`: free.
    pub priced_as: Option<String>,
}

impl Options {
    pub fn info(&self) -> ServiceInfo {
        ServiceInfo::at(&self.model, &self.base_url)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

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
