//! Requests a page, follows its redirects and decodes it.
//!
//! Entry types: [`Pages`], [`Page`], [`PageError`]. Every hop is checked before it is sent, and
//! again on the resolved address. **Never**: sends a request twice.

use std::{error::Error as _, sync::Arc, time::Duration};

use reqwest::{
    Response, Url,
    header::{ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONTENT_TYPE, HeaderMap, LOCATION},
};
use tokio::{task::spawn_blocking, time::timeout};

use super::{
    allowed::AllowedHost,
    article::{Article, article},
    charset::text_of,
};
use crate::{
    domain::visible,
    provider::{
        bounds::{Body, PAGE},
        decoded::{ACCEPTED, Undecoded, decoded},
        http_client::{USER_AGENT, accept_language},
        outbound::{LeadsInside, Outbound, Refused},
    },
};

/// Longest wait for a page, redirects included.
const WHOLE: Duration = Duration::from_secs(8);
const REDIRECTS: usize = 5;
/// Characters.
const TEXT_MAX: usize = 12_000;
/// Bytes; small enough that tools can return it with the longest address and title.
const TEXT_BYTES: usize = 13_000;
/// Bytes of an address that is read or found.
pub const URL_MAX: usize = 2_000;

pub type IsFound<'a> = dyn Fn(&Url) -> bool + Send + Sync + 'a;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// On one line; may be empty.
    pub title: String,
    /// Address after all redirects.
    pub url: Url,
    /// At most 12,000 characters, one paragraph per line.
    pub text: String,
    pub is_cut: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    #[error(transparent)]
    Refused(#[from] Refused),
    /// Its name resolves to a private address.
    #[error("{0}")]
    Inside(String),
    #[error("'{0}' did not answer in 8 s (try another result)")]
    Late(String),
    /// No connection, or it broke.
    #[error("'{0}' cannot be reached (try another result)")]
    Unreachable(String),
    #[error("'{0}' answered with status {1} (try another result)")]
    Status(String, u16),
    /// It redirects to an address that no search returned, on a host that is not allowed.
    #[error(
        "the page leads to '{0}', which no search returned (search first; the operator can add the \
         host to search.allow)"
    )]
    Elsewhere(String),
    #[error("an address of '{0}' is longer than 2,000 bytes (try another result)")]
    Long(String),
    #[error("'{0}' redirects too often, or to no address (try another result)")]
    Redirects(String),
    #[error("the page is '{0}', not text (only HTML, plain text and JSON are read)")]
    NotText(String),
    #[error("the page exceeds the limit of {} (try another result)", PAGE)]
    Large,
    #[error("the page is not compressed as it says (try another result)")]
    Damaged,
    /// Only mark-up and scripts.
    #[error("the page has no readable text (it may need a browser; try another result)")]
    Empty,
}

#[derive(Clone)]
pub struct Pages {
    outbound: Outbound,
    allowed: Arc<[AllowedHost]>,
    /// Value of the header Accept-Language.
    languages: Arc<str>,
}

impl Pages {
    /// `language`: two-letter code of the preferred language.
    pub fn new(allowed: Arc<[AllowedHost]>, language: &str) -> Self {
        let languages = accept_language(language).into();
        Self { outbound: Outbound::public(), allowed, languages }
    }

    #[must_use]
    pub fn through(self, outbound: Outbound) -> Self {
        Self { outbound, ..self }
    }

    pub fn allows(&self, url: &Url) -> bool {
        self.allowed.iter().any(|host| host.covers(url))
    }

    /// Reads the page at `url`. Ends within 8 s; holds at most 2 MB. Cancel safe.
    ///
    /// An address that `found` knows may redirect to any public host. Others redirect only to
    /// allowed or found addresses, so that an allowed host cannot leak text elsewhere.
    pub async fn read(&self, url: &Url, found: &IsFound<'_>) -> Result<Page, PageError> {
        let late = || PageError::Late(host(url));
        timeout(WHOLE, self.fetch(url, found)).await.unwrap_or_else(|_| Err(late()))
    }

    async fn fetch(&self, url: &Url, found: &IsFound<'_>) -> Result<Page, PageError> {
        let (url, response) = self.follow(url, found).await?;
        if !response.status().is_success() {
            return Err(PageError::Status(host(&url), response.status().as_u16()));
        }
        let headers = response.headers().clone();
        let form = Form::of(&headers)?;
        let body = body(response, &host(&url)).await?;
        let body = decoded(&headers, body, PAGE).await.map_err(|error| match error {
            Undecoded::Over => PageError::Large,
            Undecoded::Unknown | Undecoded::Broken => PageError::Damaged,
        })?;
        // Parsing two megabytes would block the runtime.
        let read = spawn_blocking(move || form.read(&body)).await;
        let Article { title, text } = read.unwrap_or_default();
        if text.trim().is_empty() {
            return Err(PageError::Empty);
        }
        let (text, is_cut) = cut(text);
        Ok(Page { title, url, text, is_cut })
    }

