//! The chat model behind an OpenAI-compatible endpoint.
//!
//! Entry type: [`Chat`]. Text is given on token by token; tool calls when the reply is whole. A
//! request is sent again only while nothing of its answer was given on.
//! **Never**: text that is reasoning or call mark-up; a call out of a reply that was cut.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use reqwest::Response;
use serde_json::Value;

use super::{
    NAME, Options,
    assemble::Assembler,
    endpoint::Endpoint,
    hidden::Hidden,
    request::{self, Dialect},
    retry::Retry,
    sse::{Decoder, Frame},
    wire::Chunk,
};
use crate::provider::{ChatEvent, ChatModel, ChatRequest, Error, Kind};

/// After the model said it is done: longest wait for the token count and the end.
const GRACE: Duration = Duration::from_secs(1);
/// After `[DONE]`: longest wait for the body's end. Read to it, the connection serves the next turn
/// too, which saves its handshakes.
const DRAIN: Duration = Duration::from_millis(10);

/// A chat model at an endpoint.
pub struct Chat {
    service: Arc<Service>,
}

struct Service {
    endpoint: Endpoint,
    dialect: Mutex<Dialect>,
}

impl Chat {
    /// # Errors
    /// An address or key that cannot be used.
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

    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ChatEvent, Error>> {
        let reply = Reply::new(self.service.clone(), request);
        stream::unfold(reply, |mut reply| async {
            let event = reply.next().await?;
            Some((event, reply))
        })
        .boxed()
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

/// One reply in the making.
struct Reply {
    service: Arc<Service>,
    request: ChatRequest,
    body: Value,
    retry: Option<Retry>,
    ready: VecDeque<ChatEvent>,
    phase: Phase,
}

enum Phase {
    Ask,
    Read(Box<Reading>),
    Over,
}

/// What was read of one answer.
struct Reading {
    response: Response,
    frames: Decoder,
    hidden: Hidden,
    calls: Assembler,
    /// Bytes came: from here on the idle timeout counts.
    started: bool,
    /// Something of the reply came: it cannot be asked for again.
    received: bool,
    /// The model said why it stopped.
    finished: bool,
    /// Something came that is no event.
    unreadable: bool,
}

impl Reply {
    fn new(service: Arc<Service>, request: ChatRequest) -> Self {
        let (body, ready, phase) = (Value::Null, VecDeque::new(), Phase::Ask);
        Self { service, request, body, retry: None, ready, phase }
    }

    async fn next(&mut self) -> Option<Result<ChatEvent, Error>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            let step = match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Over => return None,
                Phase::Ask => self.ask().await,
                Phase::Read(reading) => self.read(reading).await,
            };
            match step {
                Ok(phase) => self.phase = phase,
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Sends the request until an answer begins or there is no more sense in it.
    async fn ask(&mut self) -> Result<Phase, Error> {
        let Service { endpoint, .. } = &*self.service;
        let patience = endpoint.options.first_byte_timeout;
        let retry =
            self.retry.get_or_insert_with(|| Retry::new(patience, self.request.attempts.clone()));
        let mut dialect = self.service.dialect();
        let mut refused = Vec::new();
        loop {
            self.body = request::body(&endpoint.options, &self.request, dialect);
            let failure = match endpoint.post("/chat/completions", &self.body).await {
                Ok(response) => {
                    self.service.learn(dialect);
                    return Ok(Phase::Read(Box::new(Reading::new(response))));
                }
                Err(failure) => failure,
            };
            match dialect.without(&failure).filter(|other| !refused.contains(other)) {
                Some(other) => refused.push(std::mem::replace(&mut dialect, other)),
                None => retry.again(failure.error).await?,
            }
        }
    }

    /// Reads until there is something to give on, or the answer ends.
    async fn read(&mut self, mut reading: Box<Reading>) -> Result<Phase, Error> {
        let service = self.service.clone();
        let patience = reading.patience(&service.endpoint.options);
        let peer = &service.endpoint.peer;
        let (frames, cut) = match tokio::time::timeout(patience, reading.response.chunk()).await {
            Ok(Ok(Some(bytes))) => {
                reading.started = true;
                (reading.frames.push(&bytes), None)
            }
            Ok(Ok(None)) => (reading.frames.finish(), Some(peer.interrupted())),
            Ok(Err(_)) => (Vec::new(), Some(peer.interrupted())),
            Err(_) => (Vec::new(), Some(peer.slow())),
        };
        for frame in frames {
            match frame {
                Frame::Done => return Ok(self.complete(reading).await),
                Frame::Unreadable => reading.unreadable = true,
                Frame::Json(value) => {
                    if let Err(error) = self.take(&mut reading, &value) {
                        return self.fail(&reading, error).await;
                    }
                }
            }
        }
        match cut {
            None => Ok(Phase::Read(reading)),
            Some(_) if reading.finished => Ok(self.complete(reading).await),
            Some(_) if reading.unreadable && !reading.received => {
                let way_out = "check that base_url ends with the version such as /v1";
                Err(peer.error(Kind::Protocol, "the answer is no chat completion", way_out))
            }
            Some(error) => self.fail(&reading, error).await,
        }
    }

    /// Takes one document of the stream.
    fn take(&mut self, reading: &mut Reading, value: &Value) -> Result<(), Error> {
        let peer = &self.service.endpoint.peer;
        let chunk = Chunk::read(value);
        if let Some(said) = chunk.error {
            return Err(peer.service_error(&said, None, &self.body));
        }
        reading.received |= !chunk.text.is_empty() || !chunk.calls.is_empty();
        let shown = reading.hidden.push(&chunk.text);
        if !shown.is_empty() {
            self.ready.push_back(ChatEvent::Text(shown));
        }
        chunk.calls.into_iter().for_each(|delta| reading.calls.push(delta));
        self.ready.extend(chunk.usage.map(ChatEvent::Usage));
        match chunk.finish_reason.as_deref() {
            Some("error") => Err(peer.interrupted()),
            reason => {
                reading.finished |= reason.is_some();
                Ok(())
            }
        }
    }

    /// The reply is whole. Calls count whatever reason was given for the end.
    async fn complete(&mut self, mut reading: Box<Reading>) -> Phase {
        let end = async { while let Ok(Some(_)) = reading.response.chunk().await {} };
        // A server without an end costs a connection, nothing else.
        let _ = tokio::time::timeout(DRAIN, end).await;
        let rest = reading.hidden.finish();
        if !rest.is_empty() {
            self.ready.push_back(ChatEvent::Text(rest));
        }
        self.ready.extend(reading.calls.finish().into_iter().map(ChatEvent::ToolCall));
        self.ready.push_back(ChatEvent::Done);
        Phase::Over
    }

    /// The answer broke off: asked for again if nothing of it came, else interrupted.
    async fn fail(&mut self, reading: &Reading, error: Error) -> Result<Phase, Error> {
        if reading.received {
            return Err(Error::new(Kind::Interrupted, error.to_string()));
        }
        // An answer that ended before it began is a failure of the service that may pass.
        let error = match error.kind() {
            Kind::Interrupted => Error::new(Kind::Unavailable, error.to_string()),
            _ => error,
        };
        let patience = self.service.endpoint.options.first_byte_timeout;
        let retry =
            self.retry.get_or_insert_with(|| Retry::new(patience, self.request.attempts.clone()));
        match retry.again(error).await {
            Ok(()) => Ok(Phase::Ask),
            Err(error) => Err(error),
        }
    }
}

impl Reading {
    fn new(response: Response) -> Self {
        Self {
            response,
            frames: Decoder::default(),
            hidden: Hidden::default(),
            calls: Assembler::default(),
            started: false,
            received: false,
            finished: false,
            unreadable: false,
        }
    }

    fn patience(&self, options: &Options) -> Duration {
        if self.finished {
            options.idle_timeout.min(GRACE)
        } else if self.started {
            options.idle_timeout
        } else {
            options.first_byte_timeout
        }
    }
}

#[cfg(test)]
mod tests;
