//! Reasons for errors that services with a model share.

use std::time::Duration;

use crate::provider::{Kind, sockets::Reason};

pub const GAVE_UP: Reason = (Kind::Timeout, "the service gave up waiting", "try again");
pub const FAILED: Reason = (Kind::Unavailable, "the service failed", "try again");
pub const NO_ENDPOINT: Reason = (Kind::Protocol, "not a WebSocket endpoint", "check base_url");

/// The account has too many streams open.
pub const fn crowded(retry_after: Option<Duration>) -> Reason {
    let fix = "set max_streams to what the plan gives, or raise the plan";
    (Kind::Crowded { retry_after }, "too many streams at once", fix)
}

/// The service has too many requests of all accounts.
pub const fn busy(retry_after: Option<Duration>) -> Reason {
    let fix = "try again in a moment, or raise the plan";
    (Kind::RateLimited { retry_after }, "the service is busy", fix)
}
