//! Bounds of the listener; tests lower them.

use std::time::Duration;

/// Least average pace of an answer's reader, in bytes per second.
const PACE: u32 = 16 * 1024;
/// Time before the pace counts.
const GRACE: Duration = Duration::from_secs(30);

#[derive(Clone, Debug)]
pub struct Bounds {
    /// Open sockets, all in all.
    pub sockets: usize,
    /// Time for the head of a request, and for a kept connection until its next one.
    pub head_time: Duration,
    /// Bytes of a request's line and headers.
    pub head: usize,
    /// Headers of a request.
    pub headers: usize,
    /// Bytes of the body of a request with a token.
    pub body: usize,
    /// Bytes of the body of a request without one.
    pub open_body: usize,
    /// Time for the whole body.
    pub body_time: Duration,
    /// Longest wait for a client to take more of an answer.
    pub write_time: Duration,
    /// Nesting of JSON in a body; serde's own limit is 128.
    pub depth: usize,
    /// Values of JSON in a body, at 36 bytes or more of memory each.
    pub values: usize,
    /// Requests of a holder in a second, on average.
    pub rate: u32,
    /// Requests of a holder at once after a pause.
    pub burst: u32,
    /// Requests of a holder under way at the same time: far fewer than sockets, so that one token
    /// leaves places to others.
    pub running: usize,
    /// Wrong tokens in a minute that are answered 401; further ones are answered 429.
    pub wrong: usize,
    /// Tokens that are looked up at the same time; others wait.
    pub lookups: usize,
    /// Time for requests under way when the listener ends, a second less than its callers have.
    pub end: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            sockets: 256,
            head_time: Duration::from_secs(5),
            head: 16 * 1024,
            headers: 64,
            body: 1024 * 1024,
            open_body: 64 * 1024,
            body_time: Duration::from_secs(10),
            write_time: Duration::from_secs(30),
            depth: 64,
            values: 20_000,
            rate: 50,
            burst: 100,
            running: 16,
            wrong: 10,
            lookups: 4,
            end: Duration::from_secs(4),
        }
    }
}

/// Longest time that a reader may need for `bytes` of an answer.
pub fn time_for(bytes: usize) -> Duration {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    GRACE + Duration::from_secs(u64::from(bytes / PACE))
}
