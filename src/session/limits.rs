//! Limits of each player's requests, so that nobody spends what is everybody's.
//!
//! Entry type: [`PlayerLimits`]. Players are told apart by identity, never by name.
//! **Never**: limits a game master.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use tokio::time::Instant;

use super::{Limits, SpeakerId};

/// Period that answers are counted in.
const MINUTE: Duration = Duration::from_secs(60);

/// Recent requests of each player.
pub struct PlayerLimits {
    limits: Limits,
    players: HashMap<SpeakerId, Player>,
}

/// Recent requests of one player.
#[derive(Default)]
struct Player {
    /// Times at which answers that cost something were requested, within the last minute.
    paid: VecDeque<Instant>,
    /// Times of such answers begun ahead of what was said.
    ahead: VecDeque<Instant>,
    /// They were told to wait, and have asked for more since.
    told: Option<Instant>,
}

/// Of what a player has asked for too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Answers that cost something.
    Paid,
    /// Utterances that wait.
    Waiting,
}

/// A request of one player.
#[derive(Clone, Copy, Debug)]
pub struct Asking {
    /// Time of the request.
    pub now: Instant,
    /// The answer costs something.
    pub costs: bool,
    /// So many of their utterances wait already.
    pub waiting: usize,
}

impl PlayerLimits {
    /// Nobody has asked for anything yet.
    pub fn new(limits: Limits) -> Self {
        Self { limits, players: HashMap::new() }
    }

    /// From now on these limits hold; what was asked for lately counts.
    pub const fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Of what `speaker` would have too much.
    pub fn excess(&mut self, speaker: SpeakerId, asking: Asking) -> Option<Excess> {
        let most = self.limits.paid_turns_per_minute;
        let player = self.players.entry(speaker).or_default();
        if asking.costs && lately(&mut player.paid, asking.now) >= most {
            return Some(Excess::Paid);
        }
        (asking.waiting >= self.limits.waiting).then_some(Excess::Waiting)
    }

    /// `speaker` is answered, which costs something.
    pub fn paid(&mut self, speaker: SpeakerId, now: Instant) {
        self.players.entry(speaker).or_default().paid.push_back(now);
    }

    /// True if `speaker` may be answered ahead of what they say, which costs something; if so it is
    /// counted.
    pub fn may_be_ahead(&mut self, speaker: SpeakerId, now: Instant) -> bool {
        let most = self.limits.paid_turns_per_minute;
        let player = self.players.entry(speaker).or_default();
        let may = lately(&mut player.paid, now) < most && lately(&mut player.ahead, now) < most;
        if may {
            player.ahead.push_back(now);
        }
        may
    }

    /// True if `speaker`, who has asked for too much, is to be told: once until they have kept to their
    /// limits for a minute.
    pub fn is_to_be_told(&mut self, speaker: SpeakerId, now: Instant) -> bool {
        let told = &mut self.players.entry(speaker).or_default().told;
        told.replace(now).is_none_or(|last| now.duration_since(last) > MINUTE)
    }
}

/// Counts those within the last minute, and forgets the others.
fn lately(times: &mut VecDeque<Instant>, now: Instant) -> usize {
    while times.front().is_some_and(|at| now.duration_since(*at) >= MINUTE) {
        times.pop_front();
    }
    times.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANNA: SpeakerId = SpeakerId(1);
    const BEN: SpeakerId = SpeakerId(2);

    #[tokio::test(start_paused = true)]
    async fn minute_has_so_many_answers_for_each_player() {
        let mut players = PlayerLimits::new(Limits { paid_turns_per_minute: 2, waiting: 1 });
        let now = Instant::now();
        let costs = Asking { now, costs: true, waiting: 0 };
        for _ in 0..2 {
            assert_eq!(players.excess(ANNA, costs), None);
            players.paid(ANNA, now);
        }
        assert_eq!(players.excess(ANNA, costs), Some(Excess::Paid));
        assert_eq!(players.excess(ANNA, Asking { costs: false, ..costs }), None);
        assert_eq!(players.excess(BEN, costs), None);
        assert_eq!(players.excess(BEN, Asking { waiting: 1, ..costs }), Some(Excess::Waiting));
        assert!(!players.may_be_ahead(ANNA, now) && players.may_be_ahead(BEN, now));
        assert!(players.is_to_be_told(ANNA, now));
        assert!(!players.is_to_be_told(ANNA, now + MINUTE / 2), "once");
        let later = Asking { now: now + MINUTE, ..costs };
        assert_eq!(players.excess(ANNA, later), None);
        assert!(!players.is_to_be_told(ANNA, now + MINUTE), "she goes on and on");
        assert!(players.is_to_be_told(ANNA, now + 3 * MINUTE));
    }
}
