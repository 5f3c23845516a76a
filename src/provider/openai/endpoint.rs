//! One service: its address, its key, its connections; sends requests and reads statuses.
//!
//! Entry types: [`Endpoint`], [`probe`]. `async-openai` makes each request; the middleware hook it
//! offers hands the request over, and it is sent here.
//! **Never**: reading answers that are a success; that is chat's, speech's and transcription's.

use std::{
    future::{Ready, ready},
    sync::{Arc, OnceLock},
    task::{Context, Poll},
    time::Duration,
};

use async_openai::{
    Client, config::Config, error::OpenAIError, middleware::HttpRequestFactory,
    traits::AsyncTryFrom,
};
use reqwest::{
    Response, Url,
    header::{AUTHORIZATION, HeaderMap, HeaderValue},
    multipart::Form,
};
use secrecy::SecretString;
use serde_json::Value;

use super::{
    Options,
    failure::{Failure, Peer},
};
use crate::provider::{Error, Kind, with_proxy_and_tls};

/// Longest wait for a look at a service.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest error body that is read, in bytes.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// A service and the connections to it.
pub struct Endpoint {
    pub options: Options,
    pub peer: Peer,
    http: reqwest::Client,
    door: Arc<dyn Config>,
}

impl Endpoint {
    /// # Errors
    /// An address or key that cannot be used, or no certificates for a TLS address.
    pub fn new(options: Options) -> Result<Self, Error> {
        let peer = Peer::new(&options);
        let url = Url::parse(&options.base_url).ok();
        let Some(url) = url.filter(|url| matches!(url.scheme(), "http" | "https")) else {
            let way_out = "base_url is an address such as http://127.0.0.1:11434/v1";
            return Err(peer.error(Kind::InvalidRequest, "no usable address", way_out));
        };
        let http = connections(&url, options.first_byte_timeout).map_err(|_| {
            let way_out = "install the package ca-certificates";
            peer.error(Kind::Missing, "no certificates to check the server with", way_out)
        })?;
        let mut headers = HeaderMap::new();
        if let Some(key) = options.api_key.as_ref().filter(|key| !key.0.is_empty()) {
            let value = HeaderValue::from_str(&format!("Bearer {}", key.0));
            let mut value = value.map_err(|_| {
                let what = "the key has characters that cannot be sent";
                peer.error(Kind::Unauthorized, what, "check api_key for line ends and quotes")
            })?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let base = options.base_url.trim_end_matches('/').to_owned();
        let door = Arc::new(Door { base, headers, key: SecretString::default() });
        Ok(Self { options, peer, http, door })
    }

    /// Sends a chat-completions request.
    pub async fn chat(&self, body: &Value) -> Result<Response, Failure> {
        let (client, caught) = self.client();
        let made = client.chat().create_stream_byot::<_, Value>(body).await;
        self.send(caught.take(made.err())?, body).await
    }

    /// Sends a speech request.
    pub async fn speech(&self, body: &Value) -> Result<Response, Failure> {
        let (client, caught) = self.client();
        let made = client.audio().speech().create_stream_byot::<_, Value>(body).await;
        self.send(caught.take(made.err())?, body).await
    }

    /// Sends a transcription request.
    pub async fn transcription<F>(&self, form: F) -> Result<Response, Failure>
    where
        F: Clone + Send + 'static,
        Form: AsyncTryFrom<F, Error = OpenAIError>,
    {
        let (client, caught) = self.client();
        let made = client.audio().transcription().create_stream_byot::<_, Value>(form).await;
        self.send(caught.take(made.err())?, &Value::Null).await
    }

    /// Sends an embeddings request.
    pub async fn embeddings(&self, body: &Value) -> Result<Response, Failure> {
        let (client, caught) = self.client();
        let made = client.embeddings().create_byot::<_, Value>(body).await;
        self.send(caught.take(made.err())?, body).await
    }

    /// Asks for the models the service has.
    pub async fn models(&self, patience: Duration) -> Result<Response, Failure> {
        let request = self.http.get(self.door.url("/models")).headers(self.door.headers());
        let request = request.build().map_err(|error| self.peer.no_answer(&error))?;
        self.execute(request, patience.min(self.options.first_byte_timeout), &Value::Null).await
    }

    fn client(&self) -> (Client<Arc<dyn Config>>, Caught) {
        let caught = Caught::default();
        let client = Client::build(self.http.clone(), self.door.clone());
        (client.with_http_service(caught.clone()), caught)
    }

    async fn send(&self, made: HttpRequestFactory, body: &Value) -> Result<Response, Failure> {
        let request = made.build().await.map_err(|error| not_made(&error))?;
        self.execute(request, self.options.first_byte_timeout, body).await
    }

    async fn execute(
        &self,
        request: reqwest::Request,
        patience: Duration,
        body: &Value,
    ) -> Result<Response, Failure> {
        let answer = tokio::time::timeout(patience, self.http.execute(request)).await;
        let mut response =
            answer.map_err(|_| self.peer.slow())?.map_err(|error| self.peer.no_answer(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let mut said = Vec::new();
        while let Ok(Ok(Some(piece))) =
            tokio::time::timeout(self.options.idle_timeout, response.chunk()).await
        {
            said.extend_from_slice(&piece);
            if said.len() > MAX_ERROR_BYTES {
                break;
            }
        }
        Err(self.peer.refusal(response.status(), response.headers(), &said, body))
    }
}

/// Connections for `url`.
fn connections(url: &Url, patience: Duration) -> Result<reqwest::Client, reqwest::Error> {
    let builder = reqwest::Client::builder().connect_timeout(patience);
    let host = url.host_str().unwrap_or_default();
    with_proxy_and_tls(builder, host, url.scheme() == "https").build()
}

/// Where requests go and with what headers; unlike the crate's own it reads no environment and
/// sends no empty key.
struct Door {
    base: String,
    headers: HeaderMap,
    key: SecretString,
}

impl Config for Door {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn api_base(&self) -> &str {
        &self.base
    }

    fn api_key(&self) -> &SecretString {
        &self.key
    }
}

/// Takes the request a `byot` call made instead of sending it: answers are read here, where status,
/// `Retry-After`, content type, `[DONE]` and the moment of each byte are still known.
#[derive(Clone, Default)]
struct Caught(Arc<OnceLock<HttpRequestFactory>>);

impl Caught {
    fn take(&self, error: Option<OpenAIError>) -> Result<HttpRequestFactory, Error> {
        self.0.get().cloned().ok_or_else(|| match error {
            Some(error) => not_made(&error),
            None => Error::new(Kind::Protocol, "no request was made (please report this)"),
        })
    }
}

impl tower_service::Service<HttpRequestFactory> for Caught {
    type Response = Response;
    type Error = OpenAIError;
    type Future = Ready<Result<Response, OpenAIError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OpenAIError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequestFactory) -> Self::Future {
        // Each client is made for one request, so the cell is empty.
        let _ = self.0.set(request);
        ready(Err(OpenAIError::InvalidArgument("sent by the caller".into())))
    }
}

fn not_made(error: &OpenAIError) -> Error {
    tracing::trace!(pii_error = %error, "request not made");
    Error::new(Kind::InvalidRequest, "the request could not be written (check extra_body)")
}

/// Looks whether a service answers and knows the model; one line for a report.
///
/// # Errors
/// Why it cannot be used, and the way out.
pub async fn probe(options: Options) -> Result<String, Error> {
    let endpoint = Endpoint::new(options)?;
    let response = match endpoint.models(PROBE_TIMEOUT).await {
        Ok(response) => response,
        // It answers; not every server lists its models.
        Err(failure) if failure.error.kind() == Kind::InvalidRequest => {
            return Ok("answers (it does not list its models)".into());
        }
        Err(failure) => return Err(failure.error),
    };
    let body = tokio::time::timeout(PROBE_TIMEOUT, response.bytes()).await;
    let body = body.map_err(|_| endpoint.peer.slow())?;
    let body = body.map_err(|_| endpoint.peer.interrupted())?;
    let listed: Value = serde_json::from_slice(&body).unwrap_or_default();
    let models = listed.get("data").and_then(Value::as_array);
    let names = models.into_iter().flatten().filter_map(|model| model.get("id")?.as_str());
    let names: Vec<&str> = names.collect();
    let model = &endpoint.options.model;
    // Ollama's "llama3:latest" answers to "llama3"; Gemini's "models/x" to "x".
    let is_model = |name: &&str| {
        name == model
            || name.strip_suffix(":latest") == Some(model)
            || name.strip_prefix("models/") == Some(model)
    };
    Ok(match names.len() {
        0 => "answers (it does not list its models)".into(),
        count if names.iter().any(is_model) => {
            format!("answers with {count} models, '{model}' among them")
        }
        count => {
            let some = names.iter().take(5).copied().collect::<Vec<_>>().join(", ");
            format!("answers with {count} models, but '{model}' is none of them (it has {some})")
        }
    })
}
