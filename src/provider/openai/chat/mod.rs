//! Chat model of an OpenAI-compatible endpoint.
//!
//! Entry type: [`Chat`]. Text is streamed; tool calls are emitted once the reply is whole. A
//! request is sent again only before any text was emitted. **Never**: emits reasoning or call
//! mark-up as text; a call of a truncated reply.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use futures::{FutureExt, future::BoxFuture, stream::BoxStream};
use serde_json::Value;

use super::{
    NAME,
    assemble::Assembler,
    hidden::Hidden,
    request::{self, Dialect},
    wire::Chunk,
};
use crate::provider::{
    ChatEvent, ChatModel, ChatRequest, Counted, CutOff, Error, TURN_TEXT, Usage,
    remote::{self, Asked, Broken, Endpoint, Life, Options, Protocol, Reader},
};

pub struct Chat {
    service: Arc<Service>,
}

struct Service {
    endpoint: Endpoint,
    dialect: Mutex<Dialect>,
}

impl Chat {
    pub fn new(options: Options) -> Result<Self, Error> {
        let dialect = Mutex::new(Dialect::of(&options.base_url));
        Ok(Self { service: Arc::new(Service { endpoint: Endpoint::new(options)?, dialect }) })
    }
}

impl ChatModel for Chat {
    fn name(&self) -> &str {
        NAME
    }

    fn priced_as(&self) -> Option<&str> {
        self.service.endpoint.options.priced_as.as_deref()
    }

    fn window(&self) -> Option<u32> {
        Some(self.service.endpoint.options.context_window)
    }

    fn continues(&self) -> bool {
        self.service.endpoint.options.continues
    }

    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ChatEvent, Error>> {
        remote::stream(Arc::clone(&self.service), request)
    }
}

impl Service {
    fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn learn(&self, dialect: Dialect) {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = dialect;
    }
}

impl Protocol for Service {
    type Reader = Reading;

    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Asked> {
        let mut dialect = self.dialect();
        let mut refused = Vec::new();
        async move {
            loop {
                let body = request::body(&self.endpoint.options, request, dialect);
                let failure = match self.endpoint.post("/chat/completions", &body).await {
                    Ok(response) => {
                        self.learn(dialect);
                        return Asked { body, answer: Ok(response) };
                    }
                    Err(failure) => failure,
                };
                match dialect.without(&failure).filter(|other| !refused.contains(other)) {
                    Some(other) => refused.push(std::mem::replace(&mut dialect, other)),
                    None => return Asked { body, answer: Err(failure.error) },
                }
            }
        }
        .boxed()
    }
}

#[derive(Default)]
pub struct Reading {
    hidden: Hidden,
    calls: Assembler,
    usage: Counted<Usage>,
    /// Bytes of emitted text.
    text: usize,
    received: bool,
    /// The model gave a reason to stop.
    finished: bool,
    /// `[DONE]` arrived.
    over: bool,
    cut_off: Option<CutOff>,
}

impl Reader for Reading {
    const WANTED: &'static str = "chat completion";

    fn take(&mut self, document: &Value, out: &mut VecDeque<ChatEvent>) -> Result<Life, Broken> {
        let chunk = Chunk::read(document);
        if let Some(said) = chunk.error {
            return Err(Broken::Said(said));
        }
        self.received |= !chunk.text.is_empty() || !chunk.calls.is_empty();
        let shown = self.hidden.push(&chunk.text);
        let hidden = chunk.hidden + chunk.text.len().saturating_sub(shown.len());
        if hidden > 0 {
            out.push_back(ChatEvent::Hidden(hidden));
        }
        self.text += shown.len();
        TURN_TEXT.check(self.text)?;
        if !shown.is_empty() {
            out.push_back(ChatEvent::Text(shown));
        }
        chunk.calls.into_iter().try_for_each(|delta| self.calls.push(delta))?;
        out.extend(chunk.usage.map(|count| ChatEvent::Usage(self.usage.merge(count))));
        let reason = chunk.finish_reason.as_deref();
        self.finished |= reason.is_some();
        match reason {
            Some("error") => return Err(Broken::Interrupted),
            Some("length") => self.cut_off = Some(CutOff::Length),
            Some("content_filter") => self.cut_off = Some(CutOff::Filter),
            _ => {}
        }
        Ok(Life::Answer)
    }

    fn mark(&mut self) {
        self.over = true;
    }

    fn has_received(&self) -> bool {
        self.received
    }

    fn is_finished(&self) -> bool {
        self.finished
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn complete(&mut self, out: &mut VecDeque<ChatEvent>) {
        let rest = self.hidden.finish();
        if !rest.is_empty() {
            out.push_back(ChatEvent::Text(rest));
        }
        out.extend(self.cut_off.map(ChatEvent::CutOff));
        out.extend(std::mem::take(&mut self.calls).finish().into_iter().map(ChatEvent::ToolCall));
    }
}

#[cfg(test)]
mod tests;
