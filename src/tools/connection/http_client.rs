//! Servers behind streamable HTTP.
//!
//! Entry type: [`HttpClient`], the HTTP client `rmcp` sends with: headers with expansion, tokens renewed
//! once after a refusal, and connections that are kept. A session's first request waits until the
//! stream for what the server says unasked is open: a question asked before it would be lost.
//! **Never**: follows a redirect to another origin; sends anything twice but what was refused for
//! its token.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{StreamExt, stream::BoxStream};
use reqwest::{
    Url,
    header::{HeaderName, HeaderValue},
    redirect::Policy,
};
use rmcp::{
    model::{ClientJsonRpcMessage, ProtocolVersion},
    transport::{
        StreamableHttpClientTransport,
        common::client_side_sse::ExponentialBackoff,
        streamable_http_client::{
            SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
            StreamableHttpError, StreamableHttpPostResponse,
        },
    },
};
use sse_stream::Sse;
use tokio::{
    sync::{Mutex, watch},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::task::TaskTracker;

use super::{
    facts::{Facts, SessionFacts},
    http_post::{Post, post},
    oauth::Authorizer,
    options::Secret,
    unusable::bounded,
};
use crate::{
    provider::{Outbound, Refused},
    tools::url::UrlError,
};

/// Time an unused connection is kept.
const KEPT: Duration = Duration::from_secs(90);
/// Unused connections kept to one server.
const KEPT_MAX: usize = 4;
/// Redirects that are followed.
const REDIRECTS: usize = 5;
/// Longest wait for the end of a stream whose result has been read.
const DRAIN: Duration = Duration::from_secs(2);
/// Longest wait between two attempts to resume a stream.
const RESUME: Duration = Duration::from_secs(60);
/// Shortest time between two attempts to open a stream of one server, whatever it asks for.
const PACE: Duration = Duration::from_millis(500);
/// Largest answer, and largest event of a stream, in bytes.
const LARGEST: usize = 8 * 1024 * 1024;
/// Longest wait for a session's stream: some servers answer only when they have something to say.
const LISTENING: Duration = Duration::from_secs(1);

/// Authorization of requests to a server.
#[derive(Clone)]
pub enum Authorization {
    /// Requests carry no authorization.
    None,
    /// Every request carries this bearer token.
    Bearer(Secret),
    /// Requests carry the token that the authorizer has at that moment.
    Managed(Arc<Authorizer>),
}

/// Reason no request can be sent to a server.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// Its address is not a URL.
    #[error("'{url}': {source}")]
    Address {
        /// Address as configured.
        url: String,
        /// The problem with it.
        source: UrlError,
    },
    /// A configured header has a name that none may have.
    #[error("invalid header name '{0}' (use letters, digits and '-')")]
    Header(String),
    /// No request may be sent to its address.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// This machine has nothing to check the server's certificate with.
    #[error("no certificates to check the server with (install the package ca-certificates)")]
    NoCertificates,
}

/// Parameters of a connection over HTTP.
pub struct HttpOptions<'a> {
    /// Address of the server.
    pub url: &'a str,
    /// True if it may be on this machine or a private network.
    pub may_be_inside: bool,
    /// Headers of every request beside the protocol's own; values may hold `${names}`.
    pub headers: &'a [(String, Secret)],
    /// Authorization of its requests.
    pub authorization: Authorization,
    /// Values that headers may name.
    pub facts: Arc<Facts>,
    /// In whose name requests are made; `None`: in nobody's.
    pub session: Option<Arc<SessionFacts>>,
}

/// Sends requests to one server; clones share its connections.
#[derive(Clone)]
pub struct HttpClient {
    inner: Arc<Inner>,
}

struct Inner {
    /// Keeps its connections.
    kept: reqwest::Client,
    /// Opens a connection for each request.
    fresh: reqwest::Client,
    /// Kept connections have turned out to be slower than fresh ones.
    prefers_fresh: AtomicBool,
    /// It has answered a request with a stream.
    has_streamed: AtomicBool,
    headers: Vec<(HeaderName, Secret)>,
    authorization: Authorization,
    facts: Arc<Facts>,
    session: Option<Arc<SessionFacts>>,
    drains: TaskTracker,
    /// The server has answered when it was asked for the stream of a session, or has had its time.
    is_listening: watch::Sender<bool>,
    /// Earliest time to open the next stream.
    next_stream: Mutex<Instant>,
}

type Failed = StreamableHttpError<reqwest::Error>;

