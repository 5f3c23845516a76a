//! Settings of the service.

use crate::provider::{remote, service::ServiceInfo};

/// Settings of one model at Anthropic's address, or one like it; `config` builds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Address, key, model and waits. It takes no temperature.
    pub reach: remote::Options,
    /// Tokens it may think with beside the answer; `None`: it thinks as little as the model allows.
    pub thinking: Option<u32>,
}

impl Options {
    /// Name of the model, and the address that requests go to.
    pub fn info(&self) -> ServiceInfo {
        self.reach.info()
    }
}
