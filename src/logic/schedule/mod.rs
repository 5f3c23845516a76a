//! Times of schedules: reading them, and deciding what is due.
//!
//! [`parse`] reads a [`When`] from what a game master types, in the table's time zone. If the clocks
//! skip a time, it moves by as much as they do; if they repeat it, the first one ahead counts.
//! Periods count elapsed time: "every 24h from 20:00" is at 21:00 once the clocks went forward, and
//! "every day at 20:00" stays at 20:00.
//!
//! [`When::due`] decides by the wall clock. A clock set forward passes times, which are then missed;
//! one set back only delays, as the stored next time stays. Times are Unix time in ms.

mod daily;
mod moment;
mod span;

#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::daily::Daily;
use self::{moment::moment, span::span};
use crate::domain::{Timestamp, one_line};

/// Shortest period.
pub const PERIOD_MIN: Duration = Duration::from_secs(60);
/// Longest period, and longest time ahead that is given as a duration.
pub const SPAN_MAX: Duration = Duration::from_secs(366 * 24 * 60 * 60);
/// A firing this late is on time: the store or a busy machine may have delayed it.
const LATE_MAX_MS: i64 = 60_000;
/// Longest part of a refused text that is shown, in characters.
const SHOWN_MAX: usize = 60;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    At(Timestamp),
    Every {
        /// The first time.
        from: Timestamp,
        /// At least [`PERIOD_MIN`]; a shorter one counts as that.
        period: Duration,
    },
    /// At a time of the wall clock.
    Daily(Daily),
    /// In each session, this long after its beginning.
    Session {
        after: Duration,
    },
}

/// Action of a schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Planned {
    Workflow { name: String, inputs: Value },
    Line { npc: String, text: String },
}

/// A schedule whose next time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// It fires once now; otherwise the missed times are only reported.
    pub fires: bool,
    /// Times that passed without firing.
    pub missed: u64,
    /// Its next time.
    pub then: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhenError {
    #[error(
        "invalid time '{0}' (use 'at 21:30', 'at 2026-12-24 20:00', 'in 90m', 'every 15m', 'every \
         day at 20:00', 'every friday 19:30' or 'session +20m')"
    )]
    Form(String),
    #[error("'{0}' is too often (use 1 minute or more)")]
    TooOften(String),
    #[error("'{0}' is too long (use at most 366 days)")]
    TooLong(String),
    #[error("'{0}' has passed (use a later time)")]
    Past(String),
}

impl When {
    /// The first time later than `after`. `None`: it has none, or waits for a session.
    pub fn next(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        match self {
            Self::At(at) => Some(*at).filter(|at| *at > after),
            Self::Every { from, .. } if *from > after => Some(*from),
            Self::Every { from, period } => {
                let period = millis((*period).max(PERIOD_MIN));
                let passed = after.checked_sub(*from)? / period;
                from.checked_add((passed + 1).checked_mul(period)?)
            }
            Self::Daily(daily) => daily.next(after, zone),
            Self::Session { .. } => None,
        }
    }

    /// Its time in a session that began at `began`. `None`: it does not wait for sessions.
    pub fn in_session(&self, began: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Session { after } => began.checked_add(millis(*after)),
            Self::At(_) | Self::Every { .. } | Self::Daily(_) => None,
        }
    }

    /// Decides at `now` about a schedule with the next time `next`; `None`: it is not due yet.
    /// Missed times never fire, or, with `catch_up`, once for all of them.
    pub fn due(
        &self,
        next: Timestamp,
        now: Timestamp,
        catch_up: bool,
        zone: &TimeZone,
    ) -> Option<Due> {
        if now < next {
            return None;
        }
        let passed = now.saturating_sub(next);
        let (late, times) = match self {
            Self::At(_) | Self::Session { .. } => (passed, 1),
            Self::Every { period, .. } => {
                let period = millis((*period).max(PERIOD_MIN));
                (passed % period, (passed / period).unsigned_abs() + 1)
            }
            Self::Daily(daily) => {
                let (last, times) = daily.passed(next, now, zone);
                (now.saturating_sub(last), times)
            }
        };
        let fires = catch_up || late <= LATE_MAX_MS;
        let then = match self {
            Self::Every { .. } | Self::Daily(_) => self.next(now, zone),
            Self::At(_) | Self::Session { .. } => None,
        };
        Some(Due { fires, missed: times - u64::from(fires), then })
    }

    /// True if it never fires again after a firing that left it the next time `then`.
    pub const fn is_over(&self, then: Option<Timestamp>) -> bool {
        then.is_none() && !matches!(self, Self::Session { .. })
    }
}

/// Reads a time as typed. `now` and wall-clock times in `zone` decide which day is meant.
pub fn parse(text: &str, now: Timestamp, zone: &TimeZone) -> Result<When, WhenError> {
    let shown = one_line(text.trim(), SHOWN_MAX);
    let text = text.trim().to_lowercase();
    let form = || WhenError::Form(shown.clone());
    let (kind, rest) = text.split_once([' ', '\t', ':']).ok_or_else(form)?;
    let rest = rest.trim();
    let ahead = |text: &str| {
        let at = moment(text, now, zone).ok_or_else(form)?;
        if at > now { Ok(at) } else { Err(WhenError::Past(shown.clone())) }
    };
    let long = |text: &str| {
        let span = span(text).ok_or_else(form)?;
        if span <= SPAN_MAX { Ok(span) } else { Err(WhenError::TooLong(shown.clone())) }
    };
    match kind {
        "at" => Ok(When::At(ahead(rest)?)),
        "in" => Ok(When::At(now.saturating_add(millis(long(rest)?)))),
        "every" => {
            if let Some(daily) = Daily::read(rest) {
                return Ok(When::Daily(daily));
            }
            let (period, from) = match rest.split_once(" from ") {
                Some((period, from)) => (long(period)?, Some(ahead(from.trim())?)),
                None => (long(rest)?, None),
            };
            if period < PERIOD_MIN {
                return Err(WhenError::TooOften(shown.clone()));
            }
            let from = from.unwrap_or_else(|| now.saturating_add(millis(period)));
            Ok(When::Every { from, period })
        }
        "session" => Ok(When::Session { after: long(rest.strip_prefix('+').unwrap_or(rest))? }),
        _ => Err(form()),
    }
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}
