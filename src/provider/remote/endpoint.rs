//! One service: its address, key and connections; sends requests and reads statuses.
//!
//! Entry types: [`Endpoint`], with the [`Manner`] of a service; [`probe`].

use std::time::Duration;

use reqwest::{
    RequestBuilder, Response, Url,
    header::{CONTENT_TYPE, HeaderMap, HeaderValue},
    multipart::Form,
    redirect::Policy,
};
use serde_json::Value;

use super::{
    failure::{Failure, Peer},
    options::Options,
};
use crate::provider::{
    Error, Kind,
    bounds::{ANSWER, Body, Bound, VALUES},
    with_proxy_and_tls,
};

const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest part of an error body that is read.
const MAX_ERROR_BYTES: usize = 64 << 10;
const REDIRECTS: usize = 5;

#[derive(Clone, Copy, Debug)]
pub struct Manner {
    pub key: &'static str,
    pub before_key: &'static str,
    pub headers: &'static [(&'static str, &'static str)],
    pub models: &'static str,
}

/// Header of OpenAI and compatible servers.
const BEARER: Manner =
    Manner { key: "authorization", before_key: "Bearer ", headers: &[], models: "/models" };

pub struct Endpoint {
    pub options: Options,
    pub peer: Peer,
    http: reqwest::Client,
    /// The key, if any, and the service's other headers.
    headers: HeaderMap,
    models: &'static str,
}

impl Endpoint {
    pub fn new(options: Options) -> Result<Self, Error> {
        Self::in_manner(options, BEARER)
    }

    pub fn in_manner(options: Options, manner: Manner) -> Result<Self, Error> {
        let peer = Peer::new(&options);
        let url = Url::parse(&options.base_url).ok();
        let Some(url) = url.filter(|url| matches!(url.scheme(), "http" | "https")) else {
            let way_out = "set base_url to an address such as http://127.0.0.1:11434/v1";
            return Err(peer.error(Kind::InvalidRequest, "no usable address", way_out));
        };
        let http = connections(&url, options.first_byte_timeout).map_err(|_| {
            let way_out = "install the package ca-certificates";
            peer.error(Kind::Missing, "no certificates to check the server with", way_out)
        })?;
        let mut headers = HeaderMap::new();
        if let Some(key) = options.api_key.as_ref().filter(|key| !key.0.is_empty()) {
            let value = HeaderValue::from_str(&format!("{}{}", manner.before_key, key.0));
            let mut value = value.map_err(|_| {
                let what = "the key has characters that cannot be sent";
                peer.error(Kind::Unauthorized, what, "check api_key for line ends and quotes")
            })?;
            value.set_sensitive(true);
            headers.insert(manner.key, value);
        }
        for (name, value) in manner.headers {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        Ok(Self { options, peer, http, headers, models: manner.models })
    }

    pub async fn post(&self, path: &str, body: &Value) -> Result<Response, Failure> {
        let request = self.http.post(self.url(path)).header(CONTENT_TYPE, "application/json");
        let request = request.body(body.to_string());
        self.send(request, self.options.first_byte_timeout, body).await
    }

    pub async fn upload(&self, path: &str, form: Form) -> Result<Response, Failure> {
        let request = self.http.post(self.url(path)).multipart(form);
        self.send(request, self.options.first_byte_timeout, &Value::Null).await
    }

    pub async fn models(&self, patience: Duration) -> Result<Response, Failure> {
        self.get(self.models, patience).await
    }

    pub async fn get(&self, path: &str, patience: Duration) -> Result<Response, Failure> {
        let request = self.http.get(self.url(path));
        self.send(request, patience.min(self.options.first_byte_timeout), &Value::Null).await
    }

    /// Reads a body of at most [`ANSWER`].
    pub async fn read(&self, response: Response) -> Result<Vec<u8>, Error> {
        self.read_within(response, ANSWER).await
    }

    /// Like [`Self::read`], for JSON of at most [`VALUES`]; `Null`: it is none.
    pub async fn json(&self, response: Response) -> Result<Value, Error> {
        let body = self.read(response).await?;
        VALUES.check_values(&body).map_err(|bound| self.peer.over(bound))?;
        Ok(serde_json::from_slice(&body).unwrap_or_default())
    }

    /// Reads a body of at most `bound`; fails if it is longer, stalls or breaks off.
    pub async fn read_within(
        &self,
        mut response: Response,
        bound: Bound,
    ) -> Result<Vec<u8>, Error> {
        let mut body = Body::within(bound);
        loop {
            let piece = tokio::time::timeout(self.options.idle_timeout, response.chunk()).await;
            let piece = piece.map_err(|_| self.peer.slow())?;
            let Some(piece) = piece.map_err(|_| self.peer.interrupted())? else { break };
            body.push(&piece).map_err(|bound| self.peer.over(bound))?;
        }
        Ok(body.bytes)
    }

    /// Downloads the file behind a link of an answer. Fails unless the link has the origin of the
    /// service, because the key goes with the request.
    pub async fn fetch(&self, link: &str, bound: Bound) -> Result<Vec<u8>, Error> {
        let origin = |text: &str| Url::parse(text).ok().map(|url| url.origin());
        let own = origin(&self.options.base_url);
        if own.is_none() || origin(link) != own {
            let what = "the answer links to another address, which is not fetched";
            let way_out = "let the server answer with b64_json, or with links to base_url";
            return Err(self.peer.error(Kind::Protocol, what, way_out));
        }
        let request = self.http.get(link);
        let sent = self.send(request, self.options.first_byte_timeout, &Value::Null).await;
        self.read_within(sent.map_err(|failure| failure.error)?, bound).await
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.options.base_url.trim_end_matches('/'))
    }

