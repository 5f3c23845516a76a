//! Phases of a turn.
//!
//! A turn begins as a guess, started ahead of the final transcript, or thinking. A final that
//! agrees turns a guess into thinking; the first frame that leaves makes it audible; played to its
//! end, it is done. A turn that is ended early is stopping until its engine reports or
//! [`CANCEL_GRACE`] is over. The engine may report in any phase; an early report waits in the
//! phase.
//!
//! Entry type: [`Phase`].

use std::time::Duration;

use tokio::time::Instant;

use super::line::Outcome;
use crate::{
    engine::{PlayedPart, TurnReport},
    logic::barge_in::BargeIn,
};

/// Time for a cancelled engine to report its actions.
const CANCEL_GRACE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub enum Phase {
    /// Started ahead of the final transcript; held by playback.
    Guess {
        report: Option<TurnReport>,
    },
    /// Answers a final transcript; no sound has left.
    Thinking {
        since: Instant,
        report: Option<TurnReport>,
    },
    /// Its sound is leaving.
    Audible {
        since: Instant,
        began: Instant,
        barge_in: BargeIn,
        report: Option<TurnReport>,
    },
    Stopping {
        until: Instant,
        end: End,
    },
    Done {
        end: End,
        /// `None`: the engine's task was aborted.
        report: Option<TurnReport>,
    },
}

#[derive(Debug)]
pub struct End {
    /// `None`: played to its end; the report tells the outcome.
    pub outcome: Option<Outcome>,
    pub played: PlayedPart,
    pub began: Option<Instant>,
    pub recorded: Recorded,
}

/// Parts of an ended turn that are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    Nothing,
    /// Effects of its tools only; the utterance is reported elsewhere.
    Effects,
    Line,
}

impl End {
    pub fn audible_since(&self) -> Option<Instant> {
        self.began.filter(|_| self.recorded == Recorded::Line)
    }
}

impl Phase {
    pub fn first(is_certain: bool, now: Instant) -> Self {
        if is_certain {
            return Self::Thinking { since: now, report: None };
        }
        Self::Guess { report: None }
    }

    /// Confirms a guess. A guess that was stopped is recorded like any other answer.
    pub fn confirmed(self, now: Instant) -> Self {
        match self {
            Self::Guess { report } => Self::Thinking { since: now, report },
            Self::Stopping { until, end } if end.recorded == Recorded::Nothing => {
                Self::Stopping { until, end: End { recorded: Recorded::Line, ..end } }
            }
            other => other,
        }
    }

    pub fn audible(self, now: Instant, barge_in: BargeIn) -> Self {
        match self {
            Self::Thinking { since, report } => {
                Self::Audible { since, began: now, barge_in, report }
            }
            other => other,
        }
    }

    /// Undoes `audible`: the frames were handed over and did not leave.
    pub fn inaudible(self) -> Self {
        match self {
            Self::Audible { since, report, .. } => Self::Thinking { since, report },
            other => other,
        }
    }

    pub fn reported(self, made: TurnReport) -> Self {
        let report = Some(made);
        match self {
            Self::Guess { .. } => Self::Guess { report },
            Self::Thinking { since, .. } => Self::Thinking { since, report },
            Self::Audible { since, began, barge_in, .. } => {
                Self::Audible { since, began, barge_in, report }
            }
            Self::Stopping { end, .. } | Self::Done { end, .. } => Self::Done { end, report },
        }
    }

    /// Ends the turn, unless it has ended: with `outcome`, or played to its end (`None`).
    pub fn ended(self, now: Instant, outcome: Option<Outcome>, played: PlayedPart) -> Self {
        let (report, began, recorded) = match self {
            Self::Guess { report } => (report, None, Recorded::Nothing),
            Self::Thinking { report, .. } => (report, None, Recorded::Line),
            Self::Audible { began, report, .. } => (report, Some(began), Recorded::Line),
            over @ (Self::Stopping { .. } | Self::Done { .. }) => return over,
        };
        let end = End { outcome, played, began, recorded };
        match report {
            Some(_) => Self::Done { end, report },
            None => Self::Stopping { until: now + CANCEL_GRACE, end },
        }
    }

