//! One request's server. Entry type: [`McpServer`].

use std::sync::Arc;

use rmcp::{ErrorData, RoleServer, service::RequestContext};
use tokio_util::sync::CancellationToken;

use super::watches::Watches;
use crate::{campaign::Holder, web::WebParts};

/// Answers one request. Cloning shares everything with other requests.
#[derive(Clone)]
pub struct McpServer {
    pub parts: Arc<WebParts>,
    /// Open streams of changes.
    pub watches: Watches,
    /// Ends all streams.
    pub stop: CancellationToken,
}

impl McpServer {
    /// Serves until `stop`.
    pub fn new(parts: Arc<WebParts>, stop: CancellationToken) -> Self {
        Self { parts, watches: Watches::default(), stop }
    }
}

/// Holder of the token that came with a request.
///
/// # Errors
/// The request passed by the listener's check of tokens.
pub fn holder_of(context: &RequestContext<RoleServer>) -> Result<Arc<Holder>, ErrorData> {
    let parts = context.extensions.get::<http::request::Parts>();
    let holder = parts.and_then(|parts| parts.extensions.get::<Arc<Holder>>());
    holder.cloned().ok_or_else(|| ErrorData::internal_error("no token was checked", None))
}
