//! Schedules in words. Entry functions: [`line()`], [`missed`], [`not_started`].

use std::time::Duration;

use jiff::{Timestamp, tz::TimeZone};

use super::{entry::Entry, starts::NotStarted};
use crate::{
    domain::one_line,
    logic::schedule::{Daily, Planned, When},
};

/// Longest quoted part of a line, in characters.
const QUOTE_MAX: usize = 40;

/// Date and time in `zone`, with its abbreviation: 2026-11-28 21:30 CET.
pub fn at(ms: i64, zone: &TimeZone) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(time) => time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M %Z").to_string(),
        Err(_) => "at no time that a calendar has".to_owned(),
    }
}

/// Id, time and action.
pub fn line(entry: &Entry, zone: &TimeZone) -> String {
    format!("{} · {} · {}", entry.id, when(entry, zone), action(&entry.action))
}

/// Notice of missed firings.
pub fn missed(entry: &Entry, times: u64, zone: &TimeZone) -> String {
    let due = entry.next.map(|due| format!(", due {}", at(due, zone))).unwrap_or_default();
    let why = match entry.when {
        When::Session { .. } => "the session had ended, or I wasn't running",
        When::At(_) | When::Every { .. } | When::Daily(_) => {
            "I wasn't running then, or the clock was set"
        }
    };
    let times = if times == 1 { String::new() } else { format!(" {times} times") };
    format!("Schedule {} missed{times} ({}{due}): {why}.", entry.id, action(&entry.action))
}

/// Notice of a firing whose program was killed as it began.
pub fn cut_off(entry: &Entry, zone: &TimeZone) -> String {
    let due = entry.last.map(|due| format!(", due {}", at(due, zone))).unwrap_or_default();
    let what = action(&entry.action);
    format!("Schedule {} was cut off as it began ({what}{due}); it isn't repeated.", entry.id)
}

/// Notice of a firing that started nothing.
pub fn not_started(entry: &Entry, why: &NotStarted) -> String {
    format!("Schedule {} missed ({}): {why}.", entry.id, action(&entry.action))
}

fn when(entry: &Entry, zone: &TimeZone) -> String {
    let next = entry.next.map(|next| at(next, zone));
    match (&entry.when, next) {
        (When::At(time), _) => at(*time, zone),
        (When::Every { period, .. }, Some(next)) => format!("every {}, next {next}", long(*period)),
        (When::Every { period, .. }, None) => format!("every {}", long(*period)),
        (When::Daily(daily), next) => {
            let Daily { hour, minute, .. } = daily;
            let next = next.map(|next| format!(", next {next}")).unwrap_or_default();
            format!("every {} at {hour:02}:{minute:02}{next}", daily.day())
        }
        (When::Session { after }, Some(next)) => {
            format!("{} into each session, next {next}", long(*after))
        }
        (When::Session { after }, None) => format!("{} into each session", long(*after)),
    }
}

/// The action in a few words.
fn action(planned: &Planned) -> String {
    match planned {
        Planned::Workflow { name, .. } => format!("workflow {name}"),
        Planned::Line { npc, text } => {
            format!("{npc}: \"{}\"", one_line(text, QUOTE_MAX))
        }
    }
}

/// As 1 d 2 h 5 min 10 s, without zeros.
fn long(time: Duration) -> String {
    let seconds = time.as_secs();
    let parts = [
        (seconds / 86_400, "d"),
        (seconds / 3_600 % 24, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, unit)| format!("{count} {unit}")).collect();
    if parts.is_empty() { "0 s".to_owned() } else { parts.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_the_tables_zone() {
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        assert_eq!(at(1_795_337_697_000, &berlin), "2026-11-22 09:54 CET");
        assert_eq!(at(1_795_337_697_000, &TimeZone::UTC), "2026-11-22 08:54 UTC");
    }

    #[test]
    fn periods_are_shown_without_zeros() {
        for (seconds, shown) in [(60, "1 min"), (5_400, "1 h 30 min"), (86_400, "1 d"), (0, "0 s")]
        {
            assert_eq!(long(Duration::from_secs(seconds)), shown);
        }
    }
}
