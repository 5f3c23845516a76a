//! All routes, and the checks before them. Entry type: [`Routes`].

use std::sync::Arc;

use axum::{
    Router,
    http::{
        HeaderName, HeaderValue,
        header::{
            CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
            X_FRAME_OPTIONS,
        },
    },
    middleware::{from_fn_with_state, map_response},
    response::Response,
    routing::any,
};
use tokio_util::sync::CancellationToken;

use super::{
    approvals,
    body::{self, BodyBounds},
    bounds::Bounds,
    entry::{self, Entry},
    figures,
    guard::{self, Guard},
    mcp,
    parts::WebParts,
    refusal::Refusal,
};

pub struct Routes {
    /// For requests with a valid token.
    pub behind_token: Router,
    /// For all requests; these routes check rights themselves.
    pub open: Router,
    /// For requests with a valid token, and for programs of this machine without one.
    pub near: Router,
}

impl Routes {
    /// The routes of this program, until `stop`.
    pub fn of(parts: &Arc<WebParts>, stop: &CancellationToken) -> Self {
        let mut behind_token = mcp::routes(Arc::clone(parts), stop.clone());
        let mut near = figures::metrics(Arc::clone(parts));
        if !figures::is_near(&parts.options) {
            behind_token = behind_token.merge(std::mem::take(&mut near));
        }
        let mut open =
            approvals::routes(Arc::clone(parts)).merge(figures::checks(Arc::clone(parts)));
        if let Some(rehearsal) = &parts.rehearsal {
            open = open.merge(rehearsal.routes(parts.options.behind_tls, stop.clone()));
        }
        Self { behind_token, open, near }
    }

    /// All routes, with all checks before them. Unknown addresses need a token too, so that a
    /// stranger learns nothing.
    pub fn checked(self, guard: Guard, entry: Entry, bounds: &Bounds) -> Router {
        let bounded = |most| from_fn_with_state(BodyBounds::new(most, bounds), body::take);
        let entry = Arc::new(entry);
        let near = self
            .near
            .layer(bounded(bounds.open_body))
            .layer(from_fn_with_state(Arc::clone(&entry), entry::enter_unless_from_here));
        let behind_token = self
            .behind_token
            .fallback(unknown)
            .layer(bounded(bounds.body))
            .layer(from_fn_with_state(entry, entry::enter));
        self.open
            .layer(bounded(bounds.open_body))
            .merge(near)
            // Clients look here for an OAuth server, and take anything but 404 for one.
            .route("/.well-known/{*path}", any(unknown))
            .fallback_service(behind_token)
            .layer(from_fn_with_state(Arc::new(guard), guard::check))
            .layer(map_response(sealed))
    }
}

async fn unknown() -> Refusal {
    Refusal::Unknown
}

/// Answers are for one client alone, and no page may frame or embed them.
async fn sealed(mut response: Response) -> Response {
    let unless_set = [
        (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
    ];
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for (name, value) in unless_set {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}
