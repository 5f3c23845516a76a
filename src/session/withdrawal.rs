//! Withdrawal of what is under way at a table: of everybody by an X-card, of one person by an opt-out or
//! a deletion.
//!
//! Entry method: [`Table::withdraw`]. It reaches turns, words that are being heard, questions that wait,
//! calls that outlive their turns (with their approvals and pictures), results that have just come, and
//! summaries that are being written. **Never**: takes back what was told before; its callers do.

use tokio::time::Instant;

use super::{
    table::Table,
    utterance::{Purpose, Utterance, Waiting},
};
use crate::domain::{PersonId, TurnId};

/// Work that was under way.
pub(super) struct Withdrawn {
    /// Purposes of the turns.
    pub turns: Vec<Purpose>,
    /// Questions that waited.
    pub waiting: Vec<Purpose>,
}

impl Table {
    /// Withdraws what is under way for `person`, or everybody (`None`). Turns are not remembered; those of
    /// a person end at once, without a line.
    pub(super) fn withdraw(&mut self, person: Option<&PersonId>) -> Withdrawn {
        let now = Instant::now();
        match person {
            Some(person) => self.host.withdraw(person),
            None => self.host.withdraw_all(&self.session),
        }
        // Results that have come are questions that wait.
        while let Ok(late) = self.late_in.try_recv() {
            self.late(late);
        }
        let speakers = &self.speakers;
        let is_theirs =
            |it: &Utterance| person.is_none_or(|person| speakers.person(it.speaker) == *person);
        let mut withdrawn = Withdrawn { turns: Vec::new(), waiting: Vec::new() };
        for (_, seat) in self.seats.iter_mut() {
            let waiting = std::mem::take(&mut seat.waiting);
            let (theirs, others): (Waiting, Waiting) =
                waiting.into_iter().partition(|it| is_theirs(&it.utterance));
            seat.waiting = others;
            withdrawn.waiting.extend(theirs);
        }
        let mut wanted: Vec<TurnId> = Vec::new();
        for turn in self.turns.iter().filter(|turn| is_theirs(&turn.purpose.utterance)) {
            // A report that is still to come must not store their words again, or what its tools did.
            turn.taken_back = true;
            withdrawn.turns.push(turn.purpose.clone());
            wanted.extend(turn.is_wanted().then_some(turn.id));
        }
        let Some(person) = person else { return withdrawn };
        for turn in wanted {
            self.drop_turn(now, turn);
        }
        for speaker in self.hearing.speakers() {
            if self.speakers.person(speaker) == *person {
                self.drop_ahead(now, speaker);
                self.hearing.remove(speaker);
            }
        }
        self.summaries.withdraw();
        withdrawn
    }
}
