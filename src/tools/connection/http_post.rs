//! Posts a message to a server and reads its answer. Replaces rmcp's own, which reads bodies twice
//! our limit and any number of JSON values.

use std::{
    collections::HashMap,
    future::ready,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use reqwest::{
    Client, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE},
};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpError,
        StreamableHttpPostResponse,
    },
};
use sse_stream::{Sse, SseStream};

use super::{
    event_size::EventSize,
    unusable::{PARTS, parts},
};

type Failed = StreamableHttpError<reqwest::Error>;

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
const SESSION: &str = "Mcp-Session-Id";
/// Protocol headers that no configuration sets.
const RESERVED: [&str; 3] = ["accept", "mcp-session-id", "last-event-id"];
/// Longest error body that is read, in bytes.
const LARGEST_REFUSAL: usize = 64 * 1024;

pub struct Post {
    pub uri: Arc<str>,
    pub message: ClientJsonRpcMessage,
    pub session: Option<Arc<str>>,
    pub token: Option<String>,
    pub headers: HashMap<HeaderName, HeaderValue>,
}

/// Sends `post`; `largest` limits the answer, or each event of a stream, in bytes.
pub async fn post(
    client: &Client,
    post: Post,
    largest: usize,
) -> Result<StreamableHttpPostResponse, Failed> {
    let (request, had_session) = (request_of(&post.message), post.session.is_some());
    let response = sent(client, &post).await?;
    let status = response.status();
    if let Some(refused) = refused(&response) {
        return Err(refused);
    }
    if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if status == StatusCode::NOT_FOUND && had_session {
        return Err(StreamableHttpError::SessionExpired);
    }
    if !status.is_success() {
        let asks = if had_session { None } else { discovery(&post.message) };
        return failure(response, asks).await;
    }
    // Some servers acknowledge in this way.
    if request.is_none() && response.content_length() == Some(0) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    let session = header(&response, SESSION);
    match header(&response, CONTENT_TYPE.as_str()) {
        Some(kind) if kind.starts_with(EVENTS) => {
            let events = events(response, largest, request);
            Ok(StreamableHttpPostResponse::Sse(events, session))
        }
        Some(kind) if kind.starts_with(JSON) => {
            let body = body(response, largest).await?;
            match message(&body, request)? {
                Some(message) => Ok(StreamableHttpPostResponse::Json(message, session)),
                None => Ok(StreamableHttpPostResponse::Accepted),
            }
        }
        kind => Err(StreamableHttpError::UnexpectedContentType(kind)),
    }
}

async fn sent(client: &Client, post: &Post) -> Result<Response, Failed> {
    let mut request = client.post(&*post.uri).header(ACCEPT, format!("{EVENTS}, {JSON}"));
    if let Some(token) = &post.token {
        request = request.bearer_auth(token);
    }
    for (name, value) in &post.headers {
        if RESERVED.contains(&name.as_str()) {
            return Err(StreamableHttpError::ReservedHeaderConflict(name.to_string()));
        }
        request = request.header(name, value);
    }
    if let Some(session) = &post.session {
        request = request.header(SESSION, &**session);
    }
    let body = serde_json::to_vec(&post.message)?;
    Ok(request.header(CONTENT_TYPE, JSON).body(body).send().await?)
}

fn request_of(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}

/// Id of a `server/discover` request.
fn discovery(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request)
            if matches!(request.request, ClientRequest::DiscoverRequest(_)) =>
        {
            Some(request.id.clone())
        }
        _ => None,
    }
}

fn header(response: &Response, name: &str) -> Option<String> {
    Some(response.headers().get(name)?.to_str().ok()?.to_owned())
}

/// The server requires another token.
fn refused(response: &Response) -> Option<Failed> {
    let challenge = || header(response, WWW_AUTHENTICATE.as_str());
    match response.status() {
        StatusCode::UNAUTHORIZED => {
            Some(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge()?)))
        }
        StatusCode::FORBIDDEN => {
            let challenge = challenge()?;
            let scope = scope(&challenge);
            let error = InsufficientScopeError::new(challenge, scope);
            Some(StreamableHttpError::InsufficientScope(error))
        }
        _ => None,
    }
}

/// The scope in a `WWW-Authenticate` challenge.
fn scope(challenge: &str) -> Option<String> {
    let at = challenge.to_ascii_lowercase().find("scope=")? + "scope=".len();
    let named = challenge.get(at..)?;
    let scope = match named.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?.0,
        None => named.split([',', ';', ' ', '\t']).next().filter(|it| !it.is_empty())?,
    };
    Some(scope.to_owned())
}

