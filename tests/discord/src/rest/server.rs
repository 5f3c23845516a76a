//! The HTTP side: faults, authorisation, rate limits, headers.
//!
//! Entry function: [`run`]. Never: knowing what a request means.

use super::{
    body,
    fault::Fault,
    limits::{Key, Scope, Taken},
    refusal::{Refusal, Reply},
    route::{self, Call},
};
use crate::{
    state::{Shared, Upload},
    stream,
};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::{
    Response, StatusCode,
    body::{Bytes, Incoming},
    header::{CONTENT_TYPE, HeaderValue},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::json;
use std::time::Duration;
use tokio::{net::TcpListener, time::Instant};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The longest body, in bytes; a little more than the uploads in it may be.
const BODY: usize = 11 * 1024 * 1024;

/// A REST request that came.
#[derive(Clone, Debug)]
pub struct Request {
    /// Time of the answer, on the loopback's clock.
    pub at: Instant,
    /// `GET` and so on.
    pub method: String,
    /// Without `/api/v10` and without what follows a question mark.
    pub path: String,
    /// The answer's HTTP status; 0 if the connection was cut.
    pub status: u16,
    /// Discord's code in the answer, 0 without one.
    pub code: u64,
}

/// The answer goes nowhere: hyper closes the connection.
#[derive(Debug)]
struct Cut;

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cut on demand")
    }
}

impl std::error::Error for Cut {}

/// An HTTP answer.
type Http = Response<Full<Bytes>>;

/// Accepts connections until cancelled.
pub(crate) async fn run(
    inner: Shared,
    listener: TcpListener,
    tasks: TaskTracker,
    stop: CancellationToken,
) {
    let talk = |socket| {
        let inner = inner.clone();
        async move {
            let stream = stream::accept(socket, &inner.certificates.acceptor()).await?;
            let service = service_fn(|request| answer(&inner, request));
            let http = hyper::server::conn::http1::Builder::new();
            anyhow::Ok(http.serve_connection(TokioIo::new(stream), service).await?)
        }
    };
    stream::serve(listener, (tasks, stop), "rest", talk).await;
}

/// Answers one request.
async fn answer(inner: &Shared, request: hyper::Request<Incoming>) -> Result<Http, Cut> {
    inner.thawed().await;
    let method = request.method().to_string();
    let whole = request.uri().path().to_owned();
    if let Some(path) = whole.strip_prefix("/attachments/") {
        return Ok(upload(inner, path));
    }
    let api = ["/api/v10", "/api/v9"].iter().find_map(|prefix| whole.strip_prefix(prefix));
    // The only sign that paths hold and some clients escape: "@me", "@original".
    let path = api.unwrap_or(&whole).replace("%40", "@");
    let fault = inner.quietly(|state| state.faults.take(&method, &path));
    match fault {
        Some(Fault::Cut) => {
            note(inner, &method, &path, 0, 0);
            return Err(Cut);
        }
        Some(Fault::Status(status)) => {
            note(inner, &method, &path, status, 0);
            return Ok(broken(status));
        }
        Some(Fault::Slow(time)) => tokio::time::sleep(time).await,
        Some(Fault::Late(_) | Fault::Unanswered) | None => {}
    }
    let (taken, result) = match api {
        Some(_) => handle(inner, &method, &path, request).await,
        None => (None, Err(Refusal::fault(404, 0, "404: Not Found"))),
    };
    inner.thawed().await;
    let (status, code) = match &result {
        Ok(reply) => (reply.status, 0),
        Err(refusal) => (refusal.status, refusal.code),
    };
    if let Err(refusal) = result.as_ref()
        && refusal.violation
    {
        let errors = refusal.errors.as_ref().map(ToString::to_string).unwrap_or_default();
        let what = format!("{method} {path}: {status} {code} {} {errors}", refusal.message);
        inner.quietly(|state| state.violation(what.trim_end()));
    }
    note(inner, &method, &path, status, code);
    match fault {
        Some(Fault::Unanswered) => return Err(Cut),
        Some(Fault::Late(time)) => tokio::time::sleep(time).await,
        _ => {}
    }
    Ok(http(inner, taken.as_ref(), result))
}

/// Notes a request.
fn note(inner: &Shared, method: &str, path: &str, status: u16, code: u64) {
    tracing::debug!(method, path, status, code, "REST");
    let request =
        Request { at: inner.clock.now(), method: method.into(), path: path.into(), status, code };
    inner.change(|state| state.requests.push(request));
}

