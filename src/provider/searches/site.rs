//! One search service: its address, connections and errors.
//!
//! Entry types: [`Site`], [`Answer`]. **Never**: a key or a query in an error.

use reqwest::{
    Client, RequestBuilder, Response, Url,
    header::{ACCEPT_ENCODING, HeaderMap, HeaderValue},
    redirect::Policy,
};
use serde_json::Value;
use tokio::task::spawn_blocking;

use super::options::SearchOptions;
use crate::provider::{
    Error, Kind,
    bounds::{ANSWER, Body, Bound, VALUES},
    decoded::{ACCEPTED, Undecoded, decoded},
    http_client::{USER_AGENT, with_proxy_and_tls},
    remote::{begun, disconnected, hide_echoes, quotable, retry_after, shown_address, without_key},
};

pub struct Site {
    pub options: SearchOptions,
    http: Client,
}

pub struct Answer {
    /// Kept out of every error.
    pub query: String,
    pub status: u16,
    pub headers: HeaderMap,
    /// `None`: the body is not JSON.
    pub json: Option<Value>,
}

impl Site {
    /// Fails for an unusable address, or without certificates for a TLS address.
    pub fn new(options: SearchOptions) -> Result<Self, Error> {
        let url = Url::parse(&options.base_url).ok();
        let Some(url) = url.filter(|url| matches!(url.scheme(), "http" | "https")) else {
            let what = format!("no usable address '{}' (set base_url)", options.base_url);
            return Err(Error::new(Kind::InvalidRequest, what));
        };
        // Queries stay on this origin.
        let builder = Client::builder()
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .user_agent(USER_AGENT);
        let host = url.host_str().unwrap_or_default();
        let http = with_proxy_and_tls(builder, host, url.scheme() == "https").build();
        let http = http.map_err(|_| {
            let what = "no certificates to check the server with (install the package \
                        ca-certificates)";
            Error::new(Kind::Missing, what)
        })?;
        Ok(Self { options, http })
    }

    /// A POST to `path`, which begins with a slash.
    pub fn post(&self, path: &str) -> Result<RequestBuilder, Error> {
        let url = self.url(path)?;
        Ok(self.http.post(url).header(ACCEPT_ENCODING, ACCEPTED))
    }

    /// A GET of `path` with the parameters `query`.
    pub fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<RequestBuilder, Error> {
        let mut url = self.url(path)?;
        url.query_pairs_mut().extend_pairs(query);
        Ok(self.http.get(url).header(ACCEPT_ENCODING, ACCEPTED))
    }

    fn url(&self, path: &str) -> Result<Url, Error> {
        let url = Url::parse(&format!("{}{path}", self.options.base_url.trim_end_matches('/')));
        url.map_err(|_| self.error(Kind::InvalidRequest, "no usable address", "check base_url"))
    }

    /// The key as a header's value, after `before`. Fails if it has characters that no header can
    /// hold.
    pub fn key(&self, before: &str) -> Result<HeaderValue, Error> {
        let key = self.options.api_key.as_ref().map(|key| key.0.as_str()).unwrap_or_default();
        let mut value = HeaderValue::from_str(&format!("{before}{key}")).map_err(|_| {
            let what = "the key has characters that cannot be sent";
            self.error(Kind::Unauthorized, what, "check api_key for line ends and quotes")
        })?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Sends `request` for `query` and reads the answer, at most 8 MiB.
    pub async fn send(&self, request: RequestBuilder, query: &str) -> Result<Answer, Error> {
        let response = request.send().await.map_err(|error| self.no_answer(&error))?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = self.read(response).await?;
        let body = match decoded(&headers, body, ANSWER).await {
            Ok(body) => body,
            // The status is more useful than a damaged body.
            Err(_) if !(200..300).contains(&status) => Vec::new(),
            Err(Undecoded::Over) => return Err(self.over()),
            Err(Undecoded::Unknown | Undecoded::Broken) => {
                let what = "the answer is not compressed as it says";
                return Err(self.error(Kind::Protocol, what, "check base_url"));
            }
        };
        // Parsing megabytes would block a thread of the runtime for too long.
        let read = move || VALUES.check_values(&body).map(|()| serde_json::from_slice(&body).ok());
        let json = spawn_blocking(read).await.unwrap_or(Ok(None));
        let json = match json {
            Err(bound) if (200..300).contains(&status) => return Err(self.exceeds(bound)),
            json => json.unwrap_or_default(),
        };
        Ok(Answer { query: query.to_owned(), status, headers, json })
    }

    async fn read(&self, mut response: Response) -> Result<Vec<u8>, Error> {
        let mut body = Body::within(ANSWER);
        while let Some(piece) = response.chunk().await.map_err(|_| self.interrupted())? {
            body.push(&piece).map_err(|_| self.over())?;
        }
        Ok(body.bytes)
    }

    pub fn error(&self, kind: Kind, what: &str, way_out: &str) -> Error {
        let (name, at) = (self.options.service.name(), shown_address(&self.options.base_url));
        Error::new(kind, format!("{name} at '{at}': {what} ({way_out})"))
    }

    /// Error for a status without a meaning of its own at this service.
    pub fn refusal(&self, answer: &Answer) -> Error {
        let status = answer.status;
        let (kind, what, way_out) = match status {
            401..=403 => (Kind::Unauthorized, "the key was refused", "check api_key"),
            404 => (Kind::InvalidRequest, "not found", "check base_url"),
            408 | 504 => (Kind::Timeout, "the service gave up waiting", "try again in a moment"),
            429 => {
                let retry_after = retry_after(&answer.headers);
                let way_out = "wait, or raise the account's limit";
                (Kind::RateLimited { retry_after }, "too many requests", way_out)
            }
            300..400 => (
                Kind::Protocol,
                "it redirects elsewhere, and no query is sent there",
                "write the address it redirects to as base_url",
            ),
            400..500 => (Kind::InvalidRequest, "the request was refused", "check base_url"),
            _ => (Kind::Unavailable, "the service failed", "try again in a moment"),
        };
        let said = self.said(answer);
        self.error(kind, &format!("{what} with status {status}{said}"), way_out)
    }

    /// The service's error message, quoted after a colon; empty without one.
    pub fn said(&self, answer: &Answer) -> String {
        let Some(json) = &answer.json else { return String::new() };
        let texts = ["/error/message", "/error/detail", "/detail/error", "/detail", "/error"];
        let text = texts.iter().find_map(|place| json.pointer(place)?.as_str());
        let text = begun(text.unwrap_or_default());
        let mut text = without_key(text, self.options.api_key.as_ref());
        hide_echoes(&mut text, &Value::from(answer.query.as_str()));
        let quote = quotable(&text);
        if quote.is_empty() { quote } else { format!(": \"{quote}\"") }
    }

    pub fn no_json(&self) -> Error {
        let what = "the answer is not JSON, perhaps a web page";
        self.error(Kind::Protocol, what, "check base_url")
    }

    pub fn slow(&self) -> Error {
        self.error(Kind::Timeout, "no answer in 8 s", "try again in a moment")
    }

    fn over(&self) -> Error {
        self.exceeds(ANSWER)
    }

    fn exceeds(&self, bound: Bound) -> Error {
        let what = format!("the answer exceeds the limit of {bound}");
        self.error(Kind::Protocol, &what, "check base_url")
    }

    fn interrupted(&self) -> Error {
        self.error(Kind::Interrupted, "the answer stopped in the middle", "try again in a moment")
    }

    fn no_answer(&self, error: &reqwest::Error) -> Error {
        let (kind, what, way_out) = disconnected(error);
        self.error(kind, what, way_out)
    }
}
