//! Limits on each player's requests, so that one cannot use up the common budget. Game masters have
//! none.
//!
//! Entry type: [`PlayerLimits`]. Players are distinguished by identity, never by name.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use tokio::time::Instant;

use super::{Limits, SpeakerId};

const MINUTE: Duration = Duration::from_secs(60);

pub struct PlayerLimits {
    limits: Limits,
    players: HashMap<SpeakerId, Player>,
}

#[derive(Default)]
struct Player {
    /// Times of paid answers within the last minute.
    paid: VecDeque<Instant>,
    /// Times of paid guesses within the last minute.
    ahead: VecDeque<Instant>,
    /// Last excess since the player was notified.
    told: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    Paid,
    Waiting,
}

#[derive(Clone, Copy, Debug)]
pub struct Asking {
    pub now: Instant,
    pub costs: bool,
    pub waiting: usize,
}

impl PlayerLimits {
    pub fn new(limits: Limits) -> Self {
        Self { limits, players: HashMap::new() }
    }

    pub const fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    pub fn excess(&mut self, speaker: SpeakerId, asking: Asking) -> Option<Excess> {
        let most = self.limits.paid_turns_per_minute;
        let player = self.players.entry(speaker).or_default();
        if asking.costs && lately(&mut player.paid, asking.now) >= most {
            return Some(Excess::Paid);
        }
        (asking.waiting >= self.limits.waiting).then_some(Excess::Waiting)
    }

    pub fn paid(&mut self, speaker: SpeakerId, now: Instant) {
        self.players.entry(speaker).or_default().paid.push_back(now);
    }

    /// True if a paid guess is allowed; counts it then.
    pub fn may_be_ahead(&mut self, speaker: SpeakerId, now: Instant) -> bool {
        let most = self.limits.paid_turns_per_minute;
        let player = self.players.entry(speaker).or_default();
        let may = lately(&mut player.paid, now) < most && lately(&mut player.ahead, now) < most;
        if may {
            player.ahead.push_back(now);
        }
        may
    }

    /// True if `speaker` should be notified of an excess: once, until they have kept the limits for
    /// a minute.
    pub fn is_to_be_told(&mut self, speaker: SpeakerId, now: Instant) -> bool {
        let told = &mut self.players.entry(speaker).or_default().told;
        told.replace(now).is_none_or(|last| now.duration_since(last) > MINUTE)
    }
}

/// Number of times within the last minute; drops older ones.
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
