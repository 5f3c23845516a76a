//! Browser login whose redirect returns to a port of this machine. **Never**: listens beyond this
//! machine, shows the code it received.

use std::{io, time::Duration};

use futures::future::BoxFuture;
use reqwest::Url;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::consent::{Consent, ConsentError};

/// Longest request of a browser, in bytes.
const MAX_REQUEST: usize = 16 * 1024;
/// Longest wait for it.
const PATIENCE: Duration = Duration::from_secs(5);
/// Path of the redirect.
const PATH: &str = "/callback";

/// Last page the person sees.
const DONE: &str = "Glyphoxa has its answer. You can close this page and return to the terminal.";

pub struct Loopback {
    listener: TcpListener,
    redirect_uri: String,
    limit: Duration,
    show: Box<dyn Fn(&str) + Send + Sync>,
}

impl Loopback {
    /// Listens on a free port; `show` presents an address to the person, with `limit` for the
    /// login.
    pub async fn new(
        limit: Duration,
        show: impl Fn(&str) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let redirect_uri = format!("http://{}{PATH}", listener.local_addr()?);
        Ok(Self { listener, redirect_uri, limit, show: Box::new(show) })
    }

    /// Address of the first redirect with this `state`.
    async fn redirect(&self, state: Option<&str>) -> Result<String, ConsentError> {
        loop {
            let (stream, _) = self.listener.accept().await.map_err(ConsentError::Port)?;
            // Browsers open idle connections in advance.
            let answered = tokio::time::timeout(PATIENCE, self.answer(stream)).await;
            if let Ok(Ok(Some(url))) = answered
                && self::state(&url).as_deref() == state
            {
                return Ok(url);
            }
        }
    }

    /// Answers one request; returns the address if it was the redirect.
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
