//! Wall-clock times in a time zone.

use std::str::FromStr;

use jiff::{
    civil::{Date, DateTime, Time},
    tz::{AmbiguousOffset, TimeZone},
};

use crate::domain::Timestamp;

/// "21:30", which is today or tomorrow, or "2026-12-24 20:00", which may have passed.
pub fn moment(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let parts: Vec<&str> = text.split([' ', 't']).filter(|part| !part.is_empty()).collect();
    match *parts.as_slice() {
        [clock] => {
            let today = zone.to_datetime(jiff::Timestamp::from_millisecond(now).ok()?).date();
            let days = [Some(today), today.tomorrow().ok()];
            let time = time(clock)?;
            let all = days.into_iter().flatten().map(|day| moments(day.to_datetime(time), zone));
            all.flatten().flatten().find(|at| *at > now)
        }
        [day, clock] => {
            let all = moments(date(day)?.to_datetime(time(clock)?), zone);
            let ahead = all.into_iter().flatten().find(|at| *at > now);
            ahead.or(all[1])
        }
        _ => None,
    }
}

/// The moments of a wall-clock time: two, in order, if the clocks repeat it, else one, twice.
pub fn moments(at: DateTime, zone: &TimeZone) -> [Option<Timestamp>; 2] {
    let offsets = match zone.to_ambiguous_timestamp(at).offset() {
        AmbiguousOffset::Unambiguous { offset } => [offset; 2],
        // By the clocks before a gap, the time is behind it.
        AmbiguousOffset::Gap { before, .. } => [before; 2],
        AmbiguousOffset::Fold { before, after } => [before, after],
    };
    offsets.map(|offset| offset.to_timestamp(at).ok().map(|at| at.as_millisecond()))
}

/// "21:30".
pub fn time(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':').filter(|(_, minute)| minute.len() == 2)?;
    Time::new(number(hour)?, number(minute)?, 0, 0).ok()
}

fn date(text: &str) -> Option<Date> {
    let (year, rest) = text.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    Date::new(number(year)?, number(month)?, number(day)?).ok()
}

/// Digits alone, without a sign.
fn number<T: FromStr>(digits: &str) -> Option<T> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().ok() } else { None }
}
