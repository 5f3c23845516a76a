//! Retraction by an X-card: the last exchange that was heard is taken back.
//!
//! Entry type: [`RecentLines`]. **Never**: knows who has used the card.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use super::{line::TurnLine, seats::Seats};
use crate::{
    domain::{PersonId, Said},
    logic::prompt::Overheard,
};

/// Lines older than this are no part of what the card is held up for, save the last.
const RECENT: Duration = Duration::from_secs(60);
/// Lines that are looked back at.
const LINES: usize = 64;
/// The newest lines, the latest at the end.
#[derive(Debug, Default)]
pub struct RecentLines(VecDeque<Told>);

/// A line that was told.
#[derive(Debug)]
struct Told {
    turn: u64,
    at: Instant,
    /// The utterance, as NPCs hear it.
    said: Overheard,
    /// The NPC, and what was heard of it.
    reply: Option<(String, String)>,
    /// Beginning of the exchange in the NPC's history.
    remembered: Option<Said>,
}

impl RecentLines {
    /// Adds a line, of which NPCs heard what was `said`.
    pub fn told(&mut self, line: &TurnLine, said: Overheard) {
        if self.0.len() == LINES {
            self.0.pop_front();
        }
        self.0.push_back(Told {
            turn: line.turn,
            at: Instant::now(),
            said,
            reply: line.npc.clone().map(|npc| (npc, line.reply.clone())),
            remembered: None,
        });
    }

    /// The NPC of the last line remembers the exchange, which begins so.
    pub fn remembered(&mut self, said: &Said) {
        if let Some(last) = self.0.back_mut() {
            last.remembered = Some(said.clone());
        }
    }

    /// Drops the lines that a person has said.
    pub fn forget(&mut self, person: &PersonId) {
        self.0.retain(|told| told.said.by.as_ref() != Some(person));
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

    /// NPCs forget what was said last; the lines' numbers.
    pub fn take_back(&mut self, now: Instant, seats: &mut Seats) -> Vec<u64> {
        let taken = self.take(now);
        for told in taken.iter().rev() {
            for seat in seats.all_mut() {
                seat.conversation.unhear(&told.said);
                if let Some((npc, reply)) = &told.reply {
                    match &told.remembered {
                        Some(said) if seat.npc.name == *npc => seat.conversation.take_back(said),
                        _ => seat.conversation.unhear(&Overheard {
                            speaker: npc.clone(),
                            by: told.said.by.clone(),
                            text: reply.clone(),
                            unanswered: false,
                        }),
                    }
                }
            }
        }
        taken.into_iter().map(|told| told.turn).collect()
    }
}
