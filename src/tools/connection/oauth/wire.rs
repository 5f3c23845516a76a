//! HTTP requests of OAuth, and the addresses they may reach: the server, configured addresses, and
//! the public internet. **Never**: follows a redirect.

use std::{
    error::Error,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use http::{Method, Request, Response, StatusCode};
use reqwest::Url;
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest,
};

use crate::provider::{Outbound, Refused};

/// Longest wait for one answer.
const PATIENCE: Duration = Duration::from_secs(15);
/// Longest answer in bytes.
const MOST_BYTES: usize = 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum WireError {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    #[error("its answer is larger than {} KiB", MOST_BYTES / 1024)]
    Long,
    #[error(transparent)]
    Answer(#[from] http::Error),
}

pub struct Wire {
    outbound: Outbound,
    noticed: Mutex<Noticed>,
}

/// Details of the last request that rmcp drops.
#[derive(Default)]
struct Noticed {
    /// Last address read successfully.
    read: Option<Url>,
    /// Last request's error.
    failure: Option<String>,
}

impl Wire {
    pub fn new(outbound: Outbound) -> Self {
        Self { outbound, noticed: Mutex::default() }
    }

    /// Checks that a person may be sent to `url`.
    pub fn check(&self, url: &Url) -> Result<(), Refused> {
        self.outbound.check(url)
    }

    /// Last address read successfully.
    pub fn last_read(&self) -> Option<Url> {
        self.noticed.lock().unwrap_or_else(PoisonError::into_inner).read.clone()
    }

    /// Takes the last request's error.
    pub fn take_failure(&self) -> Option<String> {
        self.noticed.lock().unwrap_or_else(PoisonError::into_inner).failure.take()
    }

    /// Sends a request once. Cancel safe.
    pub async fn send(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, WireError> {
        let is_get = request.method() == Method::GET;
        let request = reqwest::Request::try_from(request)?;
        let url = request.url().clone();
        let answer = self.exchange(request, &url).await;
        let mut noticed = self.noticed.lock().unwrap_or_else(PoisonError::into_inner);
        noticed.failure = answer.as_ref().err().map(|error| innermost(error));
        if is_get && answer.as_ref().is_ok_and(|answer| answer.status() == StatusCode::OK) {
            noticed.read = Some(url);
        }
        answer
    }

    async fn exchange(
        &self,
        request: reqwest::Request,
        url: &Url,
    ) -> Result<Response<Vec<u8>>, WireError> {
        let client = self.outbound.client(url)?.timeout(PATIENCE);
        let client = client.retry(reqwest::retry::never()).build()?;
        let mut answer = client.execute(request).await.map_err(reqwest::Error::without_url)?;
        let mut made = Response::builder().status(answer.status()).version(answer.version());
        for (name, value) in answer.headers() {
            made = made.header(name, value);
        }
        let mut body = Vec::new();
        while let Some(piece) = answer.chunk().await? {
            if body.len() + piece.len() > MOST_BYTES {
                return Err(WireError::Long);
            }
            body.extend_from_slice(&piece);
        }
        Ok(made.body(body)?)
    }
}

impl OAuthHttpClient for Wire {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let sent = self.send(request.request).await;
            sent.map_err(|error| Box::new(error) as OAuthHttpClientError)
        })
    }
}

fn innermost(error: &dyn Error) -> String {
    let mut error = error;
    while let Some(inner) = error.source() {
        error = inner;
    }
    error.to_string()
}