/// Finds out who asks, whether there is room in the bucket, and has it answered.
async fn handle(
    inner: &Shared,
    method: &str,
    path: &str,
    request: hyper::Request<Incoming>,
) -> (Option<Taken>, Result<Reply, Refusal>) {
    let (route, params) = match route::find(method, path) {
        Ok(found) => found,
        Err(refusal) => return (None, Err(refusal)),
    };
    let header = |name: &str| {
        let value = request.headers().get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let token = header("authorization");
    let bare = token.strip_prefix("Bot ").unwrap_or(&token);
    let user = inner.read(|state| {
        let user = state.world.user_of(bare)?;
        (user.id != state.world.bot || bare != token).then_some(user.id)
    });
    if route.authorised && user.is_none() {
        return (None, Err(Refusal::new(401, 0, "401: Unauthorized")));
    }
    let user = user.unwrap_or_default();
    let key = Key {
        user,
        route: format!("{} {}", route.method, route.path),
        major: route::major(route.path, &params),
    };
    let options = &inner.options;
    let now = inner.clock.now();
    let taken =
        inner.quietly(|state| state.limits.take(now, key, options.limit, options.global_limit));
    if taken.exceeded.is_some() {
        return (Some(taken), Err(Refusal::new(429, 0, "You are being rate limited.")));
    }
    let query = request.uri().query().unwrap_or_default().to_owned();
    let kind = header("content-type");
    let result = async {
        let bytes = Limited::new(request.into_body(), BODY).collect().await.map_err(unread)?;
        let (body, files) = body::read(&kind, bytes.to_bytes().to_vec()).await?;
        (route.handler)(&Call { inner, params, query, user, body, files })
    };
    (Some(taken), result.await)
}

/// A body that could not be read.
fn unread(error: Box<dyn std::error::Error + Send + Sync>) -> Refusal {
    if error.is::<LengthLimitError>() {
        return Refusal::fault(413, 40_005, "Request entity too large");
    }
    Refusal::fault(400, 50_109, "The request body contains invalid JSON.")
}

/// The HTTP form of an answer.
fn http(inner: &Shared, taken: Option<&Taken>, result: Result<Reply, Refusal>) -> Http {
    let (status, mut body) = match result {
        Ok(reply) => (reply.status, reply.body),
        Err(refusal) => (refusal.status, Some(refusal.body())),
    };
    if status == 429
        && let Some(taken) = taken
    {
        body = Some(json!({
            "message": "You are being rate limited.", "retry_after": taken.reset_after.as_secs_f64(),
            "global": taken.exceeded == Some(Scope::Global),
        }));
    }
    // Clients parse what is called JSON, even nothing.
    let typed = body.is_some();
    let bytes = body.map(|body| body.to_string()).unwrap_or_default();
    let mut response = Response::new(Full::new(Bytes::from(bytes)));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    let mut set = |name: &'static str, value: String| {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    };
    if typed {
        set("content-type", "application/json".into());
    }
    let Some(taken) = taken else { return response };
    let after = taken.reset_after;
    let reset = Duration::from_millis(inner.clock.unix_ms()) + after;
    if taken.exceeded != Some(Scope::Global) {
        set("x-ratelimit-limit", taken.limit.to_string());
        set("x-ratelimit-remaining", taken.remaining.to_string());
        set("x-ratelimit-reset", format!("{:.3}", reset.as_secs_f64()));
        set("x-ratelimit-reset-after", format!("{:.3}", after.as_secs_f64()));
        set("x-ratelimit-bucket", taken.bucket.clone());
    }
    match taken.exceeded {
        None => {}
        Some(scope) => {
            set("retry-after", format!("{:.0}", after.as_secs_f64().ceil()));
            let global = scope == Scope::Global;
            set("x-ratelimit-scope", if global { "global" } else { "user" }.into());
            if global {
                set("x-ratelimit-global", "true".into());
            }
        }
    }
    response
}

/// Answer of Discord's front when its back has failed.
fn broken(status: u16) -> Http {
    let (kind, body) = if status == 500 {
        (
            "application/json",
            json!({"message": "500: Internal Server Error", "code": 0}).to_string(),
        )
    } else {
        (
            "text/html",
            format!("<html><head><title>{status}</title></head><body>cloudflare</body></html>"),
        )
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// An upload by its address.
fn upload(inner: &Shared, path: &str) -> Http {
    let id = path.split('/').nth(1).and_then(|id| id.parse::<u64>().ok());
    let found: Option<Upload> = inner.read(|state| state.uploads.get(&id?).cloned());
    let Some(upload) = found else {
        let mut response =
            Response::new(Full::new(Bytes::from_static(b"This content is no longer available.")));
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    };
    let mut response = Response::new(Full::new(Bytes::from(upload.bytes)));
    let kind = HeaderValue::from_str(&upload.kind);
    response
        .headers_mut()
        .insert(CONTENT_TYPE, kind.unwrap_or(HeaderValue::from_static("application/octet-stream")));
    response
}
