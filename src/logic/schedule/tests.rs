use proptest::prelude::*;

use super::*;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

fn at(utc: &str) -> Timestamp {
    utc.parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

fn berlin() -> TimeZone {
    TimeZone::get("Europe/Berlin").unwrap()
}

/// Reads `text` at the moment `now` in Berlin.
fn read(text: &str, now: &str) -> Result<When, WhenError> {
    parse(text, at(now), &berlin())
}

fn every(minutes: u64, from: Timestamp) -> When {
    When::Every { from, period: Duration::from_secs(minutes * 60) }
}

fn daily(hour: i8, minute: i8, weekday: Option<i8>) -> When {
    When::Daily(Daily { hour, minute, weekday })
}

#[test]
fn typed_times_are_understood() {
    let now = "2026-11-28T19:00:00Z";
    let later = |ms: i64| at(now) + ms;
    for (text, expected) in [
        ("at 21:30", When::At(at("2026-11-28T20:30:00Z"))),
        ("At: 9:05", When::At(at("2026-11-29T08:05:00Z"))),
        ("at 20:00", When::At(at("2026-11-29T19:00:00Z"))),
        ("at 2026-12-24 20:00", When::At(at("2026-12-24T19:00:00Z"))),
        ("at 2026-12-24T20:00", When::At(at("2026-12-24T19:00:00Z"))),
        ("in 90m", When::At(later(90 * MINUTE))),
        ("in 1h 30 minutes", When::At(later(90 * MINUTE))),
        ("every 15m", every(15, later(15 * MINUTE))),
        ("every hour", every(60, later(HOUR))),
        ("every 24h from 20:30", every(24 * 60, later(HOUR / 2))),
        ("every day at 20:00", daily(20, 0, None)),
        ("every day 9:05", daily(9, 5, None)),
        ("every Friday 19:30", daily(19, 30, Some(4))),
        ("every mondays at 7:00", daily(7, 0, Some(0))),
        ("every day", every(24 * 60, later(24 * HOUR))),
        ("session +20m", When::Session { after: Duration::from_secs(20 * 60) }),
        ("session: 0m", When::Session { after: Duration::ZERO }),
    ] {
        assert_eq!(read(text, now), Ok(expected), "{text}");
    }
}

#[test]
fn unclear_times_are_refused() {
    let now = "2026-11-28T19:00:00Z";
    for text in [
        "",
        "21:30",
        "at",
        "at 25:00",
        "at 21:5",
        "at -1:30",
        "at 2026-02-30 20:00",
        "in",
        "in 5",
        "in 1h30",
        "in -5m",
        "in 99999999999m",
        "every day 24:00",
        "every da 20:00",
        "every day at",
        "every moonday 20:00",
        "session",
        "noon 12:00",
    ] {
        assert!(
            matches!(read(text, now), Err(WhenError::Form(_))),
            "{text}: {:?}",
            read(text, now)
        );
    }
    let shown = |text: &str| text.to_owned();
    for (text, expected) in [
        ("every 59s", WhenError::TooOften(shown("every 59s"))),
        ("every 0m", WhenError::TooOften(shown("every 0m"))),
        ("in 367 days", WhenError::TooLong(shown("in 367 days"))),
        ("at 2026-11-28 20:00", WhenError::Past(shown("at 2026-11-28 20:00"))),
        (
            "every 1h from 2026-11-28 19:59",
            WhenError::Past(shown("every 1h from 2026-11-28 19:59")),
        ),
    ] {
        assert_eq!(read(text, now), Err(expected), "{text}");
    }
    let long = read(&format!("at\u{202e} {}", "x".repeat(500)), now).unwrap_err().to_string();
    assert!(long.len() < 300 && !long.contains('\u{202e}'), "{long}");
}

/// On 2026-03-29 in Berlin, 03:00 follows 01:59.
#[test]
fn skipped_time_moves_with_the_clocks() {
    let evening = "2026-03-28T22:00:00Z";
    let half_past = |utc: &str| Ok(When::At(at(utc)));
    assert_eq!(read("at 01:30", evening), half_past("2026-03-29T00:30:00Z"));
    assert_eq!(read("at 02:30", evening), half_past("2026-03-29T01:30:00Z"));
    assert_eq!(read("at 03:30", evening), half_past("2026-03-29T01:30:00Z"));
    assert_eq!(read("at 2026-03-29 02:30", evening), half_past("2026-03-29T01:30:00Z"));
    assert_eq!(read("at 20:00", evening), half_past("2026-03-29T18:00:00Z"));
    // Durations count what passes.
    assert_eq!(read("in 3h", evening), half_past("2026-03-29T01:00:00Z"));
}

/// On 2026-10-25 in Berlin, 02:00 follows 02:59 once.
#[test]
fn repeated_time_is_the_first_one_ahead() {
    let half_past = |utc: &str| Ok(When::At(at(utc)));
    for (now, expected) in [
        ("2026-10-24T22:00:00Z", "2026-10-25T00:30:00Z"),
        ("2026-10-25T00:40:00Z", "2026-10-25T01:30:00Z"),
        ("2026-10-25T01:40:00Z", "2026-10-26T01:30:00Z"),
    ] {
        assert_eq!(read("at 02:30", now), half_past(expected), "{now}");
    }
    let second = read("at 2026-10-25 02:30", "2026-10-25T00:40:00Z");
    assert_eq!(second, half_past("2026-10-25T01:30:00Z"));
}

#[test]
fn next_time_follows_the_given_one() {
    let (once, often) = (When::At(5), every(15, 7));
    assert_eq!((once.next(4, &TimeZone::UTC), once.next(5, &TimeZone::UTC)), (Some(5), None));
    let period = 15 * MINUTE;
    for (after, expected) in [(0, 7), (6, 7), (7, 7 + period), (period, 7 + period)] {
        assert_eq!(often.next(after, &TimeZone::UTC), Some(expected), "{after}");
    }
    assert_eq!(every(15, 7).next(i64::MAX, &TimeZone::UTC), None);
    let session = When::Session { after: Duration::from_secs(60) };
    assert_eq!((session.next(0, &TimeZone::UTC), session.in_session(9)), (None, Some(9 + MINUTE)));
    assert_eq!((once.in_session(9), often.in_session(9)), (None, None));
    assert!(once.is_over(None) && !session.is_over(None) && !often.is_over(Some(7)));
}

#[test]
fn missed_times_are_reported_not_fired() {
    let due = |fires, missed, then| Some(Due { fires, missed, then });
    let once = When::At(0);
    assert_eq!(once.due(0, -1, false, &TimeZone::UTC), None);
    assert_eq!(once.due(0, 0, false, &TimeZone::UTC), due(true, 0, None));
    assert_eq!(
        once.due(0, MINUTE, false, &TimeZone::UTC),
        due(true, 0, None),
        "a minute late is on time"
    );
    assert_eq!(once.due(0, MINUTE + 1, false, &TimeZone::UTC), due(false, 1, None));
    let often = every(15, 0);
    let (quarter, now) = (15 * MINUTE, HOUR + 5 * MINUTE);
    assert_eq!(often.due(quarter, now, false, &TimeZone::UTC), due(false, 4, Some(5 * quarter)));
    assert_eq!(
        often.due(quarter, HOUR + 1, false, &TimeZone::UTC),
        due(true, 3, Some(5 * quarter))
    );
    let session = When::Session { after: Duration::ZERO };
    assert_eq!(session.due(0, HOUR, false, &TimeZone::UTC), due(false, 1, None));
}

#[test]
fn catching_up_fires_once() {
    let due = |missed, then| Some(Due { fires: true, missed, then });
    assert_eq!(When::At(0).due(0, 9 * HOUR, true, &TimeZone::UTC), due(0, None));
    let often = every(15, 0);
    assert_eq!(often.due(0, HOUR + 5 * MINUTE, true, &TimeZone::UTC), due(4, Some(75 * MINUTE)));
}

#[derive(Default)]
struct Evening {
    fired: Vec<Timestamp>,
    missed: u64,
}

/// A program wakes each minute of four hours; after one, its clock is set by `step`.
fn evening(when: &When, step: i64) -> Evening {
    let (mut clock, mut next) = (0, when.next(0, &TimeZone::UTC));
    let mut evening = Evening::default();
    for minute in 0..240 {
        clock += if minute == 60 { MINUTE + step } else { MINUTE };
        if let Some(at) = next
            && let Some(due) = when.due(at, clock, false, &TimeZone::UTC)
        {
            evening.fired.extend(due.fires.then_some(at));
            evening.missed += due.missed;
            next = due.then;
        }
    }
    evening
}

#[test]
fn clock_set_either_way_fires_nothing_twice() {
    let (often, once) = (every(15, 15 * MINUTE), When::At(90 * MINUTE));
    // Forward, four times pass at once, of which only the last is on time. Back, the bells are
    // silent for the hour that comes again.
    for (step, fired, missed) in [(0, 16, 0), (HOUR, 17, 3), (-HOUR, 12, 0)] {
        let mut evening = evening(&often, step);
        assert_eq!((evening.fired.len(), evening.missed), (fired, missed), "{step}");
        evening.fired.dedup();
        assert_eq!(evening.fired.len(), fired, "{step}");
    }
    for (step, fired, missed) in [(0, 1, 0), (HOUR, 0, 1), (-HOUR, 1, 0)] {
        let evening = evening(&once, step);
        assert_eq!((evening.fired.len(), evening.missed), (fired, missed), "{step}");
    }
}

/// The times that follow `from` in Berlin.
fn following(when: &When, from: &str, expected: &[&str]) {
    let mut last = at(from);
    for time in expected {
        last = when.next(last, &berlin()).unwrap();
        assert_eq!(last, at(time), "{when:?} {time}");
    }
}

#[test]
fn daily_time_keeps_the_wall_clock() {
    let (evening, early) = (daily(20, 0, None), daily(2, 30, None));
    let spring = ["2026-03-28T19:00:00Z", "2026-03-29T18:00:00Z", "2026-03-30T18:00:00Z"];
    following(&evening, "2026-03-28T18:00:00Z", &spring);
    // Skipped: an hour later. Repeated: the first one.
    let spring = ["2026-03-28T01:30:00Z", "2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"];
    following(&early, "2026-03-28T00:00:00Z", &spring);
    let autumn = ["2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"];
    following(&early, "2026-10-24T00:00:00Z", &autumn);
    following(&early, "2026-10-25T00:40:00Z", &["2026-10-26T01:30:00Z"]);
    let fridays = ["2026-03-27T18:30:00Z", "2026-04-03T17:30:00Z"];
    following(&daily(19, 30, Some(4)), "2026-03-20T18:30:00Z", &fridays);
}

#[test]
fn missed_days_are_counted_over_dst() {
    let (evening, fridays) = (daily(20, 0, None), daily(19, 30, Some(4)));
    let due = |when: &When, next, now| when.due(at(next), at(now), false, &berlin());
    let then = |utc: &str| Some(at(utc));
    let missed = due(&evening, "2026-03-27T19:00:00Z", "2026-03-30T09:00:00Z");
    let expected = Due { fires: false, missed: 3, then: then("2026-03-30T18:00:00Z") };
    assert_eq!(missed, Some(expected));
    let on_time = due(&evening, "2026-10-24T18:00:00Z", "2026-10-26T19:00:30Z");
    let expected = Due { fires: true, missed: 2, then: then("2026-10-27T19:00:00Z") };
    assert_eq!(on_time, Some(expected));
    let missed = due(&fridays, "2026-03-27T18:30:00Z", "2026-04-03T18:30:00Z");
    let expected = Due { fires: false, missed: 2, then: then("2026-04-10T17:30:00Z") };
    assert_eq!(missed, Some(expected));
    assert_eq!(due(&evening, "2026-10-24T18:00:00Z", "2026-10-24T17:00:00Z"), None);
}

#[test]
fn stored_form_returns_equal() {
    let weekly = daily(19, 30, Some(4));
    let all =
        [When::At(5), every(15, 7), weekly, When::Session { after: Duration::from_millis(1_500) }];
    for when in all {
        let text = serde_json::to_string(&when).unwrap();
        assert_eq!(serde_json::from_str::<When>(&text).unwrap(), when, "{text}");
    }
    let inputs = serde_json::json!({ "hour": 9 });
    let planned = Planned::Workflow { name: "bells".to_owned(), inputs };
    let text = serde_json::to_string(&planned).unwrap();
    assert_eq!(text, r#"{"workflow":{"name":"bells","inputs":{"hour":9}}}"#);
    assert_eq!(serde_json::from_str::<Planned>(&text).unwrap(), planned);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,40}", now in any::<i64>()) {
        for kind in ["", "at ", "in ", "every ", "session "] {
            if let Ok(when) = parse(&format!("{kind}{text}"), now, &TimeZone::UTC) {
                prop_assert!(when.next(now, &TimeZone::UTC).is_none_or(|next| next > now));
            }
        }
    }

    #[test]
    fn any_stored_time_is_bounded(
        from in any::<i64>(),
        next in any::<i64>(),
        now in any::<i64>(),
        ms in any::<u64>(),
    ) {
        let when = When::Every { from, period: Duration::from_millis(ms) };
        prop_assert!(when.next(now, &TimeZone::UTC).is_none_or(|next| next > now));
        if let Some(due) = when.due(next, now, false, &TimeZone::UTC) {
            prop_assert!(due.then.is_none_or(|then| then > now));
        }
    }

    #[test]
    fn any_daily_time_is_bounded(
        (hour, minute) in any::<(i8, i8)>(),
        weekday in any::<Option<i8>>(),
        next in any::<i64>(),
        now in any::<i64>(),
    ) {
        let when = When::Daily(Daily { hour, minute, weekday });
        prop_assert!(when.next(now, &TimeZone::UTC).is_none_or(|next| next > now));
        if let Some(due) = when.due(next, now, false, &TimeZone::UTC) {
            prop_assert!(due.then.is_none_or(|then| then > now));
        }
    }
}