    /// The answer after redirects, and its address.
    async fn follow(&self, url: &Url, found: &IsFound<'_>) -> Result<(Url, Response), PageError> {
        let (mut url, mut outbound) = (url.clone(), self.outbound.clone());
        let mut is_found = false;
        for hop in 0..=REDIRECTS {
            url.set_fragment(None);
            if url.as_str().len() > URL_MAX {
                return Err(PageError::Long(host(&url)));
            }
            if self.is_own(&url, hop == 0) {
                outbound = outbound.and(&url);
            }
            outbound.check(&url)?;
            is_found |= found(&url);
            if !is_found && !self.allows(&url) {
                return Err(PageError::Elsewhere(host(&url)));
            }
            let response = self.get(&outbound, &url).await?;
            if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return Ok((url, response));
            }
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            let to = to.and_then(|to| url.join(to).ok());
            url = to.ok_or_else(|| PageError::Redirects(host(&url)))?;
        }
        Err(PageError::Redirects(host(&url)))
    }

    /// True if `url` is reachable because the operator lists its host: on a private network for the
    /// first request only, elsewhere through a proxy, which hides the resolved address.
    fn is_own(&self, url: &Url, is_first: bool) -> bool {
        let is_own = |host: &AllowedHost| match host.is_private() {
            true => is_first,
            false => self.outbound.is_proxied(url),
        };
        self.allowed.iter().any(|host| host.covers(url) && is_own(host))
    }

    async fn get(&self, outbound: &Outbound, url: &Url) -> Result<Response, PageError> {
        let client = outbound
            .client(url)?
            .retry(reqwest::retry::never())
            .user_agent(USER_AGENT)
            .build()
            .map_err(|_| PageError::Unreachable(host(url)))?;
        let request = client
            .get(url.clone())
            .header(
                ACCEPT,
                "text/html, application/xhtml+xml, text/plain, text/markdown;q=0.9, */*;q=0.1",
            )
            .header(ACCEPT_ENCODING, ACCEPTED)
            .header(ACCEPT_LANGUAGE, &*self.languages);
        request
            .send()
            .await
            .map_err(|error| inside(&error).unwrap_or_else(|| PageError::Unreachable(host(url))))
    }
}

fn inside(error: &reqwest::Error) -> Option<PageError> {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(found) = inner.downcast_ref::<LeadsInside>() {
            return Some(PageError::Inside(found.to_string()));
        }
        cause = inner.source();
    }
    None
}

/// The body, still compressed.
async fn body(mut response: Response, host: &str) -> Result<Vec<u8>, PageError> {
    let mut body = Body::within(PAGE);
    let broken = |_| PageError::Unreachable(host.to_owned());
    while let Some(piece) = response.chunk().await.map_err(broken)? {
        body.push(&piece).map_err(|_| PageError::Large)?;
    }
    Ok(body.bytes)
}

/// Type and encoding of a body, from its headers.
struct Form {
    is_markup: bool,
    charset: Option<String>,
}

impl Form {
    fn of(headers: &HeaderMap) -> Result<Self, PageError> {
        let named =
            headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or("text/html");
        let mut parts = named.split(';');
        let mime = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_markup = match mime.as_str() {
            "text/html" | "application/xhtml+xml" => true,
            "text/plain" | "text/markdown" | "text/x-markdown" | "application/json" => false,
            _ => return Err(PageError::NotText(mime.chars().take(60).collect())),
        };
        let charset = parts.find_map(|part| {
            let (key, value) = part.split_once('=')?;
            let is_it = key.trim().eq_ignore_ascii_case("charset");
            is_it.then(|| value.trim().trim_matches(['"', '\'']).to_owned())
        });
        Ok(Self { is_markup, charset })
    }

    fn read(&self, body: &[u8]) -> Article {
        let text = text_of(body, self.charset.as_deref(), self.is_markup);
        match self.is_markup {
            true => article(&text),
            false => Article { title: String::new(), text: visible(&text) },
        }
    }
}

fn cut(mut text: String) -> (String, bool) {
    let end = text.char_indices().nth(TEXT_MAX).map_or(text.len(), |(at, _)| at);
    let end = text.floor_char_boundary(end.min(TEXT_BYTES));
    let is_cut = end < text.len();
    text.truncate(end);
    (text, is_cut)
}

/// Host of an address, for messages.
fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}
