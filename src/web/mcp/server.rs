//! One request's server. Entry type: [`McpServer`].

use std::sync::Arc;

use rmcp::{ErrorData, RoleServer, service::RequestContext};

use crate::{campaign::Holder, web::WebParts};

/// Answers one request.
pub struct McpServer {
    pub parts: Arc<WebParts>,
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