    /// Ends the turn; its utterance is reported elsewhere.
    pub fn withdrawn(self) -> Self {
        let hidden = |end: End| match end.recorded {
            Recorded::Line => End { recorded: Recorded::Effects, ..end },
            Recorded::Effects | Recorded::Nothing => end,
        };
        match self {
            Self::Stopping { until, end } => Self::Stopping { until, end: hidden(end) },
            Self::Done { end, report } => Self::Done { end: hidden(end), report },
            running => running,
        }
    }

    pub fn aborted(self) -> Self {
        match self {
            Self::Stopping { end, .. } => Self::Done { end, report: None },
            other => other,
        }
    }

    pub fn early_report(&self) -> Option<&TurnReport> {
        match self {
            Self::Guess { report }
            | Self::Thinking { report, .. }
            | Self::Audible { report, .. } => report.as_ref(),
            Self::Stopping { .. } | Self::Done { .. } => None,
        }
    }

    /// Since when the engine owes sound; `None` if it is done, given up or only a guess.
    pub fn owes_since(&self) -> Option<Instant> {
        match self {
            Self::Thinking { since, report: None } | Self::Audible { since, report: None, .. } => {
                Some(*since)
            }
            _ => None,
        }
    }

    pub fn abort_at(&self) -> Option<Instant> {
        match self {
            Self::Stopping { until, .. } => Some(*until),
            _ => None,
        }
    }
}

impl Default for Phase {
    fn default() -> Self {
        Self::Guess { report: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn audible(now: Instant) -> Phase {
        Phase::first(true, now).audible(now, BargeIn::new(true))
    }

    fn stopped(phase: Phase, now: Instant, outcome: Outcome) -> Phase {
        phase.ended(now, Some(outcome), PlayedPart::default())
    }

    fn end(phase: Phase) -> End {
        match phase {
            Phase::Stopping { end, .. } | Phase::Done { end, .. } => end,
            running => panic!("has not ended: {running:?}"),
        }
    }

    #[test]
    fn a_guess_is_not_audible() {
        let now = Instant::now();
        let guess = Phase::first(false, now).audible(now, BargeIn::new(true));
        assert!(matches!(guess, Phase::Guess { report: None }));
        assert_eq!(guess.owes_since(), None);
    }

    #[test]
    fn a_confirmed_guess_owes_sound_from_then_on() {
        let now = Instant::now();
        let later = now + Duration::from_secs(1);
        assert_eq!(Phase::first(false, now).confirmed(later).owes_since(), Some(later));
        assert_eq!(Phase::first(true, now).confirmed(later).owes_since(), Some(now));
    }

    #[test]
    fn the_first_end_stands() {
        let now = Instant::now();
        let interrupted = stopped(audible(now), now, Outcome::Interrupted);
        let again = now + Duration::from_secs(1);
        let twice = stopped(interrupted, again, Outcome::Timeout);
        assert_eq!(twice.abort_at(), Some(now + CANCEL_GRACE));
        let end = end(twice);
        assert_eq!((end.outcome, end.began), (Some(Outcome::Interrupted), Some(now)));
    }

    #[test]
    fn sound_that_never_left_was_not_audible() {
        let now = Instant::now();
        let end = end(stopped(audible(now).inaudible(), now, Outcome::Cancelled));
        assert_eq!((end.began, end.recorded), (None, Recorded::Line));
    }

    #[test]
    fn an_aborted_engine_leaves_no_report() {
        let now = Instant::now();
        assert!(matches!(audible(now).aborted(), Phase::Audible { .. }));
        let done = stopped(audible(now), now, Outcome::Timeout).aborted();
        assert!(matches!(done, Phase::Done { report: None, .. }));
    }

    #[test]
    fn what_is_recorded_follows_from_the_phase() {
        let now = Instant::now();
        let recorded = |phase| end(phase).recorded;
        let ended = |phase| stopped(phase, now, Outcome::Cancelled);
        let guess = || ended(Phase::first(false, now));
        let answer = || ended(Phase::first(true, now));
        assert_eq!(recorded(guess()), Recorded::Nothing);
        assert_eq!(recorded(guess().withdrawn()), Recorded::Nothing);
        assert_eq!(recorded(guess().confirmed(now)), Recorded::Line);
        assert_eq!(recorded(answer()), Recorded::Line);
        assert_eq!(recorded(answer().withdrawn()), Recorded::Effects);
        assert_eq!(recorded(answer().withdrawn().confirmed(now)), Recorded::Effects);
    }
}
