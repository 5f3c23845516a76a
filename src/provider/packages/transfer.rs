//! Requests for packages: redirects, ranges, and checks of answers.
//!
//! Entry type: [`Transfer`].

use std::{error::Error, time::Duration};

use reqwest::{
    Response, StatusCode, Url,
    header::{ACCEPT, ACCEPT_ENCODING, CONTENT_RANGE, HeaderMap, HeaderName, LOCATION, RANGE},
};

use tokio::time::Instant;

use super::{Difference, GetError, sources::PackageSources};
use crate::{
    domain::redact,
    provider::outbound::Outbound,
    weights::{Download, Package},
};

/// Longest wait for an answer, and for each further piece.
const STALL: Duration = Duration::from_secs(10);
/// Fewest bytes per [`WINDOW`]; slower servers are given up.
const LEAST: u64 = 256 << 10;
const WINDOW: Duration = Duration::from_secs(60);
const REDIRECTS: usize = 5;
/// Longest list of a registry, in bytes; the largest projects have some 20 MB of file names.
const MOST_LISTED: usize = 32 * 1024 * 1024;

pub struct Transfer<'a> {
    pub sources: &'a PackageSources,
    pub outbound: Outbound,
}

pub enum Poured {
    Whole,
    /// The connection broke; the reason.
    Cut(String),
    /// The server is too slow; the reason.
    Slow(String),
    /// The server sent another range; partial data was discarded.
    Restarted,
}

impl Transfer<'_> {
    /// The text at `url`, and its address after redirects.
    pub async fn text(&self, url: &Url, accept: &str) -> Result<(String, Url), GetError> {
        let (mut answer, url) = self.ask(url, &ACCEPT, accept).await?;
        status(&answer, &url)?;
        let (mut text, mut pace) = (Vec::new(), Pace::begins());
        while let Some(piece) = answer.chunk().await.map_err(unreachable(&url))? {
            if pace.is_too_slow(piece.len()) {
                let why = too_slow();
                return Err(GetError::Unreachable { address: shown(&url), why });
            }
            if text.len() + piece.len() > MOST_LISTED {
                return Err(GetError::List { address: shown(&url), why: "the list is too long" });
            }
            text.extend_from_slice(&piece);
        }
        Ok((String::from_utf8_lossy(&text).into_owned(), url))
    }

    /// Downloads the missing part of `package`, as far as possible.
    pub async fn pour(
        &self,
        url: &Url,
        package: &Package,
        download: &mut Download,
        told: &mut (dyn FnMut(u64) + Send),
    ) -> Result<Poured, GetError> {
        let from = download.have();
        let range = format!("bytes={from}-");
        let (name, value) = if from > 0 { (&RANGE, &*range) } else { (&ACCEPT, "*/*") };
        let (mut answer, url) = self.ask(url, name, value).await?;
        match answer.status() {
            // A server without ranges starts from the beginning.
            StatusCode::OK if from > 0 => download.restart()?,
            StatusCode::PARTIAL_CONTENT if goes_on(&answer, from, package.bytes) => {}
            StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE if from > 0 => {
                download.restart()?;
                return Ok(Poured::Restarted);
            }
            _ => status(&answer, &url)?,
        }
        let whole = answer.content_length().map(|rest| rest.saturating_add(download.have()));
        if let Some(whole) = whole.filter(|whole| *whole != package.bytes) {
            return Err(other(package, Difference::Length(whole, package.bytes)));
        }
        let mut pace = Pace::begins();
        loop {
            match answer.chunk().await {
                Ok(Some(piece)) if piece.len() as u64 > download.missing() => {
                    download.restart()?;
                    return Err(other(package, Difference::Longer(package.bytes)));
                }
                Ok(Some(piece)) => {
                    download.add(&piece)?;
                    told(download.have());
                    if download.missing() > 0 && pace.is_too_slow(piece.len()) {
                        return Ok(Poured::Slow(too_slow()));
                    }
                }
                Ok(None) if download.missing() == 0 => return Ok(Poured::Whole),
                Ok(None) => return Ok(Poured::Cut("the server sends no more".to_owned())),
                Err(error) => return Ok(Poured::Cut(innermost(&error))),
            }
        }
    }

    /// Sends a request and follows redirects, each checked like the first.
    async fn ask(
        &self,
        url: &Url,
        name: &HeaderName,
        value: &str,
    ) -> Result<(Response, Url), GetError> {
        let mut url = url.clone();
        for _ in 0..=REDIRECTS {
            let answer = self.send(&url, name, value).await?;
            if !answer.status().is_redirection() {
                return Ok((answer, url));
            }
            let next = answer.headers().get(LOCATION).and_then(|it| it.to_str().ok());
            let next = next.and_then(|next| url.join(next).ok());
            url = next.ok_or_else(|| GetError::Redirects(shown(&url)))?;
        }
        Err(GetError::Redirects(shown(&url)))
    }

    async fn send(&self, url: &Url, name: &HeaderName, value: &str) -> Result<Response, GetError> {
        let client = self.outbound.client(url);
        let client = client.map_err(|why| GetError::Refused { address: shown(url), why })?;
        let client = client.read_timeout(STALL).build().map_err(unreachable(url))?;
        let mut request = client.get(url.clone()).header(ACCEPT_ENCODING, "identity");
        request = request.header(name, value);
        if let Some((user, password)) = self.sources.login(url) {
            request = request.basic_auth(user, Some(&password.0));
        }
        request.send().await.map_err(unreachable(url))
    }
}

