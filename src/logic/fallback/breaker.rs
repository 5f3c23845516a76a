//! Circuit breaker: decides when a failing service is left alone and when it is tried again.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// So many failures ...
const FAILURES: usize = 3;
/// ... within so long open it.
const WITHIN: Duration = Duration::from_secs(30);
/// Of so many requests, the last ones, ...
const RECENT: usize = 10;
/// ... more failures than these open it, however far apart they are.
const HALF: usize = 5;
/// First rest; doubled after each trial that fails.
const FIRST_REST: Duration = Duration::from_secs(5);
/// Longest rest, also of those that a service asks for.
const LONGEST_REST: Duration = Duration::from_secs(120);

/// Outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was answered.
    Answered,
    /// The service could not: no connection, no answer in time, a fault, too many requests.
    Failed,
    /// The service wants to be left alone for so long.
    Limited(Duration),
    /// The service does not take the key, or the account is empty: waiting does not help.
    Refused,
    /// Nothing is learnt of the service: the request was wrong, was cancelled, or was one too many at
    /// once.
    Unclear,
}

/// Circuit breaker of a service: closed while it answers, open while it rests, and half open for the
/// one request that tries it afterwards.
#[derive(Debug, Default)]
pub struct Breaker {
    state: State,
    /// Results of the last requests, true for a failure, oldest first.
    recent: VecDeque<bool>,
    /// Times of the last failures, oldest first.
    failed_at: VecDeque<Instant>,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// It is asked.
    #[default]
    Closed,
    /// It is not asked until then; the rest before a trial was so long.
    Open { until: Instant, rest: Duration },
    /// One request tries it.
    Trial { rest: Duration },
    /// It is not asked any more.
    Refused,
}

impl Breaker {
    /// Remaining rest; `None`: the service may be asked. Zero during a trial, when it is
    /// not asked a second time; [`Duration::MAX`] once it has refused.
    pub fn rest(&self, now: Instant) -> Option<Duration> {
        match self.state {
            State::Closed => None,
            State::Open { until, .. } if until <= now => None,
            State::Open { until, .. } => Some(until - now),
            State::Trial { .. } => Some(Duration::ZERO),
            State::Refused => Some(Duration::MAX),
        }
    }

    /// True if it may be asked now; the request that is let through after a rest is the trial, and what
    /// becomes of it has to be noted.
    pub fn lets_through(&mut self, now: Instant) -> bool {
        if self.rest(now).is_some() {
            return false;
        }
        if let State::Open { rest, .. } = self.state {
            self.state = State::Trial { rest };
        }
        true
    }

    /// Takes note of what became of a request; true when this was the first that was refused.
    pub fn note(&mut self, outcome: Outcome, now: Instant) -> bool {
        match (outcome, self.state) {
            (Outcome::Answered, State::Closed) => self.count(false),
            // An answer closes it, whatever its state was.
            (Outcome::Answered, _) => *self = Self::default(),
            (Outcome::Failed, State::Closed) => self.fail(now),
            (Outcome::Failed, State::Trial { rest }) => self.open(rest.saturating_mul(2), now),
            (Outcome::Limited(wait), state) if !matches!(state, State::Refused) => {
                let (until, rest) = (now + wait.min(LONGEST_REST), FIRST_REST);
                self.state = State::Open { until, rest };
            }
            (Outcome::Refused, State::Refused) => {}
            (Outcome::Refused, _) => {
                self.state = State::Refused;
                return true;
            }
            (Outcome::Unclear, State::Trial { rest }) => {
                self.state = State::Open { until: now, rest };
            }
            // Outcomes of requests sent before it opened are late news.
            (Outcome::Failed | Outcome::Limited(_) | Outcome::Unclear, _) => {}
        }
        false
    }

    fn fail(&mut self, now: Instant) {
        self.count(true);
        self.failed_at.push_back(now);
        self.failed_at.retain(|at| now.saturating_duration_since(*at) < WITHIN);
        let failures = self.recent.iter().filter(|failed| **failed).count();
        let often = self.recent.len() == RECENT && failures > HALF;
        if often || self.failed_at.len() >= FAILURES {
            self.open(FIRST_REST, now);
        }
    }

    fn count(&mut self, failed: bool) {
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(failed);
    }

    fn open(&mut self, rest: Duration, now: Instant) {
        let rest = rest.min(LONGEST_REST);
        self.state = State::Open { until: now + rest, rest };
        self.recent.clear();
        self.failed_at.clear();
    }
}
