//! Times that follow the wall clock. Entry type: [`Daily`].

use std::iter;

use jiff::{civil::Time, tz::TimeZone};
use serde::{Deserialize, Serialize};

use super::moment::{moments, time};
use crate::domain::Timestamp;

const DAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const DAY_MS: i64 = 24 * 60 * 60_000;
/// Days looked at before and after a moment: a week, and the day that a skipped time moves into.
const REACH: usize = 8;

/// A time of each day, or of one day of the week. If the clocks skip it, it moves by as much as
/// they do; if they repeat it, the first one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Daily {
    pub hour: i8,
    pub minute: i8,
    /// From 0, Monday. `None`: each day.
    pub weekday: Option<i8>,
}

impl Daily {
    /// Reads "day at 20:00", "friday 19:30", "fri 19:30".
    pub fn read(text: &str) -> Option<Self> {
        let (day, clock) = text.split_once([' ', '\t'])?;
        let clock = clock.trim();
        let time = time(clock.strip_prefix("at ").unwrap_or(clock).trim())?;
        let weekday = if day == "day" { None } else { Some(weekday(day)?) };
        Some(Self { hour: time.hour(), minute: time.minute(), weekday })
    }

    /// Name of its day of the week.
    pub fn day(&self) -> &'static str {
        let Some(weekday) = self.weekday else { return "day" };
        let name = usize::try_from(weekday).ok().and_then(|at| DAYS.get(at));
        name.copied().unwrap_or("unknown day")
    }

    /// The first time later than `after`.
    pub fn next(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        self.near(after, zone)?.find(|at| *at > after)
    }

    /// The last time from `next` until `now`, and their number.
    pub fn passed(&self, next: Timestamp, now: Timestamp, zone: &TimeZone) -> (Timestamp, u64) {
        let near = self.near(now, zone);
        let last = near.and_then(|near| near.take_while(|at| *at <= now).last());
        // A time of another zone, if that of the table has changed since.
        let last = last.unwrap_or(next).max(next);
        let step = if self.weekday.is_some() { 7 * DAY_MS } else { DAY_MS };
        // A day may be an hour shorter or longer.
        let steps = last.saturating_sub(next).saturating_add(step / 2) / step;
        (last, steps.unsigned_abs() + 1)
    }

    /// Its times around `at`, in order.
    fn near(&self, at: Timestamp, zone: &TimeZone) -> Option<impl Iterator<Item = Timestamp>> {
        let time = Time::new(self.hour, self.minute, 0, 0).ok()?;
        let today = zone.to_datetime(jiff::Timestamp::from_millisecond(at).ok()?).date();
        let first = (0..REACH).try_fold(today, |day, _| day.yesterday()).ok()?;
        let days = iter::successors(Some(first), |day| day.tomorrow().ok()).take(2 * REACH + 1);
        let (weekday, zone) = (self.weekday, zone.clone());
        let days = days.filter(move |day| {
            weekday.is_none_or(|it| day.weekday().to_monday_zero_offset() == it)
        });
        Some(days.filter_map(move |day| moments(day.to_datetime(time), &zone)[0]))
    }
}

/// "friday", "fridays" or its beginning.
fn weekday(text: &str) -> Option<i8> {
    let is_it = |name: &str| {
        text.strip_suffix('s') == Some(name) || (text.len() >= 3 && name.starts_with(text))
    };
    let at = DAYS.iter().position(|name| is_it(name))?;
    i8::try_from(at).ok()
}
