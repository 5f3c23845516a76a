//! Addressing: which NPC an utterance is for, if any.
//!
//! Entry type: [`Addresser`]. The first matching rule decides: a name called at the start, a person
//! the speaker turns to ("I ask the barkeep"), a name at the edges or set off by commas; a denial
//! ("not you") or the name of an absent person, which end the search; the game master's pin, the
//! NPC in conversation with this speaker, the only NPC with the only player, an NPC that answers
//! everything.
//! **Never**: takes a name inside a sentence for an address ("I think Bartok lies"), or lets a
//! muted or absent NPC answer.

mod denial;
mod hits;
mod turning;

use std::fmt;
use std::time::Duration;

use crate::domain::AddressMode;

use super::{language::is_any, words::Words};
use hits::{Group, Lexicon};
use turning::{TurnedTo, Who};

pub use turning::{Called, is_apart};

/// Time after an NPC's last line in which a conversation continues.
const CONVERSATION: Duration = Duration::from_secs(30);

/// Current state of an NPC as a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub mode: AddressMode,
    /// In the scene.
    pub present: bool,
    pub muted: bool,
}

impl Candidate {
    fn can_answer(&self) -> bool {
        self.present && !self.muted
    }
}

/// Everything that the decision depends on.
#[derive(Clone, Copy, Debug)]
pub struct AddressInput<'i> {
    /// With names corrected or not.
    pub text: &'i str,
    /// In the order given to [`Addresser::new`].
    pub candidates: &'i [Candidate],
    /// The NPC in conversation with this speaker, and the time since the end of its last line.
    pub conversation: Option<(usize, Duration)>,
    /// The NPC pinned by the game master.
    pub pinned: Option<usize>,
    /// Players in the channel, with the speaker.
    pub players_present: usize,
}

/// Result of addressing. Numbers index the lists given to [`Addresser::new`]; people added by
/// [`Addresser::meet`] follow the players.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Npc { index: usize, others_named: Vec<usize>, reason: Reason },
    Player(usize),
    Nobody(Why),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Named,
    SoundsLike,
    TurnedTo,
    Pinned,
    Conversation,
    Alone,
    /// It answers everything without another addressee.
    Always,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Named => "called by name",
            Self::SoundsLike => "called by a name like its own",
            Self::TurnedTo => "turned to explicitly",
            Self::Pinned => "pinned by the game master",
            Self::Conversation => "in conversation with the speaker",
            Self::Alone => "alone with the speaker",
            Self::Always => "answers everything",
        })
    }
}

/// Reason for not answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    Silence,
    /// Only "mhm" and the like.
    Filler,
    Muted(usize),
    Absent(usize),
    /// Said outside the game.
    Aside,
    /// The speaker turns to the people at the table.
    Fellows,
    Denied,
    Away,
    /// The NPC is a subject of talk, not addressed.
    SpokenOf(usize),
    NotAddressed,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Silence => "nothing said",
            Self::Filler => "only filler words",
            Self::Muted(_) => "the npc is muted (the game master says \"unmute\" and its name)",
            Self::Absent(_) => "the npc is not in the scene",
            Self::Aside => "said out of character",
            Self::Fellows => "said to the people at the table",
            Self::Denied => "the speaker means somebody else",
            Self::Away => "the person called is not at the table (say the name of an NPC who is)",
            Self::SpokenOf(_) => {
                "the npc is mentioned, not addressed (begin with its name, or \"I ask …\")"
            }
            Self::NotAddressed => "nobody addressed",
        })
    }
}

#[derive(Clone, Debug)]
pub struct Addresser {
    lexicon: Lexicon,
    players: usize,
}

impl Addresser {
    /// Prepares the names of NPCs and players' characters; `language`: ISO 639-1.
    pub fn new(npcs: &[Called<'_>], players: &[Called<'_>], language: &str) -> Self {
        let npcs = npcs.iter().enumerate().map(|(index, called)| (Who::Npc(index), *called));
        let players = players.iter().enumerate().map(|(i, called)| (Who::Player(i), *called));
        let everybody: Vec<_> = npcs.chain(players).collect();
        let players = everybody.iter().filter(|(who, _)| matches!(who, Who::Player(_))).count();
        Self { lexicon: Lexicon::new(&everybody, language), players }
    }

    /// Adds a person at the table by their own name.
    pub fn meet(&mut self, person: &str) {
        self.lexicon.add_person(Who::Player(self.players), person);
        self.players += 1;
    }

    pub fn miss(&mut self, name: &str) {
        self.lexicon.add_away(name);
    }

    /// Decides for which NPC an utterance is.
    pub fn address(&self, input: &AddressInput<'_>) -> Address {
        let words = Words::of(input.text);
        if words.is_empty() {
            return Address::Nobody(Why::Silence);
        }
        let prefer = |who: Who| preference(who, input);
        let alone = input.players_present <= 1;
        let found = self.lexicon.find(input.text, &words, &prefer, alone);
        if found.is_aside {
            return Address::Nobody(Why::Aside);
        }
        let called = found.addressed.first().filter(|group| group.vocative && group.at_start);
        if let Some(turned_to) = found.turned_to.filter(|_| called.is_none()) {
            return by_turning(turned_to, &found.named, input);
        }
        if let Some(group) = found.addressed.first() {
            return by_name(group, &found.addressed, &found.named, input);
        }
        if found.denied.is_some() {
            return Address::Nobody(Why::Denied);
        }
        if self.lexicon.calls_away(input.text, &words, &found.taken) {
            return Address::Nobody(Why::Away);
        }
        if let Some(who) = self.lexicon.sounds_like(input.text, &words, &found.taken) {
            let group = Group { members: vec![who], vocative: false, at_start: false };
            return match by_name(&group, &[], &found.named, input) {
                Address::Npc { index, others_named, .. } => {
                    Address::Npc { index, others_named, reason: Reason::SoundsLike }
                }
                other => other,
            };
        }
        let others_named = npcs(&found.named);
        match unnamed(&words, input) {
            Ok((index, reason)) => {
                let others_named = others_named.into_iter().filter(|&o| o != index).collect();
                Address::Npc { index, others_named, reason }
            }
            Err(Why::NotAddressed) => {
                let spoken_of = found.named.iter().find_map(|who| match who {
                    Who::Npc(index) => Some(Why::SpokenOf(*index)),
                    Who::Player(_) | Who::Away => None,
                });
                Address::Nobody(spoken_of.unwrap_or(Why::NotAddressed))
            }
            Err(why) => Address::Nobody(why),
        }
    }

