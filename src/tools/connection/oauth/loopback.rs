//! A person logs in with a browser; the redirect comes back to a port of this machine.
//!
//! Entry type: [`Loopback`]. **Never**: listens beyond this machine, answers more than the
//! redirect, shows the code it was given.

use std::{io, time::Duration};

use futures::future::BoxFuture;
use reqwest::Url;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::consent::{Consent, ConsentError};

/// Longest request read of a browser, in bytes.
const MAX_REQUEST: usize = 16 * 1024;
/// Longest wait for a browser to send it.
const PATIENCE: Duration = Duration::from_secs(5);
/// Path of the redirect.
const PATH: &str = "/callback";

/// Text of the last page that the person sees.
const DONE: &str = "Glyphoxa has its answer. You can close this page and return to the terminal.";

/// Waits for a browser to come back.
pub struct Loopback {
    listener: TcpListener,
    redirect_uri: String,
    limit: Duration,
    show: Box<dyn Fn(&str) + Send + Sync>,
}

impl Loopback {
    /// Listens on a free port of this machine; `show` brings an address before the person, who has
    /// `limit` for the login.
    ///
    /// # Errors
    /// No port is free.
    pub async fn new(
        limit: Duration,
        show: impl Fn(&str) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let redirect_uri = format!("http://{}{PATH}", listener.local_addr()?);
        Ok(Self { listener, redirect_uri, limit, show: Box::new(show) })
    }

    /// The address of the redirect, from the first browser that brings one with this `state`.
    async fn redirect(&self, state: Option<&str>) -> Result<String, ConsentError> {
        loop {
            let (stream, _) = self.listener.accept().await.map_err(ConsentError::Port)?;
            // A browser that opens a connection ahead and says nothing must not keep us.
            let answered = tokio::time::timeout(PATIENCE, self.answer(stream)).await;
            if let Ok(Ok(Some(url))) = answered
                && self::state(&url).as_deref() == state
            {
                return Ok(url);
            }
        }
    }

    /// Answers one request; the redirect's address if it was that.
    async fn answer(&self, mut stream: TcpStream) -> io::Result<Option<String>> {
        let mut request = Vec::new();
        while !request.windows(4).any(|end| end == b"\r\n\r\n") {
            if request.len() > MAX_REQUEST || stream.read_buf(&mut request).await? == 0 {
                return Ok(None);
            }
        }
        let request = String::from_utf8_lossy(&request);
        let target = request.strip_prefix("GET ").and_then(|rest| rest.split(' ').next());
        let query = target.and_then(|target| target.strip_prefix(PATH)?.strip_prefix('?'));
        let (status, text) = match query {
            Some(_) => ("200 OK", DONE),
            None => ("404 Not Found", "Nothing is here."),
        };
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
             Cache-Control: no-store\r\nConnection: close\r\n\r\n{text}",
            text.len()
        );
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        Ok(query.map(|query| format!("{}?{query}", self.redirect_uri)))
    }
}

/// The `state` that ties a redirect to its request.
fn state(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    url.query_pairs().find(|(key, _)| key == "state").map(|(_, value)| value.into_owned())
}

impl Consent for Loopback {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn ask<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, ConsentError>> {
        Box::pin(async move {
            (self.show)(url);
            let state = state(url);
            let waited = tokio::time::timeout(self.limit, self.redirect(state.as_deref())).await;
            waited.unwrap_or_else(|_| Err(ConsentError::Nobody(self.limit.as_secs())))
        })
    }
}
