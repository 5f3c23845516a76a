//! What an X-card takes back: the last exchange that was heard.
//!
//! Entry type: [`RecentLines`]. **Never**: knows who has used the card.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use super::{line::TurnLine, seats::Seats};

/// What was told longer ago than this is no part of what the card is held up for, save the last.
const RECENT: Duration = Duration::from_secs(60);
/// Lines that are looked back at.
const LINES: usize = 64;
/// What was told last, the latest at the end.
#[derive(Debug, Default)]
pub struct RecentLines(VecDeque<Told>);

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

    /// NPCs forget what was said last; the lines' numbers.
    pub fn take_back(&mut self, now: Instant, seats: &mut Seats) -> Vec<u64> {
        let taken = self.take(now);
        for told in taken.iter().rev() {
            let (speaker, text) = &told.said;
            for seat in seats.all_mut() {
                seat.conversation.unhear(speaker, text);
                if let Some((npc, reply)) = &told.reply {
                    match &told.remembered {
                        Some(said) if seat.npc.name == *npc => seat.conversation.take_back(said),
                        _ => seat.conversation.unhear(npc, reply),
                    }
                }
            }
        }
        taken.into_iter().map(|told| told.turn).collect()
    }
}
