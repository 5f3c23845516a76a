//! The next step of one schedule. Entry function: [`step`].

use std::time::Duration;

use jiff::tz::TimeZone;

use super::entry::Entry;
use crate::logic::schedule::{Due, When};

/// Wait for the session of another program before a time into it counts as missed, in ms: as long
/// as a firing may be late.
const GRACE: i64 = 60_000;
/// Lead of a program with a running session over others on the same store, in ms.
const LEAD: i64 = 2_000;

/// The time, and the state that [`step`] depends on.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// Unix time in ms.
    pub now: i64,
    /// The session of the schedule's scope that runs in this program.
    pub session: Option<SessionTime>,
    /// Missed firings are made up for.
    pub catch_up: bool,
    /// Time zone of the table.
    pub zone: &'a TimeZone,
}

#[derive(Clone, Copy, Debug)]
pub struct SessionTime {
    /// Unix time in ms.
    pub began: i64,
    /// In ms, by the monotonic clock.
    pub elapsed: i64,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing to do for this long; `None`: until something changes.
    Wait(Option<Duration>),
    /// Only its next time changes.
    Move(Option<i64>),
    /// Its time has come, and may have passed.
    Take(Due),
    /// A program has claimed a firing and not reported that it began.
    Begun,
}

pub fn step(entry: &Entry, moment: &Moment<'_>) -> Step {
    if entry.is_begun() {
        return Step::Begun;
    }
    match (&entry.when, moment.session, entry.next) {
        (When::Session { .. }, Some(session), _) => in_session(entry, session, moment),
        (_, _, None) => Step::Wait(None),
        (When::Session { .. }, None, Some(next)) => without_session(moment.now, next),
        (When::At(_) | When::Every { .. } | When::Daily(_), session, Some(next)) => {
            let lead = if session.is_some() { 0 } else { LEAD };
            let late = moment.now.saturating_sub(next);
            let due = entry.when.due(next, moment.now, moment.catch_up, moment.zone);
            due.filter(|_| late >= lead).map_or_else(|| wait(lead.saturating_sub(late)), Step::Take)
        }
    }
}

/// Step of a session schedule while a session of its scope runs here.
fn in_session(entry: &Entry, session: SessionTime, moment: &Moment<'_>) -> Step {
    let SessionTime { began, elapsed } = session;
    let now = began.saturating_add(elapsed);
    // A time in the future was stored before the clock was set back.
    let has_passed = |at: i64| at <= now.saturating_add(GRACE);
    let Some(due) = entry.when.in_session(began) else { return Step::Wait(None) };
    match entry.next {
        // Made after its time in this session, or already fired in it.
        None if due < entry.made && has_passed(entry.made) => Step::Wait(None),
        None if entry.last.is_some_and(|last| last >= began && has_passed(last)) => {
            Step::Wait(None)
        }
        None => Step::Move(Some(due)),
        // `next` belongs to another session.
        Some(next) if next != due => Step::Move(Some(due)),
        Some(next) => {
            let taken = entry.when.due(next, now, moment.catch_up, moment.zone);
            taken.map_or_else(|| wait(next.saturating_sub(now)), Step::Take)
        }
    }
}

/// Step of a session schedule without a session here. Another program may run the session;
/// otherwise it ended before `next`.
fn without_session(now: i64, next: i64) -> Step {
    let late = now.saturating_sub(next);
    match late > GRACE {
        true => Step::Take(Due { fires: false, missed: 1, then: None }),
        false => wait(GRACE.saturating_sub(late).saturating_add(1)),
    }
}

