//! Bodies of requests, read whole within bounds before a route sees them.
//!
//! Entry function: [`take`]. Every body of this listener is JSON; its depth and number of values are
//! counted before anything parses it.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body, HttpBody},
    extract::{Request, State},
    http::{
        HeaderValue,
        header::{CONNECTION, TRANSFER_ENCODING},
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};

use super::{bounds::Bounds, guarded::Guarded, refusal::Refusal, sockets::Socket};
use crate::{
    campaign::Holder,
    domain::{json_depth, json_values},
};

#[derive(Clone, Copy, Debug)]
pub struct BodyBounds {
    most: usize,
    time: Duration,
    depth: usize,
    values: usize,
}

impl BodyBounds {
    /// At most `most` bytes.
    pub const fn new(most: usize, bounds: &Bounds) -> Self {
        Self { most, time: bounds.body_time, depth: bounds.depth, values: bounds.values }
    }
}

/// Passes on the request with its whole body; with a valid token, its socket is trusted from then
/// on.
pub async fn take(State(bounds): State<BodyBounds>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    // A proxy in front may have seen another end of such a body (request smuggling), so nothing
    // that follows it on this connection is read.
    let is_last = parts.headers.contains_key(TRANSFER_ENCODING);
    let mut response = match read(body, bounds).await {
        Ok(body) => {
            let holder = parts.extensions.get::<Arc<Holder>>();
            let socket = holder.and_then(|_| parts.extensions.get::<Arc<Socket>>());
            let trust = socket.map(|socket| socket.trust());
            let response = next.run(Request::from_parts(parts, body)).await;
            response.map(|body| Guarded::body(body, trust))
        }
        Err(refusal) => refusal.into_response(),
    };
    if is_last {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

async fn read(body: Body, bounds: BodyBounds) -> Result<Body, Refusal> {
    let long = Refusal::Long(bounds.most);
    let announced = body.size_hint().lower();
    if u64::try_from(bounds.most).is_ok_and(|most| announced > most) {
        return Err(long);
    }
    let whole = Limited::new(body, bounds.most).collect();
    let read = tokio::time::timeout(bounds.time, whole).await.map_err(|_| Refusal::Late)?;
    let bytes = match read {
        Ok(collected) => collected.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => return Err(long),
        Err(_) => return Err(Refusal::Broken),
    };
    if json_depth(&bytes) > bounds.depth {
        return Err(Refusal::Deep(bounds.depth));
    }
    if json_values(&bytes) > bounds.values {
        return Err(Refusal::Large(bounds.values));
    }
    Ok(Body::from(bytes))
}
