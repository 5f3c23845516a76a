//! `GET /mcp`: notifications of changes, as server-sent events, for revisions of the protocol
//! before 2026-07-28. Entry function: [`notices`].
//!
//! A token's tools and prompts do not change while the program runs; its resources do.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{ACCEPT, ALLOW},
    },
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures::{
    StreamExt,
    stream::{iter, once, unfold},
};
use rmcp::model::ProtocolVersion;
use serde_json::{Value, json};

use super::{
    resources::ResourceChange,
    server::McpServer,
    watch::{ResourceWatch, WatchError},
};
use crate::campaign::Holder;

/// Time between two comments in a silent stream; proxies close after 30 to 60 s without a byte.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Notifications for `holder` until the listener or the token ends.
pub async fn notices(server: McpServer, holder: Arc<Holder>, headers: HeaderMap) -> Response {
    if has_no_stream(&headers) {
        let why = "this revision has no stream (use subscriptions/listen)";
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "POST")], why).into_response();
    }
    if !accepts_events(&headers) {
        let why = "the request must accept text/event-stream";
        return (StatusCode::NOT_ACCEPTABLE, why).into_response();
    }
    let watch = match ResourceWatch::begin(server.parts, &server.watches, holder).await {
        Ok(watch) => watch,
        Err(error @ WatchError::TooMany) => {
            return (StatusCode::TOO_MANY_REQUESTS, error.to_string()).into_response();
        }
        Err(WatchError::Read(error)) => {
            tracing::warn!(%error, "cannot open a stream for a program outside");
            let why = "cannot look for changes now (try again in a minute)";
            return (StatusCode::SERVICE_UNAVAILABLE, why).into_response();
        }
    };
    let looks = unfold(watch, |mut watch| async move {
        let changes = watch.next().await?;
        Some((changes, watch))
    });
    let events = looks.flat_map(|changes| iter(changes.into_iter().map(|it| Ok(event(&it)))));
    // The first byte: clients take the stream as open then.
    let opened = once(async { Ok::<_, Infallible>(Event::default().comment("open")) });
    let events = opened.chain(events).take_until(server.stop.cancelled_owned());
    let heartbeat = KeepAlive::new().interval(HEARTBEAT);
    let mut response = Sse::new(events).keep_alive(heartbeat).into_response();
    // Proxies would hold events back.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// True for revisions in which `GET` is not used.
fn has_no_stream(headers: &HeaderMap) -> bool {
    let version = headers.get("mcp-protocol-version").and_then(|it| it.to_str().ok());
    // Revisions are dates, which sort as text.
    version.is_some_and(|it| it >= ProtocolVersion::V_2026_07_28.as_str())
}

fn accepts_events(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT).into_iter().filter_map(|it| it.to_str().ok());
    let mut types = values.flat_map(|it| it.split(','));
    types.any(|it| {
        let essence = it.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case("text/event-stream")
    })
}

fn event(change: &ResourceChange) -> Event {
    Event::default().data(notification(change).to_string())
}

fn notification(change: &ResourceChange) -> Value {
    match change {
        ResourceChange::List => json!({
            "jsonrpc": "2.0",
            "method": "notifications/resources/list_changed",
        }),
        ResourceChange::Updated(uri) => json!({
            "jsonrpc": "2.0",
            "method": "notifications/resources/updated",
            "params": { "uri": uri.to_string() },
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::mcp::resources::ResourceUri;

    fn headers(name: &'static str, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(
            axum::http::HeaderName::from_static(name),
            HeaderValue::from_static(value),
        )])
    }

    #[test]
    fn stream_is_for_older_revisions_alone() {
        for (version, has_none) in
            [("2025-11-25", false), ("2025-03-26", false), ("2026-07-28", true)]
        {
            assert_eq!(has_no_stream(&headers("mcp-protocol-version", version)), has_none);
        }
        assert!(!has_no_stream(&HeaderMap::new()));
        assert!(accepts_events(&headers("accept", "application/json, Text/Event-Stream; q=0.9")));
        assert!(!accepts_events(&headers("accept", "application/json")));
    }

    #[test]
    fn notifications_are_read_by_the_protocol() {
        use rmcp::model::ServerJsonRpcMessage;
        let entity = ResourceUri::Entity("salt marsh".to_owned());
        for change in [ResourceChange::List, ResourceChange::Updated(entity)] {
            let text = notification(&change).to_string();
            let read: ServerJsonRpcMessage = serde_json::from_str(&text).unwrap();
            assert!(matches!(read, ServerJsonRpcMessage::Notification(_)), "{text}");
        }
    }
}
