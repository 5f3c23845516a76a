use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{Breaker, FirstWaits, Outcome};

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A breaker opened by three failures just before `now`.
fn opened(now: Instant) -> Breaker {
    let mut breaker = Breaker::default();
    for _ in 0..3 {
        assert!(breaker.lets_through(now));
        breaker.note(Outcome::Failed, now);
    }
    breaker
}

#[test]
fn three_failures_within_half_a_minute_open_it() {
    let start = Instant::now();
    let mut breaker = Breaker::default();
    breaker.note(Outcome::Failed, start);
    breaker.note(Outcome::Answered, start + secs(5));
    breaker.note(Outcome::Failed, start + secs(10));
    assert_eq!(breaker.rest(start + secs(10)), None);
    breaker.note(Outcome::Failed, start + secs(29));
    assert_eq!(breaker.rest(start + secs(29)), Some(secs(5)));
    let mut slow = Breaker::default();
    for nth in 0..5 {
        slow.note(Outcome::Failed, start + secs(15) * nth);
        slow.note(Outcome::Answered, start + secs(15) * nth);
    }
    assert_eq!(slow.rest(start + secs(60)), None, "three in a minute are not three in half of it");
}

#[test]
fn more_than_half_of_the_last_ten_open_it() {
    let start = Instant::now();
    let mut breaker = Breaker::default();
    // Too far apart for the other rule.
    let mut at = start;
    for failed in [true, false, true, false, true, false, true, false, true, false] {
        at += secs(20);
        let outcome = if failed { Outcome::Failed } else { Outcome::Answered };
        breaker.note(outcome, at);
    }
    assert_eq!(breaker.rest(at), None, "half is not more than half");
    // The oldest of the ten was a failure too.
    at += secs(20);
    breaker.note(Outcome::Failed, at);
    assert_eq!(breaker.rest(at), None);
    at += secs(20);
    breaker.note(Outcome::Failed, at);
    assert_eq!(breaker.rest(at), Some(secs(5)));
}

#[test]
fn breaker_rests_double_up_to_two_minutes() {
    let mut now = Instant::now();
    let mut breaker = opened(now);
    for rest in [5, 10, 20, 40, 80, 120, 120] {
        assert_eq!(breaker.rest(now), Some(secs(rest)));
        assert!(!breaker.lets_through(now + secs(rest) - Duration::from_millis(1)));
        now += secs(rest);
        assert!(breaker.lets_through(now));
        assert!(!breaker.lets_through(now), "one trial at a time");
        breaker.note(Outcome::Failed, now);
    }
    now += secs(120);
    assert!(breaker.lets_through(now));
    breaker.note(Outcome::Answered, now);
    assert_eq!(breaker.rest(now), None);
    breaker.note(Outcome::Failed, now);
    breaker.note(Outcome::Failed, now);
    assert_eq!(breaker.rest(now), None, "it begins again");
}

#[test]
fn unclear_trial_is_followed_by_another() {
    let now = Instant::now() + secs(5);
    let mut breaker = opened(now - secs(5));
    assert!(breaker.lets_through(now));
    breaker.note(Outcome::Unclear, now);
    assert!(breaker.lets_through(now));
    breaker.note(Outcome::Failed, now);
    assert_eq!(breaker.rest(now), Some(secs(10)));
}

#[test]
fn unclear_outcomes_never_open_breaker() {
    let now = Instant::now();
    let mut breaker = Breaker::default();
    for _ in 0..100 {
        breaker.note(Outcome::Unclear, now);
    }
    assert!(breaker.lets_through(now));
}

#[test]
fn requested_waits_last_at_most_two_minutes() {
    let now = Instant::now();
    let mut breaker = Breaker::default();
    breaker.note(Outcome::Limited(secs(30)), now);
    assert_eq!(breaker.rest(now), Some(secs(30)));
    assert!(breaker.lets_through(now + secs(30)));
    breaker.note(Outcome::Limited(secs(3_600)), now + secs(30));
    assert_eq!(breaker.rest(now + secs(30)), Some(secs(120)));
}

#[test]
fn refused_key_is_reported_once_and_not_retried() {
    let now = Instant::now();
    let mut breaker = Breaker::default();
    assert!(breaker.note(Outcome::Refused, now));
    assert!(!breaker.lets_through(now + secs(1_000_000)));
    assert!(!breaker.note(Outcome::Refused, now));
    breaker.note(Outcome::Limited(secs(1)), now);
    assert_eq!(breaker.rest(now), Some(Duration::MAX));
    // A request was sent anyway and was answered.
    assert!(!breaker.note(Outcome::Answered, now));
    assert!(breaker.lets_through(now));
    assert!(breaker.note(Outcome::Refused, now), "it is news again");
}

#[test]
fn first_word_p95_needs_twenty_waits() {
    let mut waits = FirstWaits::default();
    for ms in 1..20 {
        waits.add(Duration::from_millis(ms));
    }
    assert_eq!(waits.p95(), None);
    waits.add(Duration::from_millis(20));
    assert_eq!(waits.p95(), Some(Duration::from_millis(19)));
    for _ in 0..100 {
        waits.add(secs(1));
    }
    assert_eq!(waits.p95(), Some(secs(1)), "what is long ago does not count");
}

proptest! {
    /// Without a refusal it never rests for more than two minutes; at most one trial is under way;
    /// an answer closes it.
    #[test]
    fn it_always_comes_back(steps in prop::collection::vec((0_u8..5, 0_u64..200), 0..200)) {
        let mut now = Instant::now();
        let mut breaker = Breaker::default();
        for (what, wait) in steps {
            now += secs(wait);
            if breaker.lets_through(now) && breaker.rest(now).is_some() {
                prop_assert!(!breaker.lets_through(now));
            }
            let outcome = match what {
                0 => Outcome::Answered,
                1 | 2 => Outcome::Failed,
                3 => Outcome::Limited(secs(wait * 10)),
                _ => Outcome::Unclear,
            };
            breaker.note(outcome, now);
            prop_assert!(breaker.rest(now) <= Some(secs(120)));
            if outcome == Outcome::Answered {
                prop_assert_eq!(breaker.rest(now), None);
            }
        }
    }
}