    /// Sends `request` with the key. `body` is its content, so that errors can hide echoes of it.
    async fn send(
        &self,
        request: RequestBuilder,
        patience: Duration,
        body: &Value,
    ) -> Result<Response, Failure> {
        let request = request.headers(self.headers.clone());
        let answer = tokio::time::timeout(patience, request.send()).await;
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

fn connections(url: &Url, patience: Duration) -> Result<reqwest::Client, reqwest::Error> {
    // Conversations stay on this origin: reqwest would drop the key on a redirect, but not the
    // text.
    let same_origin = Policy::custom(|attempt| {
        let first = attempt.previous().first().map(Url::origin);
        match first == Some(attempt.url().origin()) && attempt.previous().len() < REDIRECTS {
            true => attempt.follow(),
            false => attempt.stop(),
        }
    });
    let builder = reqwest::Client::builder().connect_timeout(patience).redirect(same_origin);
    let host = url.host_str().unwrap_or_default();
    with_proxy_and_tls(builder, host, url.scheme() == "https").build()
}

pub async fn probe(endpoint: &Endpoint) -> Result<String, Error> {
    let response = match endpoint.models(PROBE_TIMEOUT).await {
        Ok(response) => response,
        // Not every server lists its models.
        Err(failure) if failure.error.kind() == Kind::InvalidRequest => {
            return Ok("answers (it does not list its models)".into());
        }
        Err(failure) => return Err(failure.error),
    };
    let listed = tokio::time::timeout(PROBE_TIMEOUT, endpoint.json(response)).await;
    let listed = listed.map_err(|_| endpoint.peer.slow())??;
    // OpenAI's list, and Gemini's.
    let models = listed.get("data").or_else(|| listed.get("models")).and_then(Value::as_array);
    let names = models
        .into_iter()
        .flatten()
        .filter_map(|model| model.get("id").or_else(|| model.get("name"))?.as_str());
    let names: Vec<&str> = names.collect();
    let model = &endpoint.options.model;
    // Ollama's "llama3:latest" answers to "llama3"; Gemini's "models/x" to "x"; "x-20260120" to "x".
    let is_date = |rest: &str| {
        rest.strip_prefix('-')
            .is_some_and(|date| date.len() == 8 && date.bytes().all(|digit| digit.is_ascii_digit()))
    };
    let is_model = |name: &&str| {
        name == model
            || name.strip_suffix(":latest") == Some(model)
            || name.strip_prefix("models/") == Some(model)
            || name.strip_prefix(model.as_str()).is_some_and(is_date)
    };
    Ok(match names.len() {
        0 => "answers (it does not list its models)".into(),
        count if names.iter().any(is_model) => {
            format!("answers with {count} models, '{model}' among them")
        }
        count => {
            let some = names.iter().take(5).copied().collect::<Vec<_>>().join(", ");
            format!("answers with {count} models, but '{model}' is not among them (it has {some})")
        }
    })
}
