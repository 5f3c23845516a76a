//! The page in a browser: its files, and how a browser gets in.
//!
//! Entry function: [`routes`]. `GET /` and `GET /assets/{name}` are for everybody, since they hold
//! nothing of a table. `POST /enter` exchanges the token of a one-time link for a signed cookie, the
//! [`Pass`], which sockets need. The page may load nothing from elsewhere, nor run a script that is
//! not one of these files.

mod assets;
mod links;
mod pass;

use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    http::{
        HeaderMap, HeaderName, StatusCode,
        header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, SET_COOKIE},
    },
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::Deserialize;
use tokio::time::Instant;

pub use self::{
    links::Links,
    pass::{Pass, Seal},
};
use super::refusal::Refusal;
use crate::campaign;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      connect-src 'self'; img-src 'self'; media-src 'self'; worker-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const PERMISSIONS: &str = "microphone=(self), camera=(), geolocation=(), display-capture=()";

/// Ways into the page.
#[derive(Clone)]
pub struct Doors {
    pub links: Links,
    pub seal: Seal,
    /// Browsers reach the page over TLS.
    pub behind_tls: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entering {
    token: String,
}

pub fn routes(doors: Doors) -> Router {
    Router::new()
        .route("/", get(|| async { asset("index.html") }))
        .route("/assets/{name}", get(|Path(name): Path<String>| async move { asset(&name) }))
        .route("/enter", post(enter))
        .with_state(Arc::new(doors))
}

fn asset(name: &str) -> Response {
    let Some((kind, bytes)) = assets::named(name) else {
        return Refusal::Unknown.into_response();
    };
    let headers = [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        // Without a referrer browsers may send "Origin: null", which the guard refuses.
        (REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("permissions-policy"), PERMISSIONS),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    (headers, bytes).into_response()
}

async fn enter(State(doors): State<Arc<Doors>>, headers: HeaderMap, body: Bytes) -> Response {
    match doors.enter(&headers, &body, campaign::now()) {
        Ok(Some(cookie)) => (StatusCode::NO_CONTENT, [(SET_COOKIE, cookie)]).into_response(),
        Ok(None) => StatusCode::NO_CONTENT.into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

impl Doors {
    /// The cookie of a browser that opened a link; `None`: it has one already, as after going back
    /// to a used link. JSON alone is taken, which no form of a web page can send.
    fn enter(&self, headers: &HeaderMap, body: &[u8], now: i64) -> Result<Option<String>, Refusal> {
        let kind = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            return Err(Refusal::MediaType);
        }
        let Entering { token } = serde_json::from_slice(body).map_err(|_| Refusal::Unreadable)?;
        let clock = Instant::now();
        let player = self.links.take(&token, clock);
        if self.seal.pass(headers, now).is_some() {
            return Ok(None);
        }
        let player = player.ok_or_else(|| self.links.wrong(clock))?;
        Ok(Some(self.seal.cookie(&Pass::new(player, now), self.behind_tls)))
    }
}
