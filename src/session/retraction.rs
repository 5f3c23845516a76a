//! Retraction by an X-card: takes back the exchange that the card refers to, with everything since.
//!
//! A spoken card acts when it is recognised, a second or more after its words began; by then another NPC may
//! speak. So the exchange is the one that was audible when the words began; if none was, the last one that
//! ended within [`LATE`] before; else the last one. Lines that were reported since the words began were said
//! over the card.
//!
//! Entry types: [`RecentLines`], [`Card`]. **Never**: knows who has used the card.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use super::{line::TurnLine, seats::Seats};
use crate::{
    domain::{PersonId, Said},
    logic::prompt::SideLine,
};

/// Lines older than this are no part of what the card is held up for, save the last.
const RECENT: Duration = Duration::from_secs(60);
/// Longest time from the end of an answer to the first word of an X-card that is held up against it.
const LATE: Duration = Duration::from_secs(3);
/// Lines that are looked back at.
const LINES: usize = 64;

/// An X-card.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// First word of it, or the press of its button.
    pub began: Instant,
    /// Time at which it takes effect.
    pub now: Instant,
    /// First sound of the answer that is audible now.
    pub audible_since: Option<Instant>,
}

/// The newest lines, the latest at the end.
#[derive(Debug, Default)]
pub struct RecentLines(VecDeque<Told>);

/// A line that was told.
#[derive(Debug)]
struct Told {
    turn: u64,
    at: Instant,
    /// The utterance, as NPCs hear it.
    said: SideLine,
    /// The NPC, and what it has spoken.
    reply: Option<(String, String)>,
    /// First sound of the reply.
    audible_since: Option<Instant>,
    /// Beginning of the exchange in the NPC's history.
    remembered: Option<Said>,
}

impl Told {
    /// True if something of an answer was spoken.
    fn is_answer(&self) -> bool {
        self.reply.as_ref().is_some_and(|(_, text)| !text.is_empty())
    }
}

impl RecentLines {
    /// Adds a line, of which NPCs heard what was `said`.
    pub fn told(&mut self, line: &TurnLine, said: SideLine) {
        if self.0.len() == LINES {
            self.0.pop_front();
        }
        self.0.push_back(Told {
            turn: line.turn,
            at: Instant::now(),
            said,
            reply: line.npc.clone().map(|npc| (npc, line.reply.clone())),
            audible_since: line.circumstances.answered_at,
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

    /// The exchange that `card` is held up against, unless it is still being heard, and all lines since.
    fn take(&mut self, card: Card) -> Vec<Told> {
        let exchange = match card.audible_since {
            Some(since) if since <= card.began => None,
            Some(_) => self.audible_at(card.began),
            None => self.audible_at(card.began).or_else(|| self.last(card.now)),
        };
        let said_over = self.0.iter().position(|told| told.at > card.began);
        let first = exchange.into_iter().chain(said_over).min();
        self.0.split_off(first.unwrap_or(self.0.len())).into()
    }

    /// The answer that was audible at `at`, or the last one that had ended shortly before. One NPC speaks at a
    /// time, so it is the last that had begun by then.
    fn audible_at(&self, at: Instant) -> Option<usize> {
        self.0.iter().rposition(|told| {
            let had_begun = told.audible_since.is_some_and(|since| since <= at);
            told.is_answer() && had_begun && at <= told.at + LATE
        })
    }

    /// The last answer; where that is long ago, the first line of what was said just now.
    fn last(&self, now: Instant) -> Option<usize> {
        let recent = |told: &Told| now.saturating_duration_since(told.at) <= RECENT;
        let answer = self.0.iter().rposition(|told| recent(told) && told.is_answer());
        let first = answer.or_else(|| self.0.iter().position(recent));
        first.or_else(|| self.0.len().checked_sub(1))
    }

    /// NPCs forget the exchange that `card` is held up against, and all that was said since; the lines' numbers.
    pub fn take_back(&mut self, card: Card, seats: &mut Seats) -> Vec<u64> {
        let taken = self.take(card);
        for told in taken.iter().rev() {
            for seat in seats.all_mut() {
                seat.conversation.remove_side_line(&told.said);
                if let Some((npc, reply)) = &told.reply {
                    match &told.remembered {
                        Some(said) if seat.npc.name == *npc => seat.conversation.take_back(said),
                        _ => seat.conversation.remove_side_line(&SideLine {
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