impl HttpClient {
    /// # Errors
    /// An address or a header that cannot be used, or no certificates for a TLS address.
    pub fn new(options: HttpOptions) -> Result<Self, HttpError> {
        let url = Url::parse(options.url)
            .map_err(|source| HttpError::Address { url: options.url.to_owned(), source })?;
        let outbound = Outbound::public();
        let outbound = if options.may_be_inside { outbound.and(&url) } else { outbound };
        let client = |pooled| client(&outbound, &url, pooled);
        let headers = options.headers.iter().map(|(name, value)| {
            let parsed = HeaderName::try_from(name.as_str());
            let parsed = parsed.map_err(|_| HttpError::Header(name.clone()))?;
            Ok((parsed, value.clone()))
        });
        Ok(Self {
            inner: Arc::new(Inner {
                kept: client(true)?,
                fresh: client(false)?,
                prefers_fresh: AtomicBool::new(false),
                has_streamed: AtomicBool::new(false),
                headers: headers.collect::<Result<_, HttpError>>()?,
                authorization: options.authorization,
                facts: options.facts,
                session: options.session,
                drains: TaskTracker::new(),
                is_listening: watch::Sender::new(false),
                next_stream: Mutex::new(Instant::now()),
            }),
        })
    }

    /// An `rmcp` transport to `url` over this client.
    pub fn transport(&self, url: &str) -> StreamableHttpClientTransport<Self> {
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        let mut resume = ExponentialBackoff::default();
        resume.max_delay = Some(RESUME);
        config.retry_config = Arc::new(resume);
        config.max_sse_event_size = LARGEST;
        StreamableHttpClientTransport::with_client(self.clone(), config)
    }

    /// True if the server answers requests with streams.
    pub fn has_streamed(&self) -> bool {
        self.inner.has_streamed.load(Ordering::Relaxed)
    }

    /// Opens a connection for each request of the old revisions, or not.
    pub fn prefer_fresh(&self, fresh: bool) {
        self.inner.prefers_fresh.store(fresh, Ordering::Relaxed);
    }

    fn client(&self, headers: &HashMap<HeaderName, HeaderValue>) -> &reqwest::Client {
        let stateless = headers
            .get("mcp-protocol-version")
            .is_some_and(|it| it.as_bytes() >= ProtocolVersion::V_2026_07_28.as_str().as_bytes());
        match self.inner.prefers_fresh.load(Ordering::Relaxed) && !stateless {
            true => &self.inner.fresh,
            false => &self.inner.kept,
        }
    }

    /// Sends with the headers and the token of this moment, and again when the token was refused
    /// and there is a better one.
    async fn with_token<'a, T, F>(
        &'a self,
        mut headers: HashMap<HeaderName, HeaderValue>,
        send: impl Fn(&'a reqwest::Client, Option<String>, HashMap<HeaderName, HeaderValue>) -> F,
    ) -> Result<T, Failed>
    where
        F: Future<Output = Result<T, Failed>>,
    {
        for (name, template) in &self.inner.headers {
            headers.insert(name.clone(), self.header(name, template)?);
        }
        let client = self.client(&headers);
        match &self.inner.authorization {
            Authorization::None => send(client, None, headers).await,
            Authorization::Bearer(token) => send(client, Some(token.0.clone()), headers).await,
            Authorization::Managed(authorizer) => {
                authorizer.carry(|token| send(client, token, headers.clone())).await
            }
        }
    }

    fn header(&self, name: &HeaderName, template: &Secret) -> Result<HeaderValue, Failed> {
        let session = self.inner.session.as_deref();
        let value = self.inner.facts.fill(&template.0, session).map_err(|missing| {
            let missing = missing.0;
            said(format!("its header '{name}' needs '{missing}', which has no value yet"))
        })?;
        let mut value = HeaderValue::from_str(&value)
            .map_err(|_| said(format!("its header '{name}' has characters that cannot be sent")))?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Waits until the stream of the session is open, or refused.
    async fn listening(&self) {
        let mut opened = self.inner.is_listening.subscribe();
        if timeout(LISTENING, opened.wait_for(|is| *is)).await.is_err() {
            self.inner.is_listening.send_replace(true);
        }
    }

    /// Waits until another stream may be opened: a server that ends its streams, or breaks them, and
    /// asks to be asked again at once would keep us busy.
    async fn pace(&self) {
        let mut next = self.inner.next_stream.lock().await;
        sleep_until(*next).await;
        *next = Instant::now() + PACE;
    }

    /// Reads an answer's stream on after its reader has left, so that its connection can be used
    /// again.
    fn drained(
        &self,
        stream: BoxStream<'static, Result<Sse, SseError>>,
    ) -> BoxStream<'static, Result<Sse, SseError>> {
        self.inner.has_streamed.store(true, Ordering::Relaxed);
        let stream = stream.map(|event| event.map(bounded)).boxed();
        Drained { stream: Some(stream), drains: self.inner.drains.clone() }.boxed()
    }
}

