//! One streamed reply of a chat model: asked for, read, and asked for again while nothing of it was
//! given on.
//!
//! Entry types: [`Protocol`] and [`Reader`], which a service's client fills; [`stream()`] plays them.
//! **Never**: knows a service's words; gives on a call out of a reply that was cut.

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

/// After the model said it is done: longest wait for the token count and the end.
const GRACE: Duration = Duration::from_secs(1);
/// After the last event: longest wait for the body's end. Read to it, the connection serves the next
/// turn too, which saves its handshakes.
const DRAIN: Duration = Duration::from_millis(10);
/// Multiple of the longest silence that a service may fill with signs of life alone.
const SIGNS_OF_LIFE: u32 = 4;

/// Protocol for asking a service for a reply.
pub trait Protocol: Send + Sync + 'static {
    /// Reader of one answer.
    type Reader: Reader + 'static;

    /// Address of the service.
    fn endpoint(&self) -> &Endpoint;

    /// Sends `request`; again only without what the service has refused.
    fn ask<'a>(&'a self, request: &'a ChatRequest) -> BoxFuture<'a, Asked>;
}

/// A request that was sent.
pub struct Asked {
    /// The request that was sent, for hiding echoes.
    pub body: Value,
    /// The beginning of an answer.
    pub answer: Result<Response, Error>,
}

/// Reads one answer, document by document.
pub trait Reader: Default + Send + Sync {
    /// The format expected, for messages.
    const WANTED: &'static str;

    /// Takes a document of the stream; what it holds of the reply goes to `out`.
    ///
    /// # Errors
    /// The answer ends here.
    fn take(&mut self, document: &Value, out: &mut VecDeque<ChatEvent>) -> Result<Life, Broken>;

    /// The stream says `[DONE]`, which not every service sends.
    fn mark(&mut self) {}

    /// Something of the reply came: it cannot be asked for again.
    fn has_received(&self) -> bool;

    /// The model said why it stopped: an end is no cut.
    fn is_finished(&self) -> bool;

    /// Nothing of the reply follows, whatever else the stream may hold.
    fn is_over(&self) -> bool;

    /// The reply is whole: gives what was held back.
    fn complete(&mut self, out: &mut VecDeque<ChatEvent>);
}

/// State of the answer after a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It goes on.
    Answer,
    /// The connection lives, nothing else.
    Connection,
}

/// Reason an answer ends before its time.
#[derive(Debug)]
pub enum Broken {
    /// The service says so.
    Said(ServiceError),
    /// The service says that it broke off, and not why.
    Interrupted,
    /// It is over a bound.
    Over(Bound),
}

impl From<Bound> for Broken {
    fn from(bound: Bound) -> Self {
        Self::Over(bound)
    }
}

/// The reply of `service` to `request`. Dropping the stream cancels the request.
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

/// One reply in the making.
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
    /// All complete events are passed on before it.
    Failed(Error),
    Over,
}

/// State of the reading of one answer.
struct Reading<R> {
    response: Response,
    frames: Decoder,
    reader: R,
    /// Bytes came: from here on the idle timeout counts.
    started: bool,
    /// Time of the answer's last progress.
    moved: Instant,
    /// Something came that is no event.
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

    /// Sends the request until an answer begins or there is no more sense in it.
    async fn ask(&mut self) -> Result<Phase<P::Reader>, Error> {
        // From the first try on, whatever became of it, the patience runs.
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

    /// Reads until there is something to give on, or the answer ends.
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

    /// The reply is whole. Calls count whatever reason was given for the end.
    async fn complete(&mut self, mut reading: Box<Reading<P::Reader>>) -> Phase<P::Reader> {
        let end = async { while let Ok(Some(_)) = reading.response.chunk().await {} };
        // A server without an end costs a connection, nothing else.
        let _ = tokio::time::timeout(DRAIN, end).await;
        reading.reader.complete(&mut self.ready);
        self.ready.push_back(ChatEvent::Done);
        Phase::Over
    }

    /// The answer broke off: asked for again if nothing of it came, else interrupted.
    async fn fail(
        &mut self,
        reading: &Reading<P::Reader>,
        error: Error,
    ) -> Result<Phase<P::Reader>, Error> {
        if reading.reader.has_received() {
            return Err(Error::new(Kind::Interrupted, error.to_string()));
        }
        // An answer that ended before it began is a failure of the service that may pass.
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

    /// Longest wait for the next piece; `None`: what comes has not been an answer for too long.
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
