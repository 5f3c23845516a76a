//! The X-card: everyone stops, and the last exchange is taken back.
//!
//! Entry function: [`Table::halt`]. **Never**: tells anybody who has used it.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use super::{
    TableEvent,
    line::{Outcome, TurnLine},
    table::Table,
    turns::{Ended, Purpose, Utterance},
};

/// What was told longer ago than this is no part of what the card is held up for, save the last.
const RECENT: Duration = Duration::from_secs(60);
/// Lines that are looked back at.
const LINES: usize = 64;
/// What became of an X-card.
const HALTED: &str = "everyone has stopped and is muted";
/// What became of an exchange.
const TAKEN_BACK: &str = "taken back: an x-card was held up";

/// What was told last, the latest at the end.
#[derive(Debug, Default)]
pub(super) struct RecentLines(VecDeque<Told>);

/// A line that was told.
#[derive(Debug)]
struct Told {
    turn: u64,
    at: Instant,
    /// What NPCs call the speaker, and what they said.
    said: (String, String),
    /// The NPC, and what was heard of it.
    reply: Option<(String, String)>,
    /// How the exchange begins in the NPC's history.
    remembered: Option<String>,
}

impl RecentLines {
    /// A line of somebody whom NPCs call `called` is told.
    pub fn told(&mut self, line: &TurnLine, called: &str) {
        if self.0.len() == LINES {
            self.0.pop_front();
        }
        self.0.push_back(Told {
            turn: line.turn,
            at: Instant::now(),
            said: (called.to_owned(), line.heard.clone()),
            reply: line.npc.clone().map(|npc| (npc, line.reply.clone())),
            remembered: None,
        });
    }

    /// The NPC of the last line remembers the exchange, which begins so.
    pub fn remembered(&mut self, said: &str) {
        if let Some(last) = self.0.back_mut() {
            last.remembered = Some(said.to_owned());
        }
    }

    /// What somebody whom NPCs call so has said is no more.
    pub fn forget(&mut self, called: &str) {
        self.0.retain(|told| told.said.0 != called);
    }

    /// The last exchange that was heard and what was said since; where the last one is long ago,
    /// what was said just now.
    fn take(&mut self, now: Instant) -> Vec<Told> {
        let recent = |told: &Told| now.saturating_duration_since(told.at) <= RECENT;
        let is_answer = |told: &Told| told.reply.as_ref().is_some_and(|(_, text)| !text.is_empty());
        let answer = self.0.iter().rposition(|told| recent(told) && is_answer(told));
        let first = answer.or_else(|| self.0.iter().position(recent));
        self.0.split_off(first.unwrap_or(self.0.len().saturating_sub(1))).into()
    }
}

impl Table {
    /// Everyone stops and is muted; what is being heard is taken back with what was asked
    /// meanwhile, or what was heard last if nobody speaks.
    pub(super) fn halt(&mut self) {
        let now = Instant::now();
        let under_way = self.turns.iter().map(|turn| {
            turn.taken_back = true;
            (turn.began_at.is_some(), turn.purpose.clone())
        });
        let under_way: Vec<(bool, Purpose)> = under_way.collect();
        let waiting: Vec<Purpose> =
            self.seats.iter_mut().flat_map(|(_, seat)| std::mem::take(&mut seat.waiting)).collect();
        for purpose in under_way.iter().map(|(_, purpose)| purpose).chain(&waiting) {
            self.unhear(purpose);
        }
        for purpose in waiting {
            self.blank_line(Outcome::Cancelled, purpose.utterance.typed);
        }
        self.mute(None, true);
        let was_heard = under_way.iter().any(|(heard, _)| *heard);
        let taken_back = if was_heard { Vec::new() } else { self.take_back_last(now) };
        self.tell(TableEvent::Halted { taken_back });
    }

    /// NPCs forget what was said last; the lines' numbers.
    fn take_back_last(&mut self, now: Instant) -> Vec<u64> {
        let taken = self.recent.take(now);
        for told in taken.iter().rev() {
            let (speaker, text) = &told.said;
            for (_, seat) in self.seats.iter_mut() {
                seat.engine.forget(speaker, text);
                if let Some((npc, reply)) = &told.reply {
                    match &told.remembered {
                        Some(said) if seat.npc.name == *npc => seat.engine.take_back(said),
                        _ => seat.engine.forget(npc, reply),
                    }
                }
            }
        }
        taken.into_iter().map(|told| told.turn).collect()
    }

    /// Somebody has said the X-card: nobody is told who.
    pub(super) fn halt_for(&mut self, utterance: &Utterance) {
        self.halt();
        let line = TurnLine {
            heard: utterance.text.clone(),
            stt: self.heard_by(utterance),
            spent: self.purse.spent(),
            ..TurnLine::unanswered(Outcome::Stopped, HALTED.to_owned())
        };
        self.line_of_nobody(line);
    }

    /// A turn that was taken back has ended: nobody remembers it, and its line has no words.
    pub(super) fn end_taken_back(&mut self, ended: Ended) {
        if let Some(line) = ended.line {
            self.blank_line(line.outcome, line.stt == TurnLine::TYPED);
        }
        self.warm_seat(ended.seat);
    }

    fn blank_line(&mut self, outcome: Outcome, typed: bool) {
        let stt = if typed { TurnLine::TYPED } else { self.recogniser.stt.name() }.to_owned();
        let spent = self.purse.spent();
        let line = TurnLine { stt, spent, ..TurnLine::unanswered(outcome, TAKEN_BACK.to_owned()) };
        self.line_of_nobody(line);
    }
}
