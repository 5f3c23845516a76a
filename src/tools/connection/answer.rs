//! Converts servers' answers and errors into the tool host's terms. Links are not fetched.

use std::{error::Error, io, sync::Arc};

use base64::Engine;
use rmcp::{
    model::{CallToolResult, ContentBlock, ErrorCode, ErrorData, ResourceContents},
    service::ServiceError,
    transport::{
        DynamicTransportError,
        streamable_http_client::{
            AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpError,
        },
    },
};

use crate::{
    domain::one_line,
    tools::{Attachment, CallError, CallErrorKind, CallOutput, Part},
};

/// Longest error text passed on, in characters.
const LONGEST: usize = 2_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It rejects our credentials, or wants some.
    Unauthorized,
    Gone,
    Other(String),
}

/// Converts a tool's result; an error reported by the tool is `Err`.
pub fn output(result: CallToolResult) -> Result<CallOutput, CallError> {
    let parts = result.content.into_iter().filter_map(part).collect();
    let output =
        CallOutput { parts, structured: result.structured_content, ..CallOutput::default() };
    match result.is_error {
        Some(true) => Err(CallError::new(CallErrorKind::Tool, output.for_model())),
        _ => Ok(output),
    }
}

fn part(block: ContentBlock) -> Option<Part> {
    Some(match block {
        ContentBlock::Text(text) => Part::Text(text.text),
        ContentBlock::Image(image) => media(image.mime_type, &image.data),
        ContentBlock::Audio(audio) => media(audio.mime_type, &audio.data),
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                Part::Resource { uri, text }
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                match mime_type {
                    Some(mime) if mime.starts_with("image/") || mime.starts_with("audio/") => {
                        media(mime, &blob)
                    }
                    _ => Part::Link { name: "a file".to_owned(), uri },
                }
            }
            _ => return None,
        },
        ContentBlock::ResourceLink(link) => Part::Link { uri: link.uri, name: link.name },
        _ => return None,
    })
}

fn media(mime: String, data: &str) -> Part {
    let mime = one_line(&mime, 100);
    match base64::engine::general_purpose::STANDARD.decode(data.trim()) {
        Ok(bytes) => {
            Part::Media(Attachment { mime, bytes: Arc::from(bytes), caption: None, asked_by: None })
        }
        Err(_) => Part::Text(format!("[{mime}, which cannot be decoded]")),
    }
}

/// Error of a call without an answer.
pub fn failure(server: &str, error: &ServiceError) -> CallError {
    use CallErrorKind::{Connection, InvalidArguments, Protocol, Timeout};
    let new = |kind, what: String| CallError::new(kind, format!("'{server}' {what}"));
    match error {
        ServiceError::McpError(error) => {
            let text = one_line(&error.message, LONGEST);
            match error.code {
                ErrorCode::INVALID_PARAMS => new(InvalidArguments, format!("refused: {text}")),
                _ => new(Protocol, format!("answered with an error: {text}")),
            }
        }
        ServiceError::TransportSend(error) => {
            let (refusal, kind) = transport(error);
            match refusal {
                Refusal::Unauthorized => new(kind, unauthorized(server)),
                Refusal::Gone => new(kind, "is away".to_owned()),
                Refusal::Other(text) => new(kind, format!("cannot be used: {text}")),
            }
        }
        ServiceError::TransportClosed => new(Connection, "has ended".to_owned()),
        ServiceError::Cancelled { .. } => new(Connection, "dropped the call".to_owned()),
        ServiceError::Timeout { .. } => new(Timeout, "did not answer in time".to_owned()),
        other => new(Protocol, format!("broke the protocol: {other}")),
    }
}

/// Advice on a server that rejects our key.
pub fn unauthorized(server: &str) -> String {
    format!("wants a login (glyphoxa mcp login {server}, or check its auth in glyphoxa.yaml)")
}

pub fn reason(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(ErrorData { message, .. }) => one_line(message, LONGEST),
        ServiceError::TransportSend(error) => match transport(error).0 {
            Refusal::Unauthorized => "it wants a login".to_owned(),
            Refusal::Gone => "it is away".to_owned(),
            Refusal::Other(text) => text,
        },
        ServiceError::TransportClosed => "it has ended".to_owned(),
        other => other.to_string(),
    }
}

/// A transport error as a refusal, and as the kind of a call's failure.
pub fn transport(error: &DynamicTransportError) -> (Refusal, CallErrorKind) {
    let mut source: Option<&(dyn Error + 'static)> = Some(error.error.as_ref());
    let mut found = None;
    let (mut deepest, mut has_ended) = (String::new(), false);
    while let Some(error) = source {
        if error.is::<AuthRequiredError>() || error.is::<InsufficientScopeError>() {
            return (Refusal::Unauthorized, CallErrorKind::Connection);
        }
        if let Some(error) = error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            if let StreamableHttpError::HttpStatus(HttpStatusError { status, .. }) = error {
                let kind = match status {
                    429 => CallErrorKind::RateLimited,
                    _ => CallErrorKind::Connection,
                };
                return (Refusal::Other(format!("it answered with HTTP {status}")), kind);
            }
            found = Some(http(error));
        }
        let broken = error.downcast_ref::<io::Error>().map(io::Error::kind);
        has_ended |= broken == Some(io::ErrorKind::BrokenPipe);
        deepest = error.to_string();
        source = error.source();
    }
    let refusal = match found.flatten() {
        Some(refusal) => refusal,
        // The program ended before it could be written to.
        None if has_ended => Refusal::Gone,
        None => Refusal::Other(one_line(&deepest, LONGEST)),
    };
    let is_answer = matches!(&refusal, Refusal::Other(text) if text.starts_with("its answer"));
    (refusal, if is_answer { CallErrorKind::Protocol } else { CallErrorKind::Connection })
}

/// Message for a known error; `None`: the innermost error explains it best.
fn http(error: &StreamableHttpError<reqwest::Error>) -> Option<Refusal> {
    Some(match error {
        StreamableHttpError::UnexpectedContentType(kind) => {
            let kind = one_line(kind.as_deref().unwrap_or("none"), 100);
            let what =
                format!("its answer is of type '{kind}' (is this the address of an MCP server?)");
            Refusal::Other(what)
        }
        StreamableHttpError::ResponseBodyTooLarge { max_size } => {
            Refusal::Other(format!("its answer is larger than {} MiB", max_size >> 20))
        }
        StreamableHttpError::UnexpectedServerResponse(text)
            if text.starts_with("HTTP 401") || text.starts_with("HTTP 403") =>
        {
            Refusal::Unauthorized
        }
        StreamableHttpError::UnexpectedServerResponse(text) => {
            let text = one_line(text, 200);
            Refusal::Other(format!("{text} (is this the address of an MCP server?)"))
        }
        StreamableHttpError::TransportChannelClosed => Refusal::Gone,
        StreamableHttpError::Client(error) if error.is_connect() => {
            Refusal::Other(format!("cannot connect ({})", innermost(error)))
        }
        StreamableHttpError::Client(error) if error.is_timeout() => {
            Refusal::Other("cannot connect in time".to_owned())
        }
        _ => return None,
    })
}

fn innermost(error: &dyn Error) -> String {
    let mut error = error;
    while let Some(inner) = error.source() {
        error = inner;
    }
    error.to_string()
}
