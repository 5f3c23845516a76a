//! Replacements for messages that are too long or have too many values. **Never**: parses a message
//! as a whole.

use serde_json::json;
use sse_stream::Sse;

/// Most values in a message: a value of one or two bytes of JSON takes some fifty times as much
/// memory.
pub const PARTS: usize = 500_000;
/// Longest reconnection delay a server may request for a stream, in ms.
const WAIT_MS: u64 = 60_000;
/// Bytes of head and tail of an overlong message in which its request id is searched.
pub const KEPT: usize = 512;

/// Number of values in JSON, at most one too few; empty lists and objects may count twice.
pub fn parts(json: &[u8]) -> usize {
    let (mut count, mut is_text, mut is_escaped) = (0, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b',' | b'[' | b'{' if !is_text => count += 1,
            _ => {}
        }
    }
    count
}

/// Id of the request a broken line seems to answer.
pub fn answered(line: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(line);
    if !text.trim_start().starts_with('{') && line.len() < KEPT || text.contains("\"method\"") {
        return None;
    }
    let (_, after) = text.split_once("\"id\"")?;
    let digits = after.trim_start().strip_prefix(':')?.trim_start();
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end)?.parse().ok()
}

/// The event, or an error in place of an answer with too many values. Bounds the requested
/// reconnection delay.
pub fn bounded(mut event: Sse) -> Sse {
    event.retry = event.retry.map(|wait| wait.min(WAIT_MS));
    let Some(data) = event.data.as_deref().map(str::as_bytes) else { return event };
    // Shorter ones cannot contain as many.
    if data.len() <= PARTS || parts(data) <= PARTS {
        return event;
    }
    let head = data.get(..KEPT).and_then(answered);
    let tail = || data.get(data.len() - KEPT..).and_then(answered);
    let message = format!("the server sent an answer of more than {PARTS} values");
    event.data = head.or_else(tail).map(|id| {
        let error = json!({"code": -32603, "message": message});
        json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
    });
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_that_an_event_asks_for_is_bounded() {
        for (asked, waited) in [(0, 0), (3_000, 3_000), (u64::MAX, 60_000)] {
            assert_eq!(bounded(Sse::default().retry(asked)).retry, Some(waited));
        }
    }

    #[test]
    fn event_of_very_many_values_becomes_an_error() {
        let event = |values: &str| {
            let data = format!("{{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":[{values}1]}}");
            bounded(Sse::default().data(data)).data.expect("data")
        };
        assert!(event("[],").contains("[[],1]"));
        let replaced = event(&"[],".repeat(600_000));
        assert!(replaced.contains("\"id\":4,\"error\""), "{replaced:.200}");
        let words = format!("\"{}\",", "[,".repeat(600_000));
        assert!(event(&words).len() > 1_000_000, "words are one value");
    }
}