    /// The NPC for an utterance without a called name; the words need not be known yet.
    pub fn expected(input: &AddressInput<'_>) -> Option<usize> {
        expected(input).ok().map(|(index, _)| index)
    }
}

fn by_turning(turned_to: TurnedTo, named: &[Who], input: &AddressInput<'_>) -> Address {
    let TurnedTo::Somebody(who) = turned_to else { return Address::Nobody(Why::Fellows) };
    let group = Group { members: vec![who], vocative: false, at_start: false };
    match by_name(&group, &[], named, input) {
        Address::Npc { index, others_named, .. } => {
            Address::Npc { index, others_named, reason: Reason::TurnedTo }
        }
        other => other,
    }
}

/// Rank of a person among those who share a name; lower is better.
fn preference(who: Who, input: &AddressInput<'_>) -> usize {
    match who {
        Who::Npc(index) if input.conversation.is_some_and(|(other, _)| other == index) => 0,
        Who::Npc(index) if input.candidates.get(index).is_some_and(Candidate::can_answer) => 1,
        Who::Player(_) => 2,
        Who::Npc(_) | Who::Away => 3,
    }
}

fn npcs(whos: &[Who]) -> Vec<usize> {
    let index = |who: &Who| match who {
        Who::Npc(index) => Some(*index),
        Who::Player(_) | Who::Away => None,
    };
    whos.iter().filter_map(index).collect()
}

/// The address of an utterance that calls names, `first` before the other `groups`.
fn by_name(first: &Group, groups: &[Group], named: &[Who], input: &AddressInput<'_>) -> Address {
    let mut asked = npcs(&first.members);
    if asked.is_empty() {
        let player = first.members.iter().find_map(|who| match who {
            Who::Player(index) => Some(*index),
            Who::Npc(_) | Who::Away => None,
        });
        return player.map_or(Address::Nobody(Why::NotAddressed), Address::Player);
    }
    for group in groups.iter().skip(1).filter(|group| group.vocative) {
        asked.extend(npcs(&group.members));
    }
    let candidate = |index: &usize| input.candidates.get(*index);
    let answers = |index: &&usize| candidate(index).is_some_and(Candidate::can_answer);
    match (asked.iter().find(answers), asked.first()) {
        (Some(&index), _) => {
            let mut others_named = Vec::new();
            for other in asked.into_iter().chain(npcs(named)) {
                if other != index && !others_named.contains(&other) {
                    others_named.push(other);
                }
            }
            Address::Npc { index, others_named, reason: Reason::Named }
        }
        (None, Some(&index)) if candidate(&index).is_some_and(|npc| npc.present) => {
            Address::Nobody(Why::Muted(index))
        }
        (None, index) => {
            Address::Nobody(index.map_or(Why::NotAddressed, |&index| Why::Absent(index)))
        }
    }
}

fn unnamed(words: &Words, input: &AddressInput<'_>) -> Result<(usize, Reason), Why> {
    if words.iter().all(|word| is_any(|it| it.fillers, word)) {
        return Err(Why::Filler);
    }
    expected(input)
}

/// The NPC for words that call no name.
fn expected(input: &AddressInput<'_>) -> Result<(usize, Reason), Why> {
    let pinned = input.pinned.map(|index| (index, Reason::Pinned));
    let talking = input
        .conversation
        .filter(|&(index, since)| since < CONVERSATION && takes_hints(input, index))
        .map(|(index, _)| (index, Reason::Conversation));
    let alone = only_present(input)
        .filter(|&index| input.players_present <= 1 && takes_hints(input, index))
        .map(|index| (index, Reason::Alone));
    for (index, reason) in [pinned, talking, alone].into_iter().flatten() {
        match input.candidates.get(index) {
            Some(npc) if npc.can_answer() => return Ok((index, reason)),
            Some(npc) if npc.present => return Err(Why::Muted(index)),
            _ => {}
        }
    }
    let always = |npc: &Candidate| npc.mode == AddressMode::Always && npc.can_answer();
    let always = input.candidates.iter().position(always);
    always.map(|index| (index, Reason::Always)).ok_or(Why::NotAddressed)
}

fn takes_hints(input: &AddressInput<'_>, index: usize) -> bool {
    input.candidates.get(index).is_some_and(|npc| npc.mode != AddressMode::NameOnly)
}

fn only_present(input: &AddressInput<'_>) -> Option<usize> {
    let mut present =
        input.candidates.iter().enumerate().filter(|(_, npc)| npc.present).map(|(i, _)| i);
    let only = present.next()?;
    present.next().is_none().then_some(only)
}

#[cfg(test)]
mod tests;
