//! Durations as people type them.

use std::time::Duration;

/// "90m", "1h 30m", "2 hours", "hour". `None`: anything else, or more than a duration can hold.
pub fn span(text: &str) -> Option<Duration> {
    let (mut rest, mut total) = (text.trim(), Duration::ZERO);
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        // Nothing behind the digits: a number without its unit.
        let (number, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit())?);
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let number = if number.is_empty() { 1 } else { number.parse().ok()? };
        let part = Duration::from_secs(seconds(unit)?).checked_mul(number)?;
        total = total.checked_add(part)?;
        rest = after.trim_start();
    }
    Some(total)
}

fn seconds(unit: &str) -> Option<u64> {
    Some(match unit {
        "s" | "sec" | "secs" | "second" | "seconds" => 1,
        "m" | "min" | "mins" | "minute" | "minutes" => 60,
        "h" | "hr" | "hrs" | "hour" | "hours" => 60 * 60,
        "d" | "day" | "days" => 24 * 60 * 60,
        "w" | "week" | "weeks" => 7 * 24 * 60 * 60,
        _ => return None,
    })
}
