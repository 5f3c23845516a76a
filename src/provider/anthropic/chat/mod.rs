//! Chat model of Anthropic's Messages API, or of a compatible server.
//!
//! Entry type: [`Chat`]. Features that a model refuses (disabled thinking, forced calls) are
//! remembered and omitted.

use std::sync::{Arc, Mutex, PoisonError};

use futures::{FutureExt, future::BoxFuture, stream::BoxStream};

use super::{NAME, Options, blocks::Reading, endpoint, request, taste::Taste};
use crate::provider::{
    ChatEvent, ChatModel, ChatRequest, Error,
    remote::{self, Asked, Endpoint, Protocol},
};

pub struct Chat {
    service: Arc<Service>,
}

struct Service {
    options: Options,
    endpoint: Endpoint,
    taste: Mutex<Taste>,
}

impl Chat {
    pub fn new(options: Options) -> Result<Self, Error> {
        let endpoint = endpoint(&options)?;
        let taste = Mutex::new(Taste::of(options.thinking.is_some()));
        Ok(Self { service: Arc::new(Service { options, endpoint, taste }) })
    }
}

impl ChatModel for Chat {
    fn name(&self) -> &str {
        NAME
    }

    fn priced_as(&self) -> Option<&str> {
        self.service.options.reach.priced_as.as_deref()
    }

    fn window(&self) -> Option<u32> {
        Some(self.service.options.reach.context_window)
    }

    fn thinks(&self) -> u32 {
        self.service.options.thinking.unwrap_or_default()
    }

    fn writes_cache(&self) -> bool {
        true
    }

    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ChatEvent, Error>> {
        remote::stream(Arc::clone(&self.service), request)
    }
}

impl Service {
    fn taste(&self) -> Taste {
        *self.taste.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn learn(&self, taste: Taste) {
        *self.taste.lock().unwrap_or_else(PoisonError::into_inner) = taste.learnt();
    }
}

impl Protocol for Service {
    type Reader = Reading;

    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Asked> {
        let mut taste = self.taste();
        async move {
            loop {
                let body = request::body(&self.options, request, taste);
                let failure = match self.endpoint.post("/messages", &body).await {
                    Ok(response) => {
                        self.learn(taste);
                        return Asked { body, answer: Ok(response) };
                    }
                    Err(failure) => failure,
                };
                // Each step drops a feature for good, so the loop ends.
                let next = |taste: &Taste| taste.without(&failure);
                let mut others = std::iter::successors(next(&taste), next);
                match others.find(|it| request::body(&self.options, request, *it) != body) {
                    Some(other) => taste = other,
                    None => return Asked { body, answer: Err(failure.error) },
                }
            }
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests;
