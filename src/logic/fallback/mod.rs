//! Health of a service, judged by its answers.
//!
//! Entry types: [`Breaker`] decides when a failing service is left alone, [`FirstWaits`] knows the
//! usual wait for its first word. Each entry of a list of services has one of each.
//!
//! Three failures within 30 s, or more than five among the last ten requests, open a breaker. It
//! rests for 5 s, then lets one request through as a trial; each failed trial doubles the rest, up
//! to 120 s. An answer closes it. A service that sets a time to wait gets it, up to the same limit;
//! a refused key or an empty account opens it without limit. Outcomes that arrive after it has
//! opened are ignored.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Failures within [`WITHIN`] that open it.
const FAILURES: usize = 3;
const WITHIN: Duration = Duration::from_secs(30);
/// Number of latest requests considered ...
const RECENT: usize = 10;
/// ... of which more failures than these open it, however far apart.
const HALF: usize = 5;
/// First rest; doubled after each failed trial.
const FIRST_REST: Duration = Duration::from_secs(5);
/// Longest rest, also on a service's own request.
const LONGEST_REST: Duration = Duration::from_secs(120);

/// Number of latest waits considered.
const RECENT_WAITS: usize = 100;
/// Fewest waits for a percentile.
const ENOUGH: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Answered,
    /// No connection, no answer in time, a fault, or too many requests.
    Failed,
    /// The service asks to be left alone for this long.
    Limited(Duration),
    /// The service refuses the key, or the account is empty: waiting does not help.
    Refused,
    /// Says nothing about the service: a wrong or cancelled request, or one too many at once.
    Unclear,
}

/// Closed while the service answers, open while it rests, half open during the trial request.
#[derive(Debug, Default)]
pub struct Breaker {
    state: State,
    /// Results of the last requests, true for a failure, oldest first.
    recent: VecDeque<bool>,
    failed_at: VecDeque<Instant>,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Closed,
    /// Not asked until then; `rest` is the rest before the trial.
    Open {
        until: Instant,
        rest: Duration,
    },
    Trial {
        rest: Duration,
    },
    Refused,
}

impl Breaker {
    /// Remaining rest; `None`: the service may be asked. Zero during a trial, which allows no
    /// second request; [`Duration::MAX`] after a refusal.
    pub fn rest(&self, now: Instant) -> Option<Duration> {
        match self.state {
            State::Closed => None,
            State::Open { until, .. } if until <= now => None,
            State::Open { until, .. } => Some(until - now),
            State::Trial { .. } => Some(Duration::ZERO),
            State::Refused => Some(Duration::MAX),
        }
    }

    /// True if the service may be asked now. The request after a rest is the trial; its outcome
    /// must be [noted](Self::note).
    pub fn lets_through(&mut self, now: Instant) -> bool {
        if self.rest(now).is_some() {
            return false;
        }
        if let State::Open { rest, .. } = self.state {
            self.state = State::Trial { rest };
        }
        true
    }

    /// Records the outcome of a request; true if it is the first refusal.
    pub fn note(&mut self, outcome: Outcome, now: Instant) -> bool {
        match (outcome, self.state) {
            (Outcome::Answered, State::Closed) => self.count(false),
            // An answer closes it in any state.
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
            // Outcomes of requests sent before it opened are too old to count.
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

#[derive(Debug, Default)]
pub struct FirstWaits(VecDeque<Duration>);

impl FirstWaits {
    pub fn add(&mut self, wait: Duration) {
        if self.0.len() == RECENT_WAITS {
            self.0.pop_front();
        }
        self.0.push_back(wait);
    }

    /// 95th percentile; `None` with too few waits.
    pub fn p95(&self) -> Option<Duration> {
        if self.0.len() < ENOUGH {
            return None;
        }
        let mut sorted: Vec<Duration> = self.0.iter().copied().collect();
        sorted.sort_unstable();
        sorted.get((sorted.len() * 95).div_ceil(100) - 1).copied()
    }
}

#[cfg(test)]
mod tests;
