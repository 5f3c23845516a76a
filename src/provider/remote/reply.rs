//! One streamed reply of a chat model, retried only before its first event.
//!
//! Entry types: [`Protocol`] and [`Reader`], which a service's client implements; [`stream()`] runs
//! them. **Never**: a call from a reply that broke off.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use futures::{
    StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use reqwest::Response;
use serde_json::Value;
use tokio::time::Instant;

use super::{
    endpoint::Endpoint,
    options::Options,
    retry::Retry,
    said::ServiceError,
    sse::{Decoder, Frame},
};
use crate::provider::{Bound, ChatEvent, ChatRequest, Error, Kind};

/// Longest wait for the token count and the end after the model has finished.
const GRACE: Duration = Duration::from_secs(1);
/// Longest wait for the body's end after the last event. A connection read to its end is reused,
/// which saves the next turn its handshakes.
const DRAIN: Duration = Duration::from_millis(10);
/// Longest stretch of keep-alives alone, as a multiple of the longest silence.
const SIGNS_OF_LIFE: u32 = 4;

pub trait Protocol: Send + Sync + 'static {
    type Reader: Reader + 'static;

    fn endpoint(&self) -> &Endpoint;

    /// Sends `request`. Retries only without parameters that the service has refused.
    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Asked>;
}

pub struct Asked {
    /// The request body, for hiding echoes.
    pub body: Value,
    pub answer: Result<Response, Error>,
}

pub trait Reader: Default + Send + Sync {
    const WANTED: &'static str;

    /// Reads a document of the stream and pushes its events to `out`.
    ///
    /// # Errors
    /// Ends the answer.
    fn take(&mut self, document: &Value, out: &mut VecDeque<ChatEvent>) -> Result<Life, Broken>;

    /// The stream sent `[DONE]`, which some services omit.
    fn mark(&mut self) {}

    /// Part of the reply has arrived, so it cannot be retried.
    fn has_received(&self) -> bool;

    /// The model gave a reason for stopping, so that the end is no interruption.
    fn is_finished(&self) -> bool;

    /// No more of the reply follows, whatever the stream still holds.
    fn is_over(&self) -> bool;

    /// The reply is complete: pushes events held back.
    fn complete(&mut self, out: &mut VecDeque<ChatEvent>);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Answer,
    Connection,
}

#[derive(Debug)]
pub enum Broken {
    Said(ServiceError),
    /// The service broke off without a reason.
    Interrupted,
    Over(Bound),
}

impl From<Bound> for Broken {
    fn from(bound: Bound) -> Self {
        Self::Over(bound)
    }
}

/// Streams the reply to `request`. Dropping the stream cancels the request.
pub fn stream<P: Protocol>(
    service: Arc<P>,
    request: ChatRequest,
) -> BoxStream<'static, Result<ChatEvent, Error>> {
    let reply = Reply::new(service, request);
    stream::unfold(reply, |mut reply| async {
        let event = reply.next().await?;
        Some((event, reply))
    })
    .boxed()
}

struct Reply<P: Protocol> {
    service: Arc<P>,
    request: ChatRequest,
    body: Value,
    retry: Option<Retry>,
    ready: VecDeque<ChatEvent>,
    phase: Phase<P::Reader>,
}

enum Phase<R> {
    Ask,
    Read(Box<Reading<R>>),
    Failed(Error),
    Over,
}

struct Reading<R> {
    response: Response,
    frames: Decoder,
    reader: R,
    /// True after the first bytes: from then on the idle timeout counts.
    started: bool,
    moved: Instant,
    unreadable: bool,
}

