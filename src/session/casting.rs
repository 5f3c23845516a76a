//! Changes to a running table's description.
//!
//! NPC changes apply from the next turn, once the services they need are announced; all others from
//! the next utterance. No turn is broken off.

use std::collections::BTreeSet;

use tokio::time::Instant;

use super::{
    SeatId,
    judging::Listening,
    recast::{Recast, Role},
    routing::Background,
    seat::Next,
    table::Table,
};
use crate::provider::Error;

/// Detail of utterances to an NPC whose file is gone.
const HAS_LEFT: &str = "the npc left the table before it could answer";

/// Notice if the configured end-of-turn sound model is unavailable.
const DEAF: &str = "turn.detector: cannot use the sound model, so turns end by their words alone \
                    (see the log; glyphoxa models get smart-turn)";

impl Table {
    pub(super) fn recast(&mut self, recast: Recast) {
        let Recast { options, judge, campaign, keywords, rules, cast } = recast;
        self.hearing.set_listening(Listening::new(options.ends(), judge));
        self.players.set_limits(options.limits);
        self.options = options;
        self.tell_of_judge();
        self.speakers.set_characters(campaign.players.clone());
        if let Some(recaller) = &self.recaller {
            recaller.read_names_again();
        }
        for (seat, of) in self.seats.iter_mut() {
            if !cast.iter().any(|role| role.npc == of.npc.name) {
                tracing::info!(npc = of.npc.name, seat = seat.0, "leaves after its turn");
                of.next = Some(Next::Leave);
            }
        }
        self.router.take(Background { campaign, keywords, rules });
        self.announced.keep_cast(|npc| cast.iter().any(|role| role.npc == npc));
        cast.into_iter().for_each(|role| self.admit(role));
        self.learn_names();
        self.drop_guesses();
    }

    pub(super) fn recast_one(&mut self, role: Role) {
        self.admit(role);
        self.learn_names();
        self.drop_guesses();
    }

    /// Records that `services` were announced. If NPCs waited for that, drops speech from before
    /// the announcement.
    pub(super) fn announce(&mut self, services: BTreeSet<String>) {
        let now = Instant::now();
        let roles = self.announced.told(now, services);
        if roles.is_empty() {
            return;
        }
        self.drop_guesses();
        for (utterance, why) in self.hearing.clear() {
            self.said_to_nobody(utterance, why);
        }
        roles.into_iter().for_each(|role| self.cast(role));
        self.learn_names();
    }

    fn admit(&mut self, role: Role) {
        if let Some(role) = self.announced.admit(role) {
            self.cast(role);
        }
    }

    pub(super) fn tell_of_judge(&self) {
        if self.options.detector.listens() && !self.hearing.listens() {
            self.reports.notice(DEAF.to_owned());
        }
    }

    fn cast(&mut self, role: Role) {
        let Some(make) = role.seat else {
            // The file came back before the NPC left.
            if let Some(seat) = self.seats.known(&role.npc)
                && matches!(self.seats[seat].next, Some(Next::Leave))
            {
                self.seats[seat].next = None;
            }
            return;
        };
        match self.seats.known(&role.npc) {
            Some(seat) if self.seats.has(seat) => self.seats[seat].next = Some(Next::Recast(make)),
            Some(seat) => {
                if let Err(error) = self.seats[seat].go_on(make) {
                    return self.stays_out(&role.npc, &error);
                }
                self.seats[seat].has_left = false;
                self.sits_down(seat);
            }
            None => match make() {
                Ok(made) => {
                    let seat = self.seats.add(made);
                    self.sits_down(seat);
                }
                Err(error) => self.stays_out(&role.npc, &error),
            },
        }
    }

    fn stays_out(&self, npc: &str, error: &Error) {
        self.reports.notice(format!("{npc} can't join the table: {error}"));
    }

    fn sits_down(&mut self, seat: SeatId) {
        self.router.scene.join(seat, &self.seats[seat].npc.name);
        self.warm_seat(seat);
    }

    pub(super) fn go_on(&mut self, seat: SeatId, next: Next) {
        match next {
            Next::Recast(make) => {
                if let Err(error) = self.seats[seat].go_on(make) {
                    let npc = &self.seats[seat].npc.name;
                    self.reports.notice(format!("{npc} is unchanged: {error}"));
                }
                self.warm_seat(seat);
            }
            Next::Leave => {
                let waiting = std::mem::take(&mut self.seats[seat].waiting);
                self.give_up(waiting, HAS_LEFT);
                let left = &mut self.seats[seat];
                (left.has_left, left.muted, left.note) = (true, false, None);
                self.router.leave(seat);
            }
        }
        self.learn_names();
    }

    pub(super) fn learn_names(&mut self) {
        self.router.learn_names(&self.seats, &self.speakers.characters());
        self.seated.send_replace(self.seats.cast());
        self.expect_names();
        // NPCs and the names that notes have may have changed.
        self.tell_how_it_stands();
    }

    /// Drops all guesses: their basis has changed.
    pub(super) fn drop_guesses(&mut self) {
        let now = Instant::now();
        for speaker in self.hearing.speakers() {
            self.drop_ahead(now, speaker);
        }
    }
}
