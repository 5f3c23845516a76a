//! Sampling: a server's requests to a chat model during a call. The model's owner implements
//! [`Sampler`].

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::domain::Message;

/// Lends the calling NPC's chat model.
pub trait Sampler: Send + Sync {
    /// Asks the model within the spending caps. Dropping the future cancels the request.
    fn sample(&self, request: SampleRequest) -> BoxFuture<'static, Result<Sampled, NotSampled>>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct SampleRequest {
    pub server: Arc<str>,
    /// The whole conversation; nothing of the table is added.
    pub messages: Vec<Message>,
    /// In tokens.
    pub max_tokens: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampled {
    pub text: String,
    pub model: String,
}

/// Sent to the server, so it reveals nothing about the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSampled {
    #[error("the spending cap of this session is reached")]
    OverBudget,
    #[error("the chat model gave no answer")]
    Failed,
}
