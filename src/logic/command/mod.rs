//! The game master's spoken commands: utterances that are a command to the table, not a line to an
//! NPC.
//!
//! Entry functions: [`parse`], for the game master's utterances only; [`is_x_card`], [`x_card_in`]
//! and [`is_go_on`], for those of all players. English and German; case, accents, punctuation and a
//! "please" at either end do not matter.
//! **Never**: finds a command other than the X-card inside a longer sentence, guesses a misheard
//! name.

mod card;
pub(super) mod order;

use crate::domain::Npc;

pub use self::card::{is_x_card, typed_x_card_in, x_card_in};
use self::order::Order;
use super::{
    language::{Language, List, all, commands, is_any},
    words::Words,
};

/// A command of the game master. Numbers index the names given to [`parse`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Silent until unmuted.
    Mute(usize),
    Unmute(usize),
    MuteAll,
    UnmuteAll,
    /// The NPC says exactly these words.
    Say {
        npc: usize,
        /// As spoken; not empty.
        text: String,
    },
    Think(usize),
    Faster,
    /// Name of a scene, as spoken. If the caller knows none, the utterance was no command.
    Scene(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpcNames {
    /// Each name folded and joined into one word ("bartokthebarkeep").
    forms: Vec<String>,
}

impl NpcNames {
    /// Names of all NPCs, in order: full name, aliases and the words of the full name that identify
    /// its bearer.
    pub fn of<'a>(npcs: impl IntoIterator<Item = &'a Npc>) -> Vec<Self> {
        let npcs: Vec<(Words, Vec<String>)> = npcs
            .into_iter()
            .map(|npc| {
                let called = std::iter::once(&npc.name).chain(&npc.aliases);
                (Words::of(&npc.name), called.map(|name| joined(name)).collect())
            })
            .collect();
        let names = npcs.iter().enumerate().map(|(index, (words, called))| {
            let others = || npcs.iter().enumerate().filter(|(other, _)| *other != index);
            let own = |word: &&str| {
                word.chars().count() >= 3
                    && !is_any(|it| it.name_fillers, word)
                    && !others().any(|(_, (words, called))| {
                        words.iter().any(|w| w == *word) || called.iter().any(|c| c == word)
                    })
            };
            let singles = words.iter().filter(own).map(str::to_owned);
            let mut forms: Vec<_> = called.iter().cloned().chain(singles).collect();
            forms.retain(|form| !form.is_empty());
            Self { forms }
        });
        names.collect()
    }
}

fn joined(name: &str) -> String {
    let words = Words::of(name);
    words.joined(0..words.len()).to_owned()
}

/// The NPC named at word `at`, by its longest name, and the index after that name.
pub(super) fn name_at(names: &[NpcNames], words: &Words, at: usize) -> Option<(usize, usize)> {
    /// Most words of a name.
    const LONGEST: usize = 6;
    (at + 1..=words.len().min(at + LONGEST)).rev().find_map(|end| {
        let words_there = words.joined(at..end);
        let called = |npc: &NpcNames| npc.forms.iter().any(|form| form == words_there);
        let npc = names.iter().position(called)?;
        (!words.is_possessive(end - 1)).then_some((npc, end))
    })
}

/// True if the whole of `text` resumes the game after an X-card: "okay, let's continue", "alle dürfen wieder
/// sprechen". Questions and negations do not.
pub fn is_go_on(text: &str) -> bool {
    let words = Words::of(text);
    let length_at =
        |list: fn(&'static Language) -> List, at| words.longest_phrase_at(at, all(list));
    if text.contains('?') || length_at(|it| it.asks_to_go_on, 0).is_some() {
        return false;
    }
    let (mut at, mut goes_on) = (0, false);
    while at < words.len() {
        let verb = length_at(|it| it.go_on, at);
        let Some(length) = verb.max(length_at(|it| it.beside_go_on, at)) else { return false };
        goes_on |= verb.is_some();
        at += length;
    }
    goes_on
}

pub fn parse(text: &str, names: &[NpcNames]) -> Option<Command> {
    let words = Words::of(text);
    let before = |at: &usize| words.get(*at).is_some_and(|it| is_any(|all| all.before_command, it));
    let after = |at: &usize| words.get(*at).is_some_and(|it| is_any(|all| all.after_command, it));
    let start = (0..words.len()).find(|at| !before(at))?;
    let end = (start..words.len()).rev().find(|at| !after(at))? + 1;
    commands().find_map(|(form, order)| {
        let fit = Fit::of(form, &words, start..end, names)?;
        fit.command(order, text)
    })
}

/// Match of a form with an utterance.
#[derive(Default)]
struct Fit {
    npc: Option<usize>,
    /// Byte offset of the free words.
    rest: usize,
}

impl Fit {
    fn of(
        form: &str,
        words: &Words,
        range: std::ops::Range<usize>,
        names: &[NpcNames],
    ) -> Option<Self> {
        let mut fit = Self::default();
        let mut at = range.start;
        for part in form.split(' ') {
            match part {
                "*" => {
                    fit.rest = words.source(at.checked_sub(1)?).end;
                    return (at < words.len()).then_some(fit);
                }
                "@" => {
                    let (npc, after) = name_at(names, words, at)?;
                    fit.npc = Some(npc);
                    at = after;
                }
                word => {
                    (words.get(at)? == word).then_some(())?;
                    at += 1;
                }
            }
        }
        (at == range.end).then_some(fit)
    }

    fn command(&self, order: Order, text: &str) -> Option<Command> {
        let rest = || {
            let rest = unquoted(text.get(self.rest..).unwrap_or_default());
            (!rest.is_empty()).then(|| rest.to_owned())
        };
        Some(match order {
            Order::Mute => Command::Mute(self.npc?),
            Order::Unmute => Command::Unmute(self.npc?),
            Order::MuteAll => Command::MuteAll,
            Order::UnmuteAll => Command::UnmuteAll,
            Order::Say => Command::Say { npc: self.npc?, text: rest()? },
            Order::Think => Command::Think(self.npc?),
            Order::Faster => Command::Faster,
            Order::Scene => {
                let name = rest()?;
                Command::Scene(name.trim_end_matches(['.', '!', '?', ',']).to_owned())
            }
        })
    }
}

/// `text` without joining marks before it and quotes around it.
fn unquoted(text: &str) -> &str {
    let text = text.trim_start_matches([' ', ',', ':', ';', '-', '–', '—', '.', '…']).trim();
    let pairs = [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('»', '«'), ('\'', '\'')];
    let inner = |(open, close): (char, char)| {
        let inner = text.strip_prefix(open)?.strip_suffix(close)?;
        (!inner.contains([open, close])).then_some(inner.trim())
    };
    pairs.into_iter().find_map(inner).unwrap_or(text)
}

#[cfg(test)]
pub(super) fn tests_npc() -> Npc {
    use crate::domain::{Tier, Voice};

    Npc {
        personality: String::new(),
        voice: Voice::as_is("flite", "rms"),
        budget_tier: Tier::Deep,
        ..Npc::plain("Nobody")
    }
}

#[cfg(test)]
mod tests;
