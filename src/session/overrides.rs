//! The game master's tiers, by command and by voice, over what is selected.
//!
//! Entry types: [`Overrides`], [`TurnTier`]. The most particular goes first: the NPC's next turn
//! ("think carefully"), then the NPC's own, then everybody's ("go faster").
//! **Never**: selects a tier.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;

use super::{line::TierLine, seat_id::SeatId};
use crate::{domain::Tier, logic::tier::effective};

/// The tier of a turn and where it comes from.
#[derive(Clone, Debug)]
pub struct TurnTier {
    /// Tier that the selector chose.
    pub selected: Tier,
    /// Tier after the NPC's ceiling and the game master's override.
    pub effective: Tier,
    /// Reason for the selection.
    because: Because,
    by_dm: bool,
}

/// Reason for selecting a tier.
#[derive(Clone, Debug)]
pub struct Because {
    /// In words.
    pub text: String,
    /// A word of the utterance asks for it.
    pub is_keyword: bool,
}

impl TurnTier {
    /// The tier of a turn for which nothing is selected.
    pub const fn fast(because: String) -> Self {
        let because = Because { text: because, is_keyword: false };
        Self { selected: Tier::Fast, effective: Tier::Fast, because, by_dm: false }
    }

    /// The game master or a word of the utterance has asked for it.
    pub const fn is_asked(&self) -> bool {
        self.by_dm || self.because.is_keyword
    }

    /// The tier as reports show it.
    pub fn line(&self) -> TierLine {
        let reason = match self.by_dm {
            true => format!("game master's override; else {}", self.because.text),
            false => self.because.text.clone(),
        };
        TierLine { selected: self.selected, effective: self.effective, reason }
    }
}

/// Highest tier that a seat's turns reach by themselves.
#[derive(Clone, Copy, Debug)]
pub struct SeatCeiling {
    /// The seat of the NPC.
    pub seat: SeatId,
    /// Its highest tier, which only the game master goes above.
    pub highest: Tier,
}

/// A tier for a while.
#[derive(Clone, Copy, Debug)]
struct Override {
    tier: Tier,
    until: Option<Instant>,
}

/// Overrides of one seat: for its next turn alone, and for longer.
#[derive(Clone, Copy, Debug, Default)]
struct Own {
    next: Option<Tier>,
    set: Option<Override>,
}

/// All overrides that the game master has set.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    everyone: Option<Override>,
    seats: BTreeMap<SeatId, Own>,
}

impl Overrides {
    /// Sets a tier for a seat or for everyone, until then if given; no tier takes it back, without
    /// a seat from everybody.
    pub fn set(&mut self, seat: Option<SeatId>, tier: Option<Tier>, until: Option<Instant>) {
        let set = tier.map(|tier| Override { tier, until });
        match seat {
            Some(seat) => {
                self.seats.insert(seat, Own { next: None, set });
            }
            None => {
                self.everyone = set;
                if set.is_none() {
                    self.seats.clear();
                }
            }
        }
    }

    /// Sets the tier of the seat's next turn alone.
    pub fn set_next(&mut self, seat: SeatId, tier: Tier) {
        self.seats.entry(seat).or_default().next = Some(tier);
    }

    /// The seat's next turn has begun.
    pub fn begins(&mut self, seat: SeatId) {
        if let Some(own) = self.seats.get_mut(&seat) {
            own.next = None;
        }
    }

    /// Nobody sits there any more.
    pub fn leave(&mut self, seat: SeatId) {
        self.seats.remove(&seat);
    }

    /// The override that applies to the seat now, and the time it has left; no time: it applies to the next
    /// turn alone, or without limit.
    pub fn of(&self, seat: SeatId, now: Instant) -> Option<(Tier, Option<Duration>)> {
        let own = self.seats.get(&seat).copied().unwrap_or_default();
        if let Some(tier) = own.next {
            return Some((tier, None));
        }
        let holds = |it: &Override| it.until.is_none_or(|until| now < until);
        let set = own.set.filter(holds).or(self.everyone.filter(holds))?;
        Some((set.tier, set.until.map(|until| until.saturating_duration_since(now))))
    }

    /// The tier of a turn of the seat for which `selected` was chosen `because` of something.
    pub fn decide(
        &self,
        SeatCeiling { seat, highest }: SeatCeiling,
        now: Instant,
        selected: Tier,
        because: Because,
    ) -> TurnTier {
        let by_dm = self.of(seat, now).map(|(tier, _)| tier);
        let effective = effective(selected, highest, by_dm);
        TurnTier { selected, effective, because, by_dm: by_dm.is_some() }
    }

    /// Decides the turn's tier once more, as of now: the turn may have waited.
    pub fn decide_again(&self, of: SeatCeiling, now: Instant, tier: TurnTier) -> TurnTier {
        self.decide(of, now, tier.selected, tier.because)
    }
}