fn wait(ms: i64) -> Step {
    Step::Wait(Some(Duration::from_millis(u64::try_from(ms).unwrap_or_default())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logic::schedule::Planned;

    const MINUTE: i64 = 60_000;
    const HOUR: i64 = 60 * MINUTE;
    /// An evening in 2026.
    const EVENING: i64 = 1_795_800_000_000;

    fn entry(when: When, next: Option<i64>) -> Entry {
        let action = Planned::Line { npc: "Hale".to_owned(), text: "Close the gates!".to_owned() };
        let (id, made) = ("a1".to_owned(), EVENING - HOUR);
        Entry { id, when, action, by: None, made, next, last: None }
    }

    fn once() -> Entry {
        entry(When::At(EVENING), Some(EVENING))
    }

    fn every() -> Entry {
        let period = Duration::from_secs(15 * 60);
        entry(When::Every { from: EVENING, period }, Some(EVENING))
    }

    fn session() -> Entry {
        entry(When::Session { after: Duration::from_secs(20 * 60) }, None)
    }

    static UTC: TimeZone = TimeZone::UTC;

    fn at(now: i64) -> Moment<'static> {
        let session = Some(SessionTime { began: EVENING, elapsed: 0 });
        Moment { now, session, catch_up: false, zone: &UTC }
    }

    fn into(began: i64, elapsed: i64) -> Moment<'static> {
        Moment { session: Some(SessionTime { began, elapsed }), ..at(began + elapsed) }
    }

    fn away(now: i64) -> Moment<'static> {
        Moment { session: None, ..at(now) }
    }

    const fn fire(then: Option<i64>) -> Step {
        Step::Take(Due { fires: true, missed: 0, then })
    }

    const fn miss(missed: u64, then: Option<i64>) -> Step {
        Step::Take(Due { fires: false, missed, then })
    }

    #[test]
    fn time_that_comes_is_waited_for_then_fires() {
        assert_eq!(step(&once(), &at(EVENING - MINUTE)), wait(MINUTE));
        assert_eq!(step(&once(), &at(EVENING)), fire(None));
        assert_eq!(step(&once(), &at(EVENING + MINUTE)), fire(None));
    }

    #[test]
    fn program_without_the_session_lets_others_first() {
        assert_eq!(step(&once(), &away(EVENING)), wait(LEAD));
        assert_eq!(step(&once(), &away(EVENING + LEAD)), fire(None));
    }

    #[test]
    fn clock_set_an_hour_on_misses_what_it_skips() {
        let half = entry(When::At(EVENING + HOUR / 2), Some(EVENING + HOUR / 2));
        assert_eq!(step(&half, &at(EVENING + HOUR)), miss(1, None));
        let caught_up = Moment { catch_up: true, ..at(EVENING + HOUR) };
        assert_eq!(step(&half, &caught_up), fire(None));
        let then = Some(EVENING + HOUR + 15 * MINUTE);
        assert_eq!(step(&every(), &at(EVENING + HOUR + 5 * MINUTE)), miss(5, then));
    }

    #[test]
    fn clock_set_an_hour_back_fires_nothing_again() {
        let next = EVENING + 15 * MINUTE;
        let fired = entry(every().when, Some(next));
        assert_eq!(step(&fired, &at(EVENING - HOUR)), wait(HOUR + 15 * MINUTE));
    }

    #[test]
    fn session_schedule_fires_once_in_each_session() {
        let due = EVENING + 20 * MINUTE;
        assert_eq!(step(&session(), &away(EVENING)), Step::Wait(None));
        assert_eq!(step(&session(), &into(EVENING, 0)), Step::Move(Some(due)));
        let armed = Entry { next: Some(due), ..session() };
        assert_eq!(step(&armed, &into(EVENING, 5 * MINUTE)), wait(15 * MINUTE));
        assert_eq!(step(&armed, &into(EVENING, 20 * MINUTE)), fire(None));
        let fired = Entry { last: Some(due), ..session() };
        assert_eq!(step(&fired, &into(EVENING, 21 * MINUTE)), Step::Wait(None));
        let tomorrow = EVENING + 24 * HOUR;
        let again = Step::Move(Some(tomorrow + 20 * MINUTE));
        assert_eq!(step(&fired, &into(tomorrow, 0)), again);
        assert_eq!(step(&armed, &into(tomorrow, 0)), again);
    }

    #[test]
    fn session_schedule_ignores_a_clock_that_is_set() {
        let armed = Entry { next: Some(EVENING + 20 * MINUTE), ..session() };
        let set = Moment { now: EVENING + HOUR, ..into(EVENING, 5 * MINUTE) };
        assert_eq!(step(&armed, &set), wait(15 * MINUTE));
    }

    #[test]
    fn clock_set_back_between_sessions_fires_again() {
        let due = EVENING + 20 * MINUTE;
        let (earlier, again) = (EVENING - 2 * HOUR, Step::Move(Some(due - 2 * HOUR)));
        let fired = Entry { last: Some(due), ..session() };
        assert_eq!(step(&fired, &into(earlier, 0)), again);
        let armed = Entry { next: Some(due), ..session() };
        assert_eq!(step(&armed, &into(earlier, 0)), again);
        let made = Entry { made: EVENING, ..session() };
        assert_eq!(step(&made, &into(earlier, 0)), again);
    }

    #[test]
    fn begun_firing_is_neither_fired_nor_moved() {
        for when in [once().when, every().when, session().when] {
            let next = Some(EVENING);
            let begun = Entry { last: next, ..entry(when, entry(once().when, next).begun_mark()) };
            for moment in [at(EVENING), at(EVENING + HOUR), away(EVENING), into(EVENING, HOUR)] {
                assert_eq!(step(&begun, &moment), Step::Begun);
            }
        }
    }

    #[test]
    fn session_that_ends_early_has_its_rest_missed() {
        let due = EVENING + 20 * MINUTE;
        let armed = Entry { next: Some(due), ..session() };
        assert_eq!(step(&armed, &away(due + GRACE)), wait(1));
        assert_eq!(step(&armed, &away(due + GRACE + 1)), miss(1, None));
    }

    #[test]
    fn schedule_made_too_late_waits_for_next_session() {
        let made = Entry { made: EVENING + HOUR, ..session() };
        assert_eq!(step(&made, &into(EVENING, HOUR)), Step::Wait(None));
    }
}
