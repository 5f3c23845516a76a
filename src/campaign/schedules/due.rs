//! What is to be done about one schedule now. Entry function: [`step`].

use std::time::Duration;

use super::entry::Entry;
use crate::logic::schedule::When;

/// A firing later than this is missed, in ms. A schedule of another program is seen within half of
/// it.
const GRACE: i64 = 60_000;
/// Lead of a program with a running session over others on the same store, in ms.
const LEAD: i64 = 2_000;

/// The time, and what else decides.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Unix time in ms.
    pub now: i64,
    /// The session of the schedule's scope that runs in this program.
    pub session: Option<SessionTime>,
    /// A missed firing is made up for.
    pub catch_up: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct SessionTime {
    /// Unix time in ms.
    pub began: i64,
    /// In ms, by a clock that is never set.
    pub elapsed: i64,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing to do for this long; `None`: until something changes.
    Wait(Option<Duration>),
    /// Its next time changes, and nothing else happens.
    Move(Option<i64>),
    Fire(After),
    /// Its time has passed: it is reported.
    Miss(After),
}

/// State of a schedule once its firing is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    pub then: Option<i64>,
    /// It never fires again.
    pub is_over: bool,
}

pub fn step(entry: &Entry, moment: &Moment) -> Step {
    match &entry.when {
        When::Session { after } => in_session(entry, ms(*after), moment),
        When::At(_) | When::Every { .. } => by_clock(entry, moment),
    }
}

fn by_clock(entry: &Entry, moment: &Moment) -> Step {
    let Some(due) = entry.next else { return Step::Wait(None) };
    let late = moment.now.saturating_sub(due);
    let patience = if moment.session.is_some() { 0 } else { LEAD };
    if late < patience {
        return wait(patience.saturating_sub(late));
    }
    // Firings that passed meanwhile are not made up for one by one.
    let then = entry.when.next(moment.now.max(due));
    fire_or_miss(late, After { then, is_over: then.is_none() }, moment)
}

/// One that fires `after` ms into each session of its scope.
fn in_session(entry: &Entry, after: i64, moment: &Moment) -> Step {
    let waiting = After { then: None, is_over: false };
    let Some(SessionTime { began, elapsed }) = moment.session else {
        let Some(due) = entry.next else { return Step::Wait(None) };
        // Another program may have the session. If none has, it ended before that time.
        let late = moment.now.saturating_sub(due);
        return if late > GRACE { Step::Miss(waiting) } else { wait(GRACE + 1 - late) };
    };
    let due = began.saturating_add(after);
    match entry.next {
        // Fired in this session, or made after that time.
        None if due < entry.made || entry.last.is_some_and(|last| last >= began) => {
            Step::Wait(None)
        }
        None => Step::Move(Some(due)),
        // Of an earlier session.
        Some(next) if next < due => Step::Move(Some(due)),
        Some(next) => {
            let late = began.saturating_add(elapsed).saturating_sub(next);
            if late < 0 { wait(-late) } else { fire_or_miss(late, waiting, moment) }
        }
    }
}

const fn fire_or_miss(late: i64, after: After, moment: &Moment) -> Step {
    if late > GRACE && !moment.catch_up { Step::Miss(after) } else { Step::Fire(after) }
}

fn wait(ms: i64) -> Step {
    Step::Wait(Some(Duration::from_millis(u64::try_from(ms).unwrap_or_default())))
}

fn ms(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
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

    const fn at(now: i64) -> Moment {
        let session = Some(SessionTime { began: EVENING, elapsed: 0 });
        Moment { now, session, catch_up: false }
    }

    const fn into(began: i64, elapsed: i64) -> Moment {
        Moment { session: Some(SessionTime { began, elapsed }), ..at(began + elapsed) }
    }

    const fn without_session(now: i64) -> Moment {
        Moment { session: None, ..at(now) }
    }

    const OVER: After = After { then: None, is_over: true };
    const WAITS: After = After { then: None, is_over: false };

    #[test]
    fn time_that_comes_is_waited_for_then_fires() {
        assert_eq!(step(&once(), &at(EVENING - MINUTE)), wait(MINUTE));
        assert_eq!(step(&once(), &at(EVENING)), Step::Fire(OVER));
        assert_eq!(step(&once(), &at(EVENING + MINUTE)), Step::Fire(OVER));
    }

    #[test]
    fn program_without_the_session_lets_others_first() {
        assert_eq!(step(&once(), &without_session(EVENING)), wait(LEAD));
        assert_eq!(step(&once(), &without_session(EVENING + LEAD)), Step::Fire(OVER));
    }

    #[test]
    fn clock_set_an_hour_on_misses_what_it_skips() {
        let half = entry(When::At(EVENING + HOUR / 2), Some(EVENING + HOUR / 2));
        assert_eq!(step(&half, &at(EVENING + HOUR)), Step::Miss(OVER));
        let caught_up = Moment { catch_up: true, ..at(EVENING + HOUR) };
        assert_eq!(step(&half, &caught_up), Step::Fire(OVER));
        let then = Some(EVENING + HOUR + 15 * MINUTE);
        let missed = Step::Miss(After { then, is_over: false });
        assert_eq!(step(&every(), &at(EVENING + HOUR)), missed);
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
        assert_eq!(step(&session(), &without_session(EVENING)), Step::Wait(None));
        assert_eq!(step(&session(), &into(EVENING, 0)), Step::Move(Some(due)));
        let armed = Entry { next: Some(due), ..session() };
        assert_eq!(step(&armed, &into(EVENING, 5 * MINUTE)), wait(15 * MINUTE));
        assert_eq!(step(&armed, &into(EVENING, 20 * MINUTE)), Step::Fire(WAITS));
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
    fn session_that_ends_early_has_its_rest_missed() {
        let due = EVENING + 20 * MINUTE;
        let armed = Entry { next: Some(due), ..session() };
        assert_eq!(step(&armed, &without_session(due + GRACE)), wait(1));
        assert_eq!(step(&armed, &without_session(due + GRACE + 1)), Step::Miss(WAITS));
    }

    #[test]
    fn schedule_made_too_late_waits_for_next_session() {
        let made = Entry { made: EVENING + HOUR, ..session() };
        assert_eq!(step(&made, &into(EVENING, HOUR)), Step::Wait(None));
    }
}