/// A failure on our side, worded for a person.
fn said(reason: String) -> Failed {
    StreamableHttpError::Io(std::io::Error::other(reason))
}

/// A stream that is read to its end.
struct Drained {
    stream: Option<BoxStream<'static, Result<Sse, SseError>>>,
    drains: TaskTracker,
}

impl futures::Stream for Drained {
    type Item = Result<Sse, SseError>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        let Some(stream) = &mut self.stream else { return std::task::Poll::Ready(None) };
        let polled = stream.poll_next_unpin(context);
        if matches!(polled, std::task::Poll::Ready(None)) {
            self.stream = None;
        }
        polled
    }
}

impl Drop for Drained {
    fn drop(&mut self) {
        if let (Some(mut stream), Ok(runtime)) =
            (self.stream.take(), tokio::runtime::Handle::try_current())
        {
            let rest = async move { while stream.next().await.is_some() {} };
            self.drains.spawn_on(timeout(DRAIN, rest), &runtime);
        }
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        self.post_message_with_max_sse_event_size(
            uri,
            message,
            session_id,
            auth_header,
            custom_headers,
            LARGEST,
        )
        .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        longest: usize,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        if session_id.is_some() && matches!(message, ClientJsonRpcMessage::Request(_)) {
            self.listening().await;
        }
        let answer = self
            .with_token(custom_headers, |client, token, headers| {
                let (uri, session) = (Arc::clone(&uri), session_id.clone());
                let message = message.clone();
                post(client, Post { uri, message, session, token, headers }, longest)
            })
            .await?;
        Ok(match answer {
            StreamableHttpPostResponse::Sse(stream, session) => {
                StreamableHttpPostResponse::Sse(self.drained(stream), session)
            }
            other => other,
        })
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        self.with_token(custom_headers, |client, token, headers| {
            client.delete_session(Arc::clone(&uri), Arc::clone(&session_id), token, headers)
        })
        .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        self.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            LARGEST,
        )
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        longest: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        self.pace().await;
        let answer = self
            .with_token(custom_headers, |client, token, headers| {
                client.get_stream_with_max_sse_event_size(
                    Arc::clone(&uri),
                    session_id.clone(),
                    last_event_id.clone(),
                    token,
                    headers,
                    longest,
                )
            })
            .await;
        if last_event_id.is_none() {
            self.inner.is_listening.send_replace(true);
        }
        Ok(answer?.map(|event| event.map(bounded)).boxed())
    }
}

/// Connections to `url`.
fn client(outbound: &Outbound, url: &Url, pooled: bool) -> Result<reqwest::Client, HttpError> {
    let origin = url.origin();
    let same_origin = Policy::custom(move |attempt| {
        let keeps_body = matches!(attempt.status().as_u16(), 307 | 308);
        match keeps_body
            && attempt.url().origin() == origin
            && attempt.previous().len() <= REDIRECTS
        {
            true => attempt.follow(),
            false => attempt.stop(),
        }
    });
    outbound
        .client(url)?
        .tcp_nodelay(true)
        .pool_idle_timeout(KEPT)
        .pool_max_idle_per_host(if pooled { KEPT_MAX } else { 0 })
        .redirect(same_origin)
        .build()
        .map_err(|_| HttpError::NoCertificates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn streams_of_a_server_are_opened_at_a_pace() {
        let options = HttpOptions {
            url: "http://127.0.0.1:9/mcp",
            may_be_inside: true,
            headers: &[],
            authorization: Authorization::None,
            facts: Arc::default(),
            session: None,
        };
        let (client, begun) = (HttpClient::new(options).unwrap(), Instant::now());
        client.pace().await;
        assert_eq!(begun.elapsed(), Duration::ZERO, "the first is not kept waiting");
        for _ in 0..20 {
            client.clone().pace().await;
        }
        assert_eq!(begun.elapsed(), PACE * 20);
    }
}
