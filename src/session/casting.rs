//! Changes to a table's description while it runs.
//!
//! Changes to an NPC apply from its next turn on, once outside services that it needs are announced;
//! everything else applies from the next utterance on.
//! **Never**: breaks off a turn.

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

/// Reason for not answering what was said to an NPC whose file is gone.
const HAS_LEFT: &str = "the npc left the table before it could answer";

/// Notice where the sound model that ends turns is configured and not available.
const DEAF: &str = "turn.detector: cannot use the sound model, so turns end by their words alone \
                    (see the log; glyphoxa models get smart-turn)";

impl Table {
    /// Goes by `recast` from now on.
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

    /// Has one NPC go by `role` from now on.
    pub(super) fn recast_one(&mut self, role: Role) {
        self.admit(role);
        self.learn_names();
        self.drop_guesses();
    }

    /// The people were told of `services`. If NPCs waited for that, what is being said or is on its way here
    /// was said before, and is dropped.
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

    /// Has an NPC go by `role`, once its services are announced.
    fn admit(&mut self, role: Role) {
        if let Some(role) = self.announced.admit(role) {
            self.cast(role);
        }
    }

    /// Says it where the sound model that is to end turns is not there.
    pub(super) fn tell_of_judge(&self) {
        if self.options.detector.listens() && !self.hearing.listens() {
            self.reports.notice(DEAF.to_owned());
        }
    }

    /// Has an NPC go on after its turn, or sit down.
    fn cast(&mut self, role: Role) {
        let Some(make) = role.seat else {
            // Its file is back before it has left.
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

    /// Has a seat that is free go on as it is to.
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

    /// Relearns the names of the cast and of the players' characters.
    pub(super) fn learn_names(&mut self) {
        self.router.learn_names(&self.seats, &self.speakers.characters());
        self.seated.send_replace(self.seats.cast());
        self.expect_names();
    }

    /// Gives up every answer begun on a partial: what it was begun with has changed.
    pub(super) fn drop_guesses(&mut self) {
        let now = Instant::now();
        for speaker in self.hearing.speakers() {
            self.drop_ahead(now, speaker);
        }
    }
}
