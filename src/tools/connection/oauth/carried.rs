//! Requests that carry the token, and what is done when the server refuses it.
//!
//! Entry types: [`Carried`], an `rmcp` HTTP client around another; [`oauth_error`], which finds our
//! reason in its errors. **Never**: sends a request again that was not refused for its token.

use std::{collections::HashMap, error::Error, io, sync::Arc};

use futures::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::{
    model::ClientJsonRpcMessage,
    transport::streamable_http_client::{
        SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    },
};
use sse_stream::Sse;

use super::{Authorizer, OauthError};

/// How often one request is sent: once as it is, and after each answer to a refusal.
const MAX_TRIES: usize = 4;

/// An HTTP client whose requests carry a token.
#[derive(Clone)]
pub struct Carried<C> {
    inner: C,
    authorizer: Option<Arc<Authorizer>>,
}

/// What a request comes to.
type Outcome<T, C> = Result<T, StreamableHttpError<<C as StreamableHttpClient>::Error>>;

impl<C: StreamableHttpClient + Sync> Carried<C> {
    /// Requests of `inner` with tokens of `authorizer`; without one they go as they are.
    pub fn new(inner: C, authorizer: Option<Arc<Authorizer>>) -> Self {
        Self { inner, authorizer }
    }

    /// Sends with the token there is, and again with a better one when that is refused: twice for
    /// a token (401), then for more scopes as long as there are more to ask for (403).
    async fn send<T, F>(&self, given: Option<String>, send: impl Fn(Option<String>) -> F) -> Outcome<T, C>
    where
        F: Future<Output = Outcome<T, C>>,
    {
        let Some(authorizer) = &self.authorizer else { return send(given).await };
        let mut token = authorizer.token().await.map_err(carry)?;
        let mut renewed = false;
        for _ in 1..MAX_TRIES {
            let sent = token.as_deref();
            let refusal = match send(sent.map(str::to_owned)).await {
                Err(refusal) => refusal,
                outcome => return outcome,
            };
            let better = match &refusal {
                // A token that has just been fetched and is refused is no better fetched again.
                StreamableHttpError::AuthRequired(_) if renewed => return Err(refusal),
                StreamableHttpError::AuthRequired(said) => {
                    renewed = true;
                    authorizer.instead(sent, Some(&said.www_authenticate_header)).await
                }
                StreamableHttpError::InsufficientScope(said) => {
                    let Some(scope) = said.get_required_scope() else { return Err(refusal) };
                    let challenge = Some(&*said.www_authenticate_header);
                    authorizer.wider(sent, challenge, scope).await
                }
                _ => return Err(refusal),
            };
            token = Some(better.map_err(carry)?);
        }
        send(token.as_deref().map(str::to_owned)).await
    }
}

/// Our reason as an error of rmcp's, which has no place for others.
fn carry<E: Error + Send + Sync + 'static>(error: OauthError) -> StreamableHttpError<E> {
    StreamableHttpError::Io(io::Error::other(error))
}

/// Our reason among the causes of `error`.
pub fn oauth_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a OauthError> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        // An IO error does not name what it is made of among its causes.
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(found) = inner.and_then(|inner| inner.downcast_ref()) {
            return Some(found);
        }
        cause = error.source();
    }
    None
}

impl<C: StreamableHttpClient + Sync> StreamableHttpClient for Carried<C> {
    type Error = C::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Outcome<StreamableHttpPostResponse, C> {
        let (uri, message, session, headers) = (&uri, &message, &session, &headers);
        self.send(token, |token| {
            let (uri, session) = (uri.clone(), session.clone());
            self.inner.post_message(uri, message.clone(), session, token, headers.clone())
        })
        .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        limit: usize,
    ) -> Outcome<StreamableHttpPostResponse, C> {
        let (uri, message, session, headers) = (&uri, &message, &session, &headers);
        self.send(token, |token| {
            let (uri, session) = (uri.clone(), session.clone());
            let (message, headers) = (message.clone(), headers.clone());
            self.inner
                .post_message_with_max_sse_event_size(uri, message, session, token, headers, limit)
        })
        .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Outcome<(), C> {
        let (uri, session, headers) = (&uri, &session, &headers);
        self.send(token, |token| {
            self.inner.delete_session(uri.clone(), session.clone(), token, headers.clone())
        })
        .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Outcome<BoxStream<'static, Result<Sse, SseError>>, C> {
        let (uri, session, last_event, headers) = (&uri, &session, &last_event, &headers);
        self.send(token, |token| {
            let (session, last_event) = (session.clone(), last_event.clone());
            self.inner.get_stream(uri.clone(), session, last_event, token, headers.clone())
        })
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
        limit: usize,
    ) -> Outcome<BoxStream<'static, Result<Sse, SseError>>, C> {
        let (uri, session, last_event, headers) = (&uri, &session, &last_event, &headers);
        self.send(token, |token| {
            let (uri, session, last_event) = (uri.clone(), session.clone(), last_event.clone());
            let headers = headers.clone();
            self.inner
                .get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, limit)
        })
        .await
    }
}