/// Result of an error status. `asks`: id of a discovery request.
async fn failure(
    response: Response,
    asks: Option<RequestId>,
) -> Result<StreamableHttpPostResponse, Failed> {
    let status = response.status();
    let is_json = header(&response, CONTENT_TYPE.as_str()).is_some_and(|it| it.starts_with(JSON));
    let is_busy = status == StatusCode::TOO_MANY_REQUESTS;
    let again = header(&response, RETRY_AFTER.as_str());
    let of_status = || HttpStatusError::new(status.as_u16(), again.clone());
    let has_status = is_busy || status.is_server_error();
    if has_status && (is_busy || !is_json) {
        return Err(of_status().into());
    }
    let session = header(&response, SESSION);
    let body = match body(response, LARGEST_REFUSAL).await {
        Ok(body) => String::from_utf8_lossy(&body).into_owned(),
        Err(StreamableHttpError::ResponseBodyTooLarge { .. }) if has_status => {
            return Err(of_status().into());
        }
        Err(error @ StreamableHttpError::ResponseBodyTooLarge { .. }) => return Err(error),
        Err(_) => "an unreadable body".to_owned(),
    };
    let said = || match serde_json::from_str(&body) {
        Ok(ServerJsonRpcMessage::Error(error)) => Some(error.error),
        _ => None,
    };
    let is_login = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    // Servers of old revisions reject discovery in arbitrary ways.
    if let Some(id) = asks.filter(|_| status.is_client_error() && !is_login) {
        let rejected = || {
            let what = format!("server/discover rejected with HTTP {status}: {body}");
            ErrorData::invalid_request(what, None)
        };
        let message = ServerJsonRpcMessage::error(said().unwrap_or_else(rejected), Some(id));
        return Ok(StreamableHttpPostResponse::Json(message, None));
    }
    if is_json
        && !is_login
        && let Ok(message @ ServerJsonRpcMessage::Error(_)) = serde_json::from_str(&body)
    {
        return Ok(StreamableHttpPostResponse::Json(message, session));
    }
    if has_status {
        return Err(of_status().into());
    }
    let what = format!("HTTP {status}: {body}");
    Err(StreamableHttpError::UnexpectedServerResponse(what.into()))
}

/// The whole body, at most `largest` bytes.
async fn body(mut response: Response, largest: usize) -> Result<Vec<u8>, Failed> {
    let too_large = || StreamableHttpError::ResponseBodyTooLarge { max_size: largest };
    let length = usize::try_from(response.content_length().unwrap_or(0)).unwrap_or(usize::MAX);
    if length > largest {
        return Err(too_large());
    }
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await? {
        if piece.len() > largest - body.len() {
            return Err(too_large());
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// Parses a body. With too many JSON values, an error answers the request instead; `None`: an empty
/// answer to a notification.
fn message(
    body: &[u8],
    request: Option<RequestId>,
) -> Result<Option<ServerJsonRpcMessage>, Failed> {
    if body.len() > PARTS && parts(body) > PARTS {
        let what = format!("an answer of more than {PARTS} values");
        return Ok(request.map(|id| unusable(&what, id)));
    }
    match serde_json::from_slice(body) {
        Ok(message) => Ok(Some(message)),
        Err(_) if request.is_none() => Ok(None),
        Err(error) => {
            let head: String = String::from_utf8_lossy(body).chars().take(200).collect();
            let what = format!("an answer outside the protocol: {error}: {head}");
            Err(StreamableHttpError::UnexpectedServerResponse(what.into()))
        }
    }
}

fn unusable(what: &str, id: RequestId) -> ServerJsonRpcMessage {
    let error = ErrorData::internal_error(format!("the server sent {what}"), None);
    ServerJsonRpcMessage::error(error, Some(id))
}

/// Events of a stream. An oversized event ends it with an error in place of the answer, or rmcp
/// would resend the request.
fn events(
    response: Response,
    largest: usize,
    request: Option<RequestId>,
) -> BoxStream<'static, Result<Sse, SseError>> {
    let pieces = stream::unfold(response, |mut response| async {
        response.chunk().await.transpose().map(|piece| (piece, response))
    });
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let mut size = EventSize::default();
    let fitting = pieces.take_while(move |piece| {
        let fits = piece.as_ref().map_or(true, |piece| size.add(piece) <= largest);
        over.fetch_or(!fits, Ordering::Relaxed);
        ready(fits)
    });
    let told = stream::once(ready(())).filter_map(move |()| {
        let id = request.clone().filter(|_| is_over.load(Ordering::Relaxed));
        let what = format!("an answer of more than {} MiB", largest >> 20);
        let event = id.and_then(|id| serde_json::to_string(&unusable(&what, id)).ok());
        ready(event.map(|data| Ok(Sse::default().data(data))))
    });
    SseStream::from_bytes_stream(fitting).chain(told).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenge_names_its_scope() {
        for (challenge, named) in [
            ("Bearer scope=\"read write\", error=\"x\"", Some("read write")),
            ("Bearer Scope=read,error=x", Some("read")),
            ("Bearer error=x", None),
            ("Bearer scope=\"open", None),
            ("Bearer scope=", None),
        ] {
            assert_eq!(scope(challenge).as_deref(), named, "{challenge}");
        }
    }

    #[test]
    fn unrequested_bodies_may_be_non_messages() {
        assert!(matches!(message(b"{}", None), Ok(None)));
        assert!(message(b"{}", Some(RequestId::Number(1))).is_err());
        let many =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[{}1]}}", "[],".repeat(PARTS));
        assert!(matches!(message(many.as_bytes(), None), Ok(None)));
        let told = message(many.as_bytes(), Some(RequestId::Number(1)));
        assert!(matches!(told, Ok(Some(ServerJsonRpcMessage::Error(_)))));
    }
}