impl<P: Protocol> Reply<P> {
    fn new(service: Arc<P>, request: ChatRequest) -> Self {
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
                Phase::Failed(error) => return Some(Err(error)),
                Phase::Ask => self.ask().await,
                Phase::Read(reading) => self.read(reading).await,
            };
            self.phase = step.unwrap_or_else(Phase::Failed);
        }
    }

    /// Sends the request until an answer begins or retrying is pointless.
    async fn ask(&mut self) -> Result<Phase<P::Reader>, Error> {
        // The patience counts from the first attempt.
        self.retry();
        loop {
            let Asked { body, answer } = self.service.ask(&self.request).await;
            self.body = body;
            match answer {
                Ok(response) => return Ok(Phase::Read(Box::new(Reading::new(response)))),
                Err(error) => self.retry().again(error).await?,
            }
        }
    }

    fn retry(&mut self) -> &mut Retry {
        let patience = self.service.endpoint().options.first_byte_timeout;
        let attempts = &self.request.attempts;
        self.retry.get_or_insert_with(|| Retry::new(patience, attempts.clone()))
    }

    /// Reads until an event is ready or the answer ends.
    async fn read(
        &mut self,
        mut reading: Box<Reading<P::Reader>>,
    ) -> Result<Phase<P::Reader>, Error> {
        let service = Arc::clone(&self.service);
        let Endpoint { options, peer, .. } = service.endpoint();
        let Some(patience) = reading.patience(options) else {
            return self.fail(&reading, peer.slow()).await;
        };
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
            if let Err(broken) = reading.take(frame, &mut self.ready) {
                let error = self.broken(broken);
                return self.fail(&reading, error).await;
            }
            if reading.reader.is_over() {
                return Ok(self.complete(reading).await);
            }
        }
        match cut {
            None => Ok(Phase::Read(reading)),
            Some(_) if reading.reader.is_finished() => Ok(self.complete(reading).await),
            Some(_) if reading.unreadable && !reading.reader.has_received() => {
                let what = format!("the answer is not a {}", P::Reader::WANTED);
                let way_out = "check that base_url ends with the version such as /v1";
                Err(peer.error(Kind::Protocol, &what, way_out))
            }
            Some(error) => self.fail(&reading, error).await,
        }
    }

    fn broken(&self, broken: Broken) -> Error {
        let peer = &self.service.endpoint().peer;
        match broken {
            Broken::Said(said) => peer.service_error(&said, None, &self.body),
            Broken::Interrupted => peer.interrupted(),
            Broken::Over(bound) => peer.over(bound),
        }
    }

    async fn complete(&mut self, mut reading: Box<Reading<P::Reader>>) -> Phase<P::Reader> {
        let end = async { while let Ok(Some(_)) = reading.response.chunk().await {} };
        // A server that never ends the body costs one connection.
        let _ = tokio::time::timeout(DRAIN, end).await;
        reading.reader.complete(&mut self.ready);
        self.ready.push_back(ChatEvent::Done);
        Phase::Over
    }

    /// Retries an answer that broke off before its first event; later it is interrupted.
    async fn fail(
        &mut self,
        reading: &Reading<P::Reader>,
        error: Error,
    ) -> Result<Phase<P::Reader>, Error> {
        if reading.reader.has_received() {
            return Err(Error::new(Kind::Interrupted, error.to_string()));
        }
        // An answer that ended before it began may be a passing failure.
        let error = match error.kind() {
            Kind::Interrupted => Error::new(Kind::Unavailable, error.to_string()),
            _ => error,
        };
        self.retry().again(error).await.map(|()| Phase::Ask)
    }
}

impl<R: Reader> Reading<R> {
    fn new(response: Response) -> Self {
        Self {
            response,
            frames: Decoder::default(),
            reader: R::default(),
            started: false,
            moved: Instant::now(),
            unreadable: false,
        }
    }

    fn take(&mut self, frame: Frame, out: &mut VecDeque<ChatEvent>) -> Result<(), Broken> {
        match frame {
            Frame::Done => self.reader.mark(),
            Frame::Unreadable => self.unreadable = true,
            Frame::Over(bound) => return Err(bound.into()),
            Frame::Json(document) => {
                if self.reader.take(&document, out)? == Life::Answer {
                    self.moved = Instant::now();
                }
            }
        }
        Ok(())
    }

    /// Longest wait for the next piece; `None`: only signs of life for too long.
    fn patience(&self, options: &Options) -> Option<Duration> {
        if self.reader.is_finished() {
            return Some(options.idle_timeout.min(GRACE));
        }
        if !self.started {
            return Some(options.first_byte_timeout);
        }
        let longest = options.idle_timeout.max(options.first_byte_timeout) * SIGNS_OF_LIFE;
        let left = longest.checked_sub(self.moved.elapsed())?;
        Some(options.idle_timeout.min(left))
    }
}
