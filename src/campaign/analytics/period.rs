//! Months and days as a user writes them, in UTC. Entry functions: [`month`], [`start_of`].

use std::ops::RangeInclusive;

use jiff::{civil::Date, tz::TimeZone};

/// Length of a day, in ms.
const DAY_MS: i64 = 86_400_000;
/// Longest number of days back: ten years.
const DAYS_MAX: i64 = 3_660;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeriodError {
    #[error("invalid month '{0}' (write it like 2026-11)")]
    Month(String),
    #[error(
        "invalid start '{0}' (write a day like 2026-11-01, or days back like 30d, at most {DAYS_MAX}d)"
    )]
    Since(String),
}

/// Days of the month `text` (YYYY-MM), as the ledger compares them.
pub fn month(text: &str) -> Result<RangeInclusive<String>, PeriodError> {
    match day(&format!("{text}-01")) {
        // No month has a later day.
        Some(_) => Ok(format!("{text}-01")..=format!("{text}-31")),
        None => Err(PeriodError::Month(text.to_owned())),
    }
}

/// Unix time in ms of `text`: the start of a day (YYYY-MM-DD), or days before `now` ("30d").
pub fn start_of(text: &str, now: i64) -> Result<i64, PeriodError> {
    let back = text.strip_suffix('d').and_then(|days| days.parse::<i64>().ok());
    match back {
        Some(days) if (0..=DAYS_MAX).contains(&days) => Ok(now - days * DAY_MS),
        Some(_) => Err(PeriodError::Since(text.to_owned())),
        None => day(text).ok_or_else(|| PeriodError::Since(text.to_owned())),
    }
}

fn day(text: &str) -> Option<i64> {
    // jiff also reads times of day and other spellings.
    if text.len() != "YYYY-MM-DD".len() || text.split('-').count() != 3 {
        return None;
    }
    let date: Date = text.parse().ok()?;
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_and_starts_are_read() {
        let november = "2026-11-01".to_owned()..="2026-11-31".to_owned();
        assert_eq!(month("2026-11"), Ok(november));
        assert_eq!(start_of("1970-01-02", 5), Ok(DAY_MS));
        assert_eq!(start_of("1d", DAY_MS + 5), Ok(5));
        assert_eq!(start_of("0d", 5), Ok(5));
    }

    #[test]
    fn wrong_months_and_starts_are_refused() {
        for text in ["", "2026-13", "2026-1", "november", "2026-11-01", "26-11"] {
            assert_eq!(month(text), Err(PeriodError::Month(text.to_owned())));
        }
        for text in ["", "d", "-1d", "9999d", "2026-02-30", "yesterday", "2026-11"] {
            assert_eq!(start_of(text, 5), Err(PeriodError::Since(text.to_owned())));
        }
    }
}
