//! Routes for monitors: `GET /metrics`, `/healthz` and `/readyz`.
//!
//! Entry functions: [`metrics()`], [`checks`]. **Never**: names of people, or words; of the program's
//! state `/healthz` and `/readyz` tell strangers only what fails.

mod readiness;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::json;
use tokio::time::Instant;

use self::readiness::{Readiness, Reason};
use super::{options::WebOptions, parts::WebParts, refusal::Refusal};
use crate::{
    campaign::{Handles, Holder},
    domain::Owner,
    figures::Sample,
    tools::connection::State as ServerState,
};

/// Prometheus' text format.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// True if no proxy can stand between a peer of this machine and the listener with `options`.
pub fn is_near(options: &WebOptions) -> bool {
    !options.is_exposed() && !options.behind_tls && options.hosts.is_empty()
}

/// The figures, for requests of this machine or with a token.
pub fn metrics(parts: Arc<WebParts>) -> Router {
    Router::new().route("/metrics", get(show)).with_state(parts)
}

/// Routes for liveness and readiness of the program, open to everyone.
pub fn checks(parts: Arc<WebParts>) -> Router {
    let readiness = Arc::new(Readiness::new(Arc::clone(&parts)));
    let ready = Router::new().route("/readyz", get(ready)).with_state(readiness);
    Router::new().route("/healthz", get(alive)).with_state(parts).merge(ready)
}

async fn show(State(parts): State<Arc<WebParts>>, request: Request) -> Response {
    let holder = request.extensions().get::<Arc<Holder>>();
    if holder.is_some_and(|it| !it.is_dm() || it.owner != Owner::Local) {
        return Refusal::NotOperator.into_response();
    }
    let figures = &parts.handles.figures;
    figures.set_sample(sample(&parts.handles));
    ([(CONTENT_TYPE, TEXT)], figures.render()).into_response()
}

/// The program's state now.
fn sample(handles: &Handles) -> Sample {
    // Servers that game masters added are theirs alone, and so are their names.
    let servers = handles.servers.status(Owner::Local).into_iter();
    let servers = servers.filter(|it| it.owner.is_none()).filter_map(|it| {
        let is_up = match it.state {
            ServerState::Ready => true,
            // Waiting for a session is no failure.
            ServerState::NoSession { .. } | ServerState::Lacking { .. } => return None,
            ServerState::Connecting
            | ServerState::Reconnecting { .. }
            | ServerState::Waiting { .. }
            | ServerState::Failed { .. }
            | ServerState::Stopped => false,
        };
        Some((it.name, is_up))
    });
    Sample {
        tables: handles.sessions.count(),
        blocked: handles.tables.blocked(),
        backlog: handles.sessions.transcripts().backlog().count().waiting,
        servers: servers.collect(),
        breakers: handles.factory.breakers(),
        since_renewal: handles.figures.since_renewal(Instant::now()),
    }
}

async fn alive(State(parts): State<Arc<WebParts>>) -> Response {
    answer(blocked(parts.handles.tables.blocked()).as_slice())
}

async fn ready(State(readiness): State<Arc<Readiness>>) -> Response {
    answer(&readiness.reasons().await)
}

fn blocked(tables: usize) -> Option<Reason> {
    let why = match tables {
        0 => return None,
        1 => "1 table does not respond".to_owned(),
        more => format!("{more} tables do not respond"),
    };
    Some(Reason { part: "tables", why })
}

/// 200 without `reasons`, else 503, with them as JSON.
fn answer(reasons: &[Reason]) -> Response {
    let is_ok = reasons.is_empty();
    let status = if is_ok { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let reasons = reasons.iter().map(|it| json!({ "part": it.part, "why": it.why }));
    let body = json!({ "ok": is_ok, "reasons": reasons.collect::<Vec<_>>() }).to_string();
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

#[cfg(test)]
mod tests;
