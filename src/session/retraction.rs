//! Retraction by an X-card: takes back the exchange that the card refers to, with everything since.
//!
//! A spoken card takes effect when it is recognised, a second or more after its words began;
//! another NPC may speak by then. So it refers to the exchange that was audible when its words
//! began; else to the last one that ended within [`LATE`] before; else to the last one. Lines
//! published since then were spoken over the card.
//!
//! Entry types: [`RecentLines`], [`Card`].

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

use super::{line::TurnLine, seats::Seats};
use crate::{
    domain::{PersonId, Said},
    logic::prompt::SideLine,
};

/// Lines older than this are not affected, except the last exchange.
const RECENT: Duration = Duration::from_secs(60);
/// Longest time from the end of an answer to an X-card against it.
const LATE: Duration = Duration::from_secs(3);
const LINES: usize = 64;

#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// When its words began or its button was pressed.
    pub began: Instant,
    pub now: Instant,
    pub audible_since: Option<Instant>,
}

#[derive(Debug, Default)]
pub struct RecentLines(VecDeque<Told>);

#[derive(Debug)]
struct Told {
    turn: u64,
    at: Instant,
    /// The utterance as shown to other NPCs.
    said: SideLine,
    /// The NPC, and its words that were played.
    reply: Option<(String, String)>,
    audible_since: Option<Instant>,
    /// Beginning of the exchange in the NPC's history.
    remembered: Option<Said>,
}

impl Told {
    fn is_answer(&self) -> bool {
        self.reply.as_ref().is_some_and(|(_, text)| !text.is_empty())
    }
}

impl RecentLines {
    /// Adds a published line; `said` is its side line.
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

    /// Notes how the exchange of the last line begins in its NPC's history.
    pub fn remembered(&mut self, said: &Said) {
        if let Some(last) = self.0.back_mut() {
            last.remembered = Some(said.clone());
        }
    }

    pub fn forget(&mut self, person: &PersonId) {
        self.0.retain(|told| told.said.by.as_ref() != Some(person));
    }

    /// Takes the exchange that `card` refers to, unless it is still playing, and all later lines.
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

    /// The answer audible at `at`, or the last one that ended within [`LATE`] before. Only one NPC
    /// speaks at a time.
    fn audible_at(&self, at: Instant) -> Option<usize> {
        self.0.iter().rposition(|told| {
            let had_begun = told.audible_since.is_some_and(|since| since <= at);
            told.is_answer() && had_begun && at <= told.at + LATE
        })
    }

    /// The last answer or, if it is too old, the first recent line.
    fn last(&self, now: Instant) -> Option<usize> {
        let recent = |told: &Told| now.saturating_duration_since(told.at) <= RECENT;
        let answer = self.0.iter().rposition(|told| recent(told) && told.is_answer());
        let first = answer.or_else(|| self.0.iter().position(recent));
        first.or_else(|| self.0.len().checked_sub(1))
    }

    /// Makes NPCs forget the exchange and everything since; returns the numbers of its lines.
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