struct Pace {
    since: Instant,
    came: u64,
}

impl Pace {
    fn begins() -> Self {
        Self { since: Instant::now(), came: 0 }
    }

    /// Adds `more` bytes; true if the last [`WINDOW`] was too slow.
    fn is_too_slow(&mut self, more: usize) -> bool {
        self.came += more as u64;
        if self.since.elapsed() < WINDOW {
            return false;
        }
        let before = std::mem::replace(self, Self::begins());
        before.came < LEAST
    }
}

fn too_slow() -> String {
    let (least, seconds) = (LEAST >> 10, WINDOW.as_secs());
    format!("the server sends less than {least} KiB in {seconds} s")
}

/// True if `answer` continues `bytes` after the first `from`.
fn goes_on(answer: &Response, from: u64, bytes: u64) -> bool {
    answer.status() == StatusCode::PARTIAL_CONTENT
        && range(answer.headers()).is_some_and(|(first, last, all)| {
            first == from
                && last.checked_add(1) == Some(bytes)
                && all.is_none_or(|all| all == bytes)
        })
}

/// First, last and total of `bytes 5-9/10` or `bytes 5-9/*`.
fn range(headers: &HeaderMap) -> Option<(u64, u64, Option<u64>)> {
    let text = headers.get(CONTENT_RANGE)?.to_str().ok()?;
    let (ends, all) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = ends.split_once('-')?;
    let all = if all == "*" { None } else { Some(all.parse().ok()?) };
    Some((first.parse().ok()?, last.parse().ok()?, all))
}

fn status(answer: &Response, url: &Url) -> Result<(), GetError> {
    if answer.status().is_success() {
        return Ok(());
    }
    Err(GetError::Status { address: shown(url), status: answer.status().as_u16() })
}

pub fn other(package: &Package, why: Difference) -> GetError {
    GetError::Other { file: package.file.clone(), why }
}

/// An address without secrets.
pub fn shown(url: &Url) -> String {
    redact::address(url.as_str())
}

fn unreachable(url: &Url) -> impl FnOnce(reqwest::Error) -> GetError {
    move |error| GetError::Unreachable { address: shown(url), why: innermost(&error) }
}

/// Message of the innermost source of an error.
fn innermost(error: &dyn Error) -> String {
    let mut error = error;
    while let Some(inner) = error.source() {
        error = inner;
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    /// Seconds until a server sending `bytes` per second is given up.
    async fn given_up_after(bytes: usize) -> Option<usize> {
        let mut pace = Pace::begins();
        for piece in 1..=600 {
            advance(Duration::from_secs(1)).await;
            if pace.is_too_slow(bytes) {
                return Some(piece);
            }
        }
        None
    }

    #[tokio::test(start_paused = true)]
    async fn server_that_trickles_is_given_up() {
        assert_eq!(given_up_after(1).await, Some(60));
        assert_eq!(given_up_after(4 << 10).await, Some(60));
        assert_eq!(given_up_after(5 << 10).await, None);
    }
}
