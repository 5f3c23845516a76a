//! Services behind the web tools, and their calls.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use percent_encoding::percent_decode_str;
use reqwest::Url;
use serde_json::{Map, Value, json};

use super::{super::describe::text, seen::SeenAddresses};
use crate::{
    domain::{redact, visible},
    logic::budget::Consumption,
    provider::{Error, Kind, Page, PageError, Pages, WebResult, WebSearch},
    tools::{CallContext, CallError, CallErrorKind, CallOutput, Handler},
};

#[derive(Clone)]
pub struct WebAccess {
    pub service: Arc<dyn WebSearch>,
    pub pages: Pages,
    pub seen: SeenAddresses,
}

pub struct Search(pub WebAccess);

pub struct FetchPage(pub WebAccess);

impl Handler for Search {
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        async move {
            let query = text(arguments, "query").unwrap_or_default();
            let found = self.0.search(context, query).await?;
            self.0.seen.add(context, found.iter().map(|it| it.url.as_str()));
            Ok(CallOutput { outside: true, ..CallOutput::json(listed(&found)) })
        }
        .boxed()
    }
}

impl WebAccess {
    /// Searches, and pays for it.
    async fn search(
        &self,
        context: &CallContext,
        query: &str,
    ) -> Result<Vec<WebResult>, CallError> {
        let once = Consumption { requests: 1, ..Consumption::default() };
        // Strip secrets from the query, also split ones: the model may be misled.
        let query = redact::without_credentials(&visible(query));
        let payment = context.pay(self.service.priced_as(), once).await?;
        match self.service.search(&query, payment.attempts()).await {
            Ok(found) => {
                payment.settle(once);
                Ok(found)
            }
            Err(error) => {
                payment.failed(error.kind());
                Err(failed(&error))
            }
        }
    }
}

fn listed(found: &[WebResult]) -> Value {
    let results = found.iter().enumerate().map(|(index, WebResult { title, url, text })| {
        json!({"number": index + 1, "title": title, "url": url, "text": text})
    });
    let mut value = json!({"results": results.collect::<Vec<_>>()});
    if found.is_empty() {
        value["note"] = "nothing was found (use other words)".into();
    }
    value
}

fn failed(error: &Error) -> CallError {
    let kind = match error.kind() {
        Kind::RateLimited { .. } | Kind::Crowded { .. } => CallErrorKind::RateLimited,
        Kind::Timeout => CallErrorKind::Timeout,
        Kind::Unreachable | Kind::Unavailable | Kind::Interrupted => CallErrorKind::Connection,
        Kind::Protocol => CallErrorKind::Protocol,
        Kind::OverBudget => CallErrorKind::Policy,
        Kind::Missing | Kind::Unauthorized | Kind::InvalidRequest => CallErrorKind::Tool,
    };
    CallError::new(kind, error.to_string()).from_outside()
}

impl Handler for FetchPage {
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        async move {
            let WebAccess { pages, seen, .. } = &self.0;
            let url = address(text(arguments, "url").unwrap_or_default())?;
            let found = |url: &Url| seen.has(context, url);
            let is_found = found(&url);
            if !is_found && !pages.allows(&url) {
                let host = url.host_str().unwrap_or_default();
                let what = format!(
                    "no search of this session returned this address of '{host}' (search first and \
                     copy an address from the results; the operator can add the host to \
                     search.allow)"
                );
                return Err(CallError::new(CallErrorKind::Tool, what));
            }
            if !is_found && has_credential(&url) {
                let what = "the address contains a credential (remove it and try again)";
                return Err(CallError::new(CallErrorKind::Policy, what));
            }
            let page = pages.read(&url, &found).await.map_err(|error| unread(&error))?;
            Ok(CallOutput { outside: true, ..CallOutput::text(shown(&page)) })
        }
        .boxed()
    }
}

fn address(text: &str) -> Result<Url, CallError> {
    let url = Url::parse(text.trim()).ok();
    url.filter(|url| matches!(url.scheme(), "http" | "https")).ok_or_else(|| {
        let what = "'url' is not an http:// or https:// address (copy one from the search results)";
        CallError::new(CallErrorKind::InvalidArguments, what)
    })
}

/// True if a URL not found by a search contains a key.
fn has_credential(url: &Url) -> bool {
    let written = percent_decode_str(url.as_str()).decode_utf8_lossy();
    redact::holds_credential(&visible(&written))
}

fn shown(Page { title, url, text, is_cut }: &Page) -> String {
    let title = if title.is_empty() { "Page without a title" } else { title };
    let more = if *is_cut { "\n[cut here: the page goes on]" } else { "" };
    format!("{title}\n{url}\n\n{text}{more}")
}

fn unread(error: &PageError) -> CallError {
    let kind = match error {
        PageError::Late(_) => CallErrorKind::Timeout,
        PageError::Unreachable(_) => CallErrorKind::Connection,
        PageError::Status(_, 429) => CallErrorKind::RateLimited,
        PageError::Status(_, 500..) => CallErrorKind::Connection,
        _ => CallErrorKind::Tool,
    };
    CallError::new(kind, error.to_string()).from_outside()
}
