//! Withdrawal of work in progress: everyone's after an X-card, one person's after an opt-out or a
//! deletion.
//!
//! Entry method: [`Table::withdraw`]. Covers turns, open utterances, queued requests, calls that
//! outlive their turns (with approvals and pictures), results that just arrived, and summaries in
//! progress. Callers take back what was already published.

use tokio::time::Instant;

use super::{
    table::Table,
    utterance::{Purpose, Utterance, Waiting},
};
use crate::domain::{PersonId, TurnId};

pub(super) struct Withdrawn {
    pub turns: Vec<Purpose>,
    pub waiting: Vec<Purpose>,
}

impl Table {
    /// Withdraws work for `person`, or for everyone (`None`). Its turns are not stored; a person's
    /// end at once, without a line.
    pub(super) fn withdraw(&mut self, person: Option<&PersonId>) -> Withdrawn {
        let now = Instant::now();
        match person {
            Some(person) => self.host.withdraw(person),
            None => self.host.withdraw_all(&self.session),
        }
        // Results that arrived are queued requests.
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
            // A late report must not store their words or tool results.
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
