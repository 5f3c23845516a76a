use crate::provider::{remote, service::ServiceInfo};

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
