//! HTTP client of servers behind streamable HTTP: headers with placeholders, tokens renewed once
//! after a refusal, and pooled connections. A session's first request waits until the stream for
//! unasked messages is open, or early questions would be lost. **Never**: follows a redirect to
//! another origin; resends anything except a request refused for its token.

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

/// Idle time after which a pooled connection closes.
const KEPT: Duration = Duration::from_secs(90);
/// Idle connections pooled per server.
const KEPT_MAX: usize = 4;
const REDIRECTS: usize = 5;
/// Longest drain of a stream whose result has been read.
const DRAIN: Duration = Duration::from_secs(2);
/// Longest wait between attempts to resume a stream, whatever the server asks for.
const RESUME: Duration = Duration::from_secs(60);
/// Shortest interval between streams opened to one server, whatever it asks for.
const PACE: Duration = Duration::from_millis(500);
/// Largest answer, and largest event of a stream, in bytes.
const LARGEST: usize = 8 * 1024 * 1024;
/// Longest wait for a session's stream: some servers answer only once they have a message.
const LISTENING: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub enum Authorization {
    None,
    Bearer(Secret),
    /// The authorizer's current token.
    Managed(Arc<Authorizer>),
}

/// Reason no request can be sent to a server.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("'{url}': {source}")]
    Address { url: String, source: UrlError },
    #[error("invalid header name '{0}' (use letters, digits and '-')")]
    Header(String),
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("no certificates to check the server with (install the package ca-certificates)")]
    NoCertificates,
}

pub struct HttpOptions<'a> {
    pub url: &'a str,
    /// Allows an address on this machine or a private network.
    pub may_be_inside: bool,
    pub headers: &'a [(String, Secret)],
    pub authorization: Authorization,
    /// Values of placeholders in headers.
    pub facts: Arc<Facts>,
    /// Session in whose name requests are made.
    pub session: Option<Arc<SessionFacts>>,
}

#[derive(Clone)]
pub struct HttpClient {
    inner: Arc<Inner>,
}

struct Inner {
    /// Pools its connections.
    kept: reqwest::Client,
    /// Opens a connection for each request.
    fresh: reqwest::Client,
    /// Set if pooled connections turn out slower than fresh ones.
    prefers_fresh: AtomicBool,
    /// Set once the server has answered with a stream.
    has_streamed: AtomicBool,
    headers: Vec<(HeaderName, Secret)>,
    authorization: Authorization,
    facts: Arc<Facts>,
    session: Option<Arc<SessionFacts>>,
    drains: TaskTracker,
    /// True once the session's stream is open, refused or late.
    is_listening: watch::Sender<bool>,
    /// Earliest time to open the next stream.
    next_stream: Mutex<Instant>,
}

type Failed = StreamableHttpError<reqwest::Error>;

impl HttpClient {
    /// Fails on an invalid address or header, or if TLS lacks root certificates.
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

    pub fn transport(&self, url: &str) -> StreamableHttpClientTransport<Self> {
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        let mut resume = ExponentialBackoff::default();
        resume.max_delay = Some(RESUME);
        config.retry_config = Arc::new(resume);
        config.max_sse_event_size = LARGEST;
        StreamableHttpClientTransport::with_client(self.clone(), config)
    }

    /// True if the server answers with streams.
    pub fn has_streamed(&self) -> bool {
        self.inner.has_streamed.load(Ordering::Relaxed)
    }

    /// If `fresh`, each request of an old revision opens a connection of its own.
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

    /// Sends with current headers and token; retries if the token was refused and a better one
    /// exists.
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

    /// Waits until the session's stream is open or refused.
    async fn listening(&self) {
        let mut opened = self.inner.is_listening.subscribe();
        if timeout(LISTENING, opened.wait_for(|is| *is)).await.is_err() {
            self.inner.is_listening.send_replace(true);
        }
    }

    /// Delays opening a stream: a server that ends streams and demands immediate reconnection must
    /// not keep us busy.
    async fn pace(&self) {
        let mut next = self.inner.next_stream.lock().await;
        sleep_until(*next).await;
        *next = Instant::now() + PACE;
    }

    /// Reads a stream to its end after its reader has left, so that its connection can be reused.
    fn drained(
        &self,
        stream: BoxStream<'static, Result<Sse, SseError>>,
    ) -> BoxStream<'static, Result<Sse, SseError>> {
        self.inner.has_streamed.store(true, Ordering::Relaxed);
        let stream = stream.map(|event| event.map(bounded)).boxed();
        Drained { stream: Some(stream), drains: self.inner.drains.clone() }.boxed()
    }
}

fn said(reason: String) -> Failed {
    StreamableHttpError::Io(std::io::Error::other(reason))
}

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
