//! Requests that are refused before a route sees them. Entry type: [`Refusal`].

use axum::{
    http::{
        HeaderValue, StatusCode,
        header::{ALLOW, CONNECTION, RETRY_AFTER, UPGRADE, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("a request needs exactly one Host (send the name or address that you connect to)")]
    NoHost,
    #[error("unknown host {0:?} (use localhost or 127.0.0.1, or list it under web.hosts)")]
    Host(String),
    #[error(
        "origin {0:?} is not this server (open the page from it, or list its name under web.hosts)"
    )]
    Origin(String),
    #[error("method not allowed (use GET, HEAD, POST or DELETE)")]
    Method,
    #[error(
        "no token (send it as 'Authorization: Bearer TOKEN', never in the address; 'glyphoxa token \
         create' makes one)"
    )]
    NoToken,
    #[error("unknown, revoked or expired token (make another with 'glyphoxa token create')")]
    WrongToken,
    #[error("too many wrong tokens (wait a minute; a valid token is accepted meanwhile)")]
    ManyWrong,
    #[error("too many requests (send at most {0} a second)")]
    TooFast(u32),
    #[error("too many requests at once (wait until one of {0} is answered)")]
    TooMany(usize),
    #[error(
        "figures are for the operator of this program (make a token with 'glyphoxa token create \
         --role dm', without --guild)"
    )]
    NotOperator,
    #[error("tokens cannot be looked up now (try again in a minute)")]
    Memory,
    #[error("the body is longer than {0} bytes (send less)")]
    Long(usize),
    #[error("the body did not arrive in time (send it without pauses)")]
    Late,
    #[error("the body broke off (send it again)")]
    Broken,
    #[error("JSON nested deeper than {0} levels (send it flatter)")]
    Deep(usize),
    #[error("JSON with more than {0} values (send fewer)")]
    Large(usize),
    #[error("nothing is at this address (the MCP server is at /mcp)")]
    Unknown,
    #[error("the body is not JSON (send 'Content-Type: application/json')")]
    MediaType,
    #[error("invalid body (reload the page)")]
    Unreadable,
    #[error(
        "this link was used, is older than ten minutes, or is unknown (press Enter where glyphoxa \
         rehearse runs, and open the new one)"
    )]
    UsedLink,
    #[error(
        "this browser has no valid pass (press Enter where glyphoxa rehearse runs, and open the new \
         link)"
    )]
    NoPass,
    #[error("a socket needs an Origin (open the page in a browser)")]
    NoOrigin,
    #[error("this is a WebSocket of version 13 (open it as one)")]
    NoSocket,
    #[error("all places at the table are taken (close one of {0} pages)")]
    ManyPages(usize),
}

impl Refusal {
    pub const fn status(&self) -> StatusCode {
        match self {
            Self::NoHost | Self::Broken | Self::Deep(_) | Self::Large(_) | Self::Unreadable => {
                StatusCode::BAD_REQUEST
            }
            Self::Host(_) => StatusCode::MISDIRECTED_REQUEST,
            Self::Origin(_) | Self::NoOrigin | Self::NotOperator => StatusCode::FORBIDDEN,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::NoToken | Self::WrongToken | Self::UsedLink | Self::NoPass => {
                StatusCode::UNAUTHORIZED
            }
            Self::ManyWrong | Self::TooFast(_) | Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Memory | Self::ManyPages(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::NoSocket => StatusCode::UPGRADE_REQUIRED,
            Self::Long(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Late => StatusCode::REQUEST_TIMEOUT,
            Self::Unknown => StatusCode::NOT_FOUND,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status(), format!("{self}\n")).into_response();
        let extra = match self {
            Self::Method => Some((ALLOW, "GET, HEAD, POST, DELETE")),
            Self::NoToken => Some((WWW_AUTHENTICATE, "Bearer realm=\"glyphoxa\"")),
            Self::WrongToken => {
                Some((WWW_AUTHENTICATE, "Bearer realm=\"glyphoxa\", error=\"invalid_token\""))
            }
            Self::ManyWrong | Self::Memory => Some((RETRY_AFTER, "60")),
            Self::TooFast(_) | Self::TooMany(_) => Some((RETRY_AFTER, "1")),
            Self::ManyPages(_) => Some((RETRY_AFTER, "5")),
            Self::NoSocket => Some((UPGRADE, "websocket")),
            // The rest of the body would be taken for another request.
            Self::Long(_) | Self::Late | Self::Broken => Some((CONNECTION, "close")),
            Self::NoHost
            | Self::Host(_)
            | Self::Origin(_)
            | Self::Deep(_)
            | Self::Large(_)
            | Self::Unknown
            | Self::NotOperator
            | Self::MediaType
            | Self::Unreadable
            | Self::UsedLink
            | Self::NoPass
            | Self::NoOrigin => None,
        };
        if let Some((name, value)) = extra {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}
