//! Calls of HTTP tools, one request and one answer each, over a pooled client per server.
//! **Never**: sends a call twice, redirects to another server, shows an address or header in an
//! error.

use std::{sync::Arc, time::Duration};

use futures::future::{BoxFuture, FutureExt};
use reqwest::{
    Client, Response, StatusCode, Url,
    header::{CONTENT_TYPE, LOCATION},
};
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::{
    address::Address,
    http::{Http, Outgoing, without},
};
use crate::{
    provider::{Outbound, Refused},
    tools::{Attachment, CallContext, CallError, CallErrorKind, CallOutput, Handler, Part},
};

/// Most redirects, on the same server.
const HOPS: usize = 3;
/// Bytes read of an error body.
const REFUSAL_BYTES: usize = 16 * 1024;
/// Characters of it shown to a model.
const REFUSAL_SHOWN: usize = 200;
/// Longest wait of a call without a timeout of its own; dispatch is stricter.
const PATIENCE: Duration = Duration::from_secs(600);

pub struct Live {
    pub http: Arc<Http>,
    pub client: Client,
}

impl Handler for Live {
    fn call<'a>(
        &'a self,
        _: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        async move {
            let limit = self.http.timeout.unwrap_or(PATIENCE);
            timeout(limit, self.exchange(arguments)).await.unwrap_or_else(|_| {
                let what = format!("{} did not answer in {} ms", self.server(), limit.as_millis());
                Err(CallError::new(CallErrorKind::Timeout, what))
            })
        }
        .boxed()
    }
}

impl Live {
    fn server(&self) -> String {
        format!("the server at '{}'", self.http.address.host)
    }

