//! Rate limits of calls by programs outside that reach a table. Entry type: [`Paces`].
//!
//! Everything here reaches people, or takes a place among a table's events, of which a listener that
//! is slow loses the oldest: a program that calls in a loop could push out lines, X-cards and
//! deletions before they are written down.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// Kinds of calls; each program has a limit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Paced {
    /// A notice that a tool was called.
    Notice(&'static str),
    /// A question to an NPC.
    Question,
    /// A line shown at the table.
    Shown,
    /// A call of a tool, which may wait for the game master's approval.
    Call,
}

impl Paced {
    /// Most by one program, and the time in which they count.
    const fn limit(self) -> (usize, Duration) {
        match self {
            // The first of a series says enough.
            Self::Notice(_) => (1, Duration::from_secs(10)),
            // An NPC answers fewer questions in a minute.
            Self::Question | Self::Shown | Self::Call => (30, Duration::from_secs(60)),
        }
    }
}

/// Times of recent calls, by program and kind.
#[derive(Debug, Default)]
pub struct Paces(Mutex<BTreeMap<(String, Paced), Vec<Instant>>>);

impl Paces {
    /// Counts a call by the program with the token `by`; false if it is one too many.
    pub fn admit(&self, by: &str, what: Paced, now: Instant) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(_, what), times| {
            let (_, time) = what.limit();
            times.retain(|at| now.saturating_duration_since(*at) < time);
            !times.is_empty()
        });
        let times = all.entry((by.to_owned(), what)).or_default();
        let is_admitted = times.len() < what.limit().0;
        if is_admitted {
            times.push(now);
        }
        is_admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn loops_of_a_program_are_bounded_and_forgotten() {
        let (paces, now) = (Paces::default(), Instant::now());
        let at = |by: &str, what, after| paces.admit(by, what, now + Duration::from_secs(after));
        assert!(at("a", Paced::Notice("dice.roll"), 0) && !at("a", Paced::Notice("dice.roll"), 9));
        assert!(at("a", Paced::Notice("npc.ask"), 9) && at("b", Paced::Notice("dice.roll"), 9));
        assert!(at("a", Paced::Notice("dice.roll"), 10));
        let asked = (0..100).filter(|_| at("a", Paced::Question, 10)).count();
        assert_eq!(asked, 30);
        assert!(at("b", Paced::Question, 10), "another program");
        assert!(at("a", Paced::Question, 70));
        assert_eq!(paces.0.lock().unwrap().len(), 1, "what is over is forgotten");
    }
}
