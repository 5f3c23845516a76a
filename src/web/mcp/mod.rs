//! Our MCP server, `/mcp`: tools, resources and prompts for programs outside.
//!
//! Entry function: [`routes`]. Stateless: each request gets an [`McpServer`] of its own, which finds
//! the holder of the checked token in the request. Both kinds of the protocol are answered: with
//! `initialize` (to 2025-11-25), and with `server/discover` (2026-07-28). Closing a request's stream
//! cancels its call. When the listener ends, streams of changes end at once; calls may still be
//! answered until it cancels them. `table.rs` lists the tools with their rights. **Never**: answers
//! with data of another owner than the token's.

mod handler;
mod incoming;
mod message;
mod outside_effects;
mod prompts;
mod resources;
mod schema;
mod served;
mod server;
mod stage;
mod stream;
mod subscriptions;
mod table;
#[cfg(test)]
mod tests;
mod tools;
mod watch;
mod watches;

use std::sync::Arc;

use axum::{Extension, Router, http::HeaderMap, middleware::from_fn, routing::post_service};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use tokio_util::sync::CancellationToken;

pub use self::{
    server::McpServer,
    table::{named as tool_named, names_for},
};
use crate::{campaign::Holder, web::WebParts};

/// Everything under `/mcp`. The bearer was checked: `Arc<Holder>` is in the request's extensions.
/// `DELETE` is answered with 405: no session exists that it could end.
pub fn routes(parts: Arc<WebParts>, stop: CancellationToken) -> Router {
    // The listener has checked Host and Origin.
    let options = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(message::BODY_MAX)
        .disable_allowed_hosts();
    parts.handles.outside.set_listens(parts.options.mcp.listen);
    let server = McpServer::new(parts, stop);
    let of_calls = server.clone();
    let make = move || Ok(of_calls.clone());
    let sessions = Arc::new(NeverSessionManager::default());
    let calls = StreamableHttpService::new(make, sessions, options);
    let notices = move |Extension(holder): Extension<Arc<Holder>>, headers: HeaderMap| async move {
        stream::notices(server, holder, headers).await
    };
    Router::new().route("/mcp", post_service(calls).get(notices)).layer(from_fn(message::check))
}
