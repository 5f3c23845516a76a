//! Requests of a server to a chat model while it works on a call.
//!
//! Entry type: [`Sampler`], which the owner of the model implements. **Never**: asks a chat model.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::domain::Message;

/// Lends the chat model of the NPC whose call a server works on.
pub trait Sampler: Send + Sync {
    /// Asks the model, as far as the spending caps allow. Dropping the future ends the request.
    fn sample(&self, request: SampleRequest) -> BoxFuture<'static, Result<Sampled, NotSampled>>;
}

/// A request of a server to a chat model.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleRequest {
    /// Name of the server that asks.
    pub server: Arc<str>,
    /// The whole conversation; nothing of the table is in it.
    pub messages: Vec<Message>,
    /// Longest answer the server wants, in tokens.
    pub max_tokens: u32,
}

/// Answer of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// The text that the model wrote.
    pub text: String,
    /// Name of the model that wrote it.
    pub model: String,
}

/// Reason a request has no answer; sent to the server, so it reveals nothing about the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSampled {
    /// A cap would be passed.
    #[error("the spending cap of this session is reached")]
    OverBudget,
    /// The model failed.
    #[error("the chat model gave no answer")]
    Failed,
}
