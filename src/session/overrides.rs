//! The game master's settings for seats, by command and by voice: tier overrides and pins.
//!
//! Entry types: [`Overrides`], [`TurnTier`], [`Pins`]. The most specific override wins: the NPC's
//! next turn ("think carefully"), then the NPC's own override, then that of all NPCs ("go faster").

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;

use super::{SeatId, line::TierLine, speakers::SpeakerId};
use crate::{domain::Tier, logic::tier::effective};

#[derive(Clone, Debug)]
pub struct TurnTier {
    pub selected: Tier,
    /// After the NPC's ceiling and the game master's override.
    pub effective: Tier,
    because: Because,
    by_dm: bool,
}

#[derive(Clone, Debug)]
pub struct Because {
    pub text: String,
    pub is_keyword: bool,
}

impl TurnTier {
    pub const fn fast(because: String) -> Self {
        let because = Because { text: because, is_keyword: false };
        Self { selected: Tier::Fast, effective: Tier::Fast, because, by_dm: false }
    }

    pub const fn is_asked(&self) -> bool {
        self.by_dm || self.because.is_keyword
    }

    pub fn line(&self) -> TierLine {
        let reason = match self.by_dm {
            true => format!("game master's override; else {}", self.because.text),
            false => self.because.text.clone(),
        };
        TierLine { selected: self.selected, effective: self.effective, reason }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct SeatCeiling {
    pub seat: SeatId,
    /// Highest tier without an order of the game master.
    pub highest: Tier,
}

#[derive(Clone, Copy, Debug)]
struct Override {
    tier: Tier,
    until: Option<Instant>,
}

/// Overrides of one seat: for its next turn, and for longer.
#[derive(Clone, Copy, Debug, Default)]
struct Own {
    next: Option<Tier>,
    set: Option<Override>,
}

#[derive(Clone, Debug, Default)]
pub struct Overrides {
    everyone: Option<Override>,
    seats: BTreeMap<SeatId, Own>,
}

impl Overrides {
    /// Sets a tier for a seat or for all, until `until`. No tier: removes it; without a seat, all
    /// of them.
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

    pub fn set_next(&mut self, seat: SeatId, tier: Tier) {
        self.seats.entry(seat).or_default().next = Some(tier);
    }

    /// A turn of `seat` begins; true if that ends an override.
    pub fn begins(&mut self, seat: SeatId) -> bool {
        self.seats.get_mut(&seat).is_some_and(|own| own.next.take().is_some())
    }

    /// Overrides of seats, and that of all (`None`), with their ends.
    pub fn lasting(&self) -> impl Iterator<Item = (Option<SeatId>, Tier, Option<Instant>)> {
        let own = self.seats.iter().filter_map(|(seat, own)| Some((Some(*seat), own.set?)));
        let all = self.everyone.map(|it| (None, it)).into_iter().chain(own);
        all.map(|(seat, it)| (seat, it.tier, it.until))
    }

    /// Overrides for the next turn of a seat.
    pub fn next_turns(&self) -> impl Iterator<Item = (SeatId, Tier)> {
        self.seats.iter().filter_map(|(seat, own)| Some((*seat, own.next?)))
    }

    pub fn leave(&mut self, seat: SeatId) {
        self.seats.remove(&seat);
    }

    /// The override that applies to the seat, and its remaining time; `None`: for the next turn
    /// only, or without limit.
    pub fn of(&self, seat: SeatId, now: Instant) -> Option<(Tier, Option<Duration>)> {
        let own = self.seats.get(&seat).copied().unwrap_or_default();
        if let Some(tier) = own.next {
            return Some((tier, None));
        }
        let holds = |it: &Override| it.until.is_none_or(|until| now < until);
        let set = own.set.filter(holds).or(self.everyone.filter(holds))?;
        Some((set.tier, set.until.map(|until| until.saturating_duration_since(now))))
    }

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

    /// Applies the current overrides again, after the turn has waited.
    pub fn decide_again(&self, of: SeatCeiling, now: Instant, tier: TurnTier) -> TurnTier {
        self.decide(of, now, tier.selected, tier.because)
    }
}

/// Pins by speaker (`None`: everyone without a pin): their words go to one NPC unless they name
/// another.
#[derive(Clone, Debug, Default)]
pub struct Pins(Vec<(Option<SpeakerId>, SeatId)>);

impl Pins {
    /// Pins a player, or everyone else, to a seat. No seat: removes the pin; without a player, all
    /// pins.
    pub fn set(&mut self, player: Option<SpeakerId>, seat: Option<SeatId>) {
        match (player, seat) {
            (None, None) => self.0.clear(),
            _ => self.0.retain(|(by, _)| *by != player),
        }
        self.0.extend(seat.map(|seat| (player, seat)));
    }

    pub fn leave(&mut self, seat: SeatId) {
        self.0.retain(|(_, pinned)| *pinned != seat);
    }

    pub fn of(&self, speaker: SpeakerId) -> Option<SeatId> {
        let of = |wanted: Option<SpeakerId>| {
            self.0.iter().find(|(by, _)| *by == wanted).map(|(_, seat)| *seat)
        };
        of(Some(speaker)).or_else(|| of(None))
    }

    /// All pins; without a speaker, that of everyone without a pin.
    pub fn all(&self) -> impl Iterator<Item = (Option<SpeakerId>, SeatId)> {
        self.0.iter().copied()
    }

    /// Speakers pinned to `seat`; `None`: everyone without a pin.
    pub fn on(&self, seat: SeatId) -> impl Iterator<Item = Option<SpeakerId>> {
        self.0.iter().filter(move |(_, pinned)| *pinned == seat).map(|(by, _)| *by)
    }
}