    async fn exchange(&self, arguments: &Map<String, Value>) -> Result<CallOutput, CallError> {
        let made = self.http.request(arguments);
        let outgoing = made
            .map_err(|error| CallError::new(CallErrorKind::InvalidArguments, error.to_string()))?;
        let response = self.send(outgoing).await?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.refusal(status, response).await);
        }
        let mime = response.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let mime = mime.and_then(|it| it.split(';').next()).unwrap_or_default().to_owned();
        let (bytes, whole) = self.read(response, self.http.max_bytes).await?;
        if !whole {
            let what = format!("the answer is larger than {} bytes", self.http.max_bytes);
            return Err(CallError::new(CallErrorKind::InvalidResult, what));
        }
        self.output(mime, bytes)
    }

    /// Sends the request; follows redirects of a GET on the same server.
    async fn send(&self, outgoing: Outgoing) -> Result<Response, CallError> {
        let method = self.http.verb.method();
        let Outgoing { mut url, headers, body } = outgoing;
        for _ in 0..=HOPS {
            let mut request = self.client.request(method.clone(), url.clone());
            request = request.headers(headers.clone());
            if let Some(body) = &body {
                request = request.body(body.clone());
            }
            let response = request.send().await.map_err(|error| self.no_answer(&error))?;
            match next(&url, &response) {
                Some(next) if body.is_none() && method == reqwest::Method::GET => url = next,
                _ => return Ok(response),
            }
        }
        let what = format!("{} redirects in a circle", self.server());
        Err(CallError::new(CallErrorKind::Protocol, what))
    }

    fn no_answer(&self, error: &reqwest::Error) -> CallError {
        let (kind, what) = if error.is_timeout() {
            (CallErrorKind::Timeout, "did not answer in time")
        } else if error.is_connect() {
            (CallErrorKind::Connection, "cannot be reached")
        } else {
            (CallErrorKind::Connection, "broke the connection")
        };
        CallError::new(kind, format!("{} {what}", self.server()))
    }

    /// At most `most` bytes of the body; `true`: complete.
    async fn read(
        &self,
        mut response: Response,
        most: usize,
    ) -> Result<(Vec<u8>, bool), CallError> {
        let mut bytes = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| self.no_answer(&error))? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > most {
                bytes.truncate(most);
                return Ok((bytes, false));
            }
        }
        Ok((bytes, true))
    }

    /// Error of a non-success status.
    async fn refusal(&self, status: StatusCode, response: Response) -> CallError {
        let kind = match status.as_u16() {
            408 => CallErrorKind::Timeout,
            429 => CallErrorKind::RateLimited,
            500.. => CallErrorKind::Connection,
            // Retrying with other arguments is pointless.
            300..=399 | 401 | 403 | 407 => CallErrorKind::Protocol,
            _ => CallErrorKind::Tool,
        };
        let said = match kind {
            CallErrorKind::Tool => self.excerpt(response).await,
            CallErrorKind::Protocol if status.is_redirection() => {
                ": it redirects elsewhere, which is not followed".to_owned()
            }
            CallErrorKind::Protocol => ": it does not let this program in".to_owned(),
            CallErrorKind::RateLimited => ": it wants to be asked less often".to_owned(),
            _ => String::new(),
        };
        CallError::new(kind, format!("{} answered {}{said}", self.server(), status.as_u16()))
    }

    /// Beginning of an error body, redacted.
    async fn excerpt(&self, response: Response) -> String {
        let Ok((bytes, _)) = self.read(response, REFUSAL_BYTES).await else { return String::new() };
        let text = match serde_json::from_slice::<Value>(&bytes) {
            Ok(mut value) => {
                without(&self.http.redact, &mut value);
                value.to_string()
            }
            // Without JSON, redaction can only hide everything.
            Err(_) if !self.http.redact.is_empty() => String::new(),
            Err(_) => String::from_utf8_lossy(&bytes).into_owned(),
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let text: String = words.join(" ").chars().take(REFUSAL_SHOWN).collect();
        if text.is_empty() { text } else { format!(": {text}") }
    }

    /// The answer as a result: JSON is mapped and redacted, media kept, anything else becomes text.
    fn output(&self, mime: String, bytes: Vec<u8>) -> Result<CallOutput, CallError> {
        if mime.starts_with("image/") || mime.starts_with("audio/") {
            let attachment =
                Attachment { mime, bytes: Arc::from(bytes), caption: None, asked_by: None };
            return Ok(CallOutput {
                parts: vec![Part::Media(attachment)],
                ..CallOutput::default()
            });
        }
        let Ok(mut value) = serde_json::from_slice::<Value>(&bytes) else {
            return Ok(CallOutput::text(String::from_utf8_lossy(&bytes)));
        };
        without(&self.http.redact, &mut value);
        if let Some(mapping) = &self.http.answer {
            let mapped = mapping.apply(&value);
            value = mapped.map_err(|what| {
                let what = format!("the answer does not fit the tool's response mapping: {what}");
                CallError::new(CallErrorKind::InvalidResult, what)
            })?;
        }
        Ok(if value.is_null() { CallOutput::default() } else { CallOutput::json(value) })
    }
}

/// Target of a redirect on the same server.
fn next(url: &Url, response: &Response) -> Option<Url> {
    let status = response.status();
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let to = url.join(response.headers().get(LOCATION)?.to_str().ok()?).ok()?;
    (to.origin() == url.origin()).then_some(to)
}

/// One pooled client per server.
#[derive(Default)]
pub struct Clients(Vec<(Url, Client)>);

#[derive(Debug, thiserror::Error)]
pub enum NoClient {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("no certificates to check its server with (install the package ca-certificates)")]
    NoCertificates,
}

impl Clients {
    /// The client for `address`. Manifests lie beside the configuration, so private addresses are
    /// allowed.
    pub fn of(&mut self, address: &Address) -> Result<Client, NoClient> {
        let server = address.server();
        if let Some((_, client)) = self.0.iter().find(|(it, _)| it.origin() == server.origin()) {
            return Ok(client.clone());
        }
        let client = Outbound::public()
            .and(server)
            .client(server)?
            .retry(reqwest::retry::never())
            .user_agent(concat!("glyphoxa/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|_| NoClient::NoCertificates)?;
        self.0.push((server.clone(), client.clone()));
        Ok(client)
    }
}
