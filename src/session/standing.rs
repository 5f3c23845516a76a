//! State of a table, from which another table goes on.
//!
//! Entry methods: [`Table::tell_how_it_stands`], [`Table::continue_from`].

use std::sync::Arc;

use tokio::time::Instant;

use super::{
    SeatId, SpeakerId, TableEvent,
    clock::Clocks,
    continuation::{Continuation, RecordedTable},
    table::Table,
};
use crate::domain::{PersonId, Tier};

impl Table {
    /// Publishes the state to continue from if it has changed. Call it after each change.
    pub(super) fn tell_how_it_stands(&mut self) {
        let stands = Arc::new(self.stands());
        if self.stood != stands {
            self.stood = Arc::clone(&stands);
            self.reports.tell(TableEvent::Stands(stands));
        }
    }

    pub(super) fn stands(&self) -> Continuation {
        let clocks = self.clocks();
        let standing = RecordedTable {
            seats: &self.seats,
            router: &self.router,
            speakers: &self.speakers,
            carded: &self.carded,
            clocks,
        };
        Continuation {
            paused: self.paused.by_dm,
            music: Some(self.music.kept(clocks.unix)),
            ..Continuation::of(&standing)
        }
    }

    /// Restores `continuation`, if any. Call it before anyone has joined.
    pub(super) fn continue_from(&mut self, continuation: Option<&Continuation>) {
        if let Some(continuation) = continuation {
            let clocks = self.clocks();
            self.carded = continuation.restore(&mut self.seats, &mut self.router, clocks);
            self.paused.by_dm = continuation.paused;
            if let Some(music) = &continuation.music {
                self.music.go_on(music, clocks.unix);
            }
        }
        self.stood = Arc::new(self.stands());
    }

    fn clocks(&self) -> Clocks {
        let unix = self.recaller.as_ref().map(|recaller| recaller.unix());
        Clocks { now: Instant::now(), unix }
    }

    pub(super) fn pin(&mut self, player: Option<SpeakerId>, seat: Option<SeatId>) {
        if seat.is_none_or(|seat| self.seats.has(seat)) {
            self.router.pins.set(player, seat);
            self.tell_how_it_stands();
        }
    }

    pub(super) fn set_tier(
        &mut self,
        seat: Option<SeatId>,
        tier: Option<Tier>,
        until: Option<Instant>,
    ) {
        if seat.is_none_or(|seat| self.seats.has(seat)) {
            self.router.overrides.set(seat, tier, until);
            self.tell_how_it_stands();
        }
    }

    /// Removes notes that name `person`, and their pins.
    pub(super) fn remove_orders_about(&mut self, person: &PersonId) {
        let speakers = &self.speakers;
        for (_, seat) in self.seats.iter_mut() {
            seat.note.take_if(|note| speakers.named_in(&note.text).contains(person));
        }
        let pinned: Vec<SpeakerId> =
            self.router.pins.all().filter_map(|(player, _)| player).collect();
        for player in pinned {
            if self.speakers.person(player) == *person {
                self.router.pins.set(Some(player), None);
            }
        }
        self.tell_how_it_stands();
    }
}
