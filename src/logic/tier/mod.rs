//! Selects a turn's tier: the tool time that an utterance may take.
//!
//! Entry types: [`TierSelector`], [`effective`]. Runs on every partial transcript. The first
//! matching rule decides: deep keyword (demoted within 30 s of the last deep turn), three players
//! waiting, standard keyword or name, rapid exchange (three turns within 10 s), first turn, else
//! fast. The game master's override replaces the result; otherwise the NPC's ceiling limits it.
//! **Never**: looks inside a word ("request" does not contain "quest").

mod names;

use std::fmt;
use std::time::Duration;

use crate::domain::Tier;

pub use self::names::{AbsentName, Names, RuleName};
use self::names::{Named, Phrase};
use super::{
    language::{self, Language},
    words::{Phrases, Words, fold},
};

/// Time after a deep turn in which the next one is demoted.
const DEEP_PAUSE: Duration = Duration::from_secs(30);
/// Most words between two of a deep keyword.
const BETWEEN: usize = 2;
/// Players waiting that demand quick answers.
const CROWD: usize = 3;

/// Turns with an NPC within [`EXCHANGE`], the current one included, that are a rapid exchange.
const RAPID: usize = 3;
pub const EXCHANGE: Duration = Duration::from_secs(10);

/// Phrases that raise a turn's tier. `word(s)` means with and without the ending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keywords {
    /// Phrases for a deep turn.
    pub deep: Vec<String>,
    /// Phrases for a standard turn.
    pub standard: Vec<String>,
    /// Phrases that ask an NPC with pictures for a deep turn.
    pub shows: Vec<String>,
}

impl Keywords {
    /// The built-in keywords of these languages (ISO 639-1); others add none.
    pub fn shipped<'l>(languages: impl IntoIterator<Item = &'l str>) -> Self {
        let mut keywords = Self::default();
        for language in languages {
            let Some(language) = Language::of(language) else { continue };
            keywords.deep.extend(language.deep.iter().map(ToString::to_string));
            keywords.standard.extend(language.standard.iter().map(ToString::to_string));
            keywords.shows.extend(language.shows.iter().map(ToString::to_string));
        }
        keywords
    }
}

/// Input of a selection.
#[derive(Clone, Copy, Debug)]
pub struct TierInput<'i> {
    /// Partial or final transcript.
    pub text: &'i str,
    /// Players waiting for an answer.
    pub queue_depth: usize,
    /// This NPC has not spoken at this table yet.
    pub first_turn: bool,
    /// Earlier turns with this NPC within [`EXCHANGE`].
    pub recent_turns: usize,
    /// This NPC can show pictures.
    pub has_pictures: bool,
    /// Time since the start of the last effective deep turn, if any.
    pub since_deep: Option<Duration>,
    /// Names that require a lookup.
    pub names: &'i Names,
    /// The party's place, which requires none.
    pub here: Option<&'i str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    pub tier: Tier,
    pub reason: Reason,
    /// The keyword or name found, as configured.
    pub keyword: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Default,
    DeepKeyword,
    /// A deep keyword, but the last deep turn began this long ago.
    DeepDemoted(Duration),
    PlayersWaiting(usize),
    StandardKeyword,
    NamesRule,
    /// Names a person or thing that is absent from the scene.
    NamesAbsent,
    /// Several turns with this NPC follow one another, whether or not it has spoken.
    RapidExchange,
    FirstTurn,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::DeepKeyword => f.write_str("deep keyword"),
            Self::DeepDemoted(ago) => {
                write!(f, "deep demoted: last deep turn {} s ago", ago.as_secs())
            }
            Self::PlayersWaiting(3) => f.write_str("three players waiting"),
            Self::PlayersWaiting(count) => write!(f, "{count} players waiting"),
            Self::StandardKeyword => f.write_str("standard keyword"),
            Self::NamesRule => f.write_str("names a rule"),
            Self::NamesAbsent => f.write_str("names someone absent"),
            Self::RapidExchange => f.write_str("rapid exchange"),
            Self::FirstTurn => f.write_str("first turn with this npc"),
        }
    }
}

/// Selects tiers by keywords.
#[derive(Clone, Debug)]
pub struct TierSelector {
    /// Folded phrases, with their original spelling.
    deep: Phrases<String>,
    standard: Phrases<String>,
    /// Phrases for NPCs with pictures.
    shows: Phrases<String>,
}

impl TierSelector {
    /// Prepares the keywords.
    pub fn new(keywords: &Keywords) -> Self {
        let prepared = |list: &[String]| {
            let mut phrases = Phrases::default();
            for form in list.iter().flat_map(|phrase| forms(phrase)) {
                phrases.insert(&form, form.clone());
            }
            phrases
        };
        let Keywords { deep, standard, shows } = keywords;
        Self { deep: prepared(deep), standard: prepared(standard), shows: prepared(shows) }
    }

    /// Selects the tier of an utterance.
    pub fn select(&self, input: &TierInput<'_>) -> Selection {
        let words = Words::of(input.text);
        let is_between = |word: &str| language::is_any(|it| it.between, word);
        if let Some(phrase) = self.deep.first_loose(&words, BETWEEN, is_between) {
            return deep(input.since_deep, phrase);
        }
        if input.has_pictures
            && let Some(found) = self.shows.all(&words).next()
        {
            return deep(input.since_deep, found.value);
        }
        if input.queue_depth >= CROWD {
            return because(Tier::Fast, Reason::PlayersWaiting(input.queue_depth), None);
        }
        if let Some(found) = self.standard.all(&words).next() {
            return because(Tier::Standard, Reason::StandardKeyword, Some(found.value));
        }
        let here = input.here.map(fold).filter(|here| !here.is_empty());
        let is_here = |phrase: &Phrase| here.as_ref().is_some_and(|it| *it == phrase.entity);
        let named = input.names.phrases.all(&words).map(|found| found.value);
        if let Some(phrase) = named.into_iter().find(|phrase| !is_here(phrase)) {
            let reason = match phrase.kind {
                Named::Rule => Reason::NamesRule,
                Named::Absent => Reason::NamesAbsent,
            };
            return because(Tier::Standard, reason, Some(&phrase.written));
        }
        if input.first_turn && input.recent_turns + 1 >= RAPID {
            return because(Tier::Fast, Reason::RapidExchange, None);
        }
        if input.first_turn {
            return because(Tier::Standard, Reason::FirstTurn, None);
        }
        because(Tier::Fast, Reason::Default, None)
    }
}

/// The override if set, else the selection limited by the NPC's ceiling.
pub fn effective(selected: Tier, npc_ceiling: Tier, dm_override: Option<Tier>) -> Tier {
    dm_override.unwrap_or_else(|| selected.min(npc_ceiling))
}

/// Selects deep, or demotes it if the last deep turn is too recent.
fn deep(since_deep: Option<Duration>, phrase: &String) -> Selection {
    match since_deep.filter(|&ago| ago < DEEP_PAUSE) {
        Some(ago) => because(Tier::Standard, Reason::DeepDemoted(ago), Some(phrase)),
        None => because(Tier::Deep, Reason::DeepKeyword, Some(phrase)),
    }
}

fn because(tier: Tier, reason: Reason, keyword: Option<&String>) -> Selection {
    Selection { tier, reason, keyword: keyword.cloned() }
}

/// "rule(s)" as "rule" and "rules"; anything else unchanged.
fn forms(phrase: &str) -> Vec<String> {
    if let Some((stem, rest)) = phrase.split_once('(')
        && let Some((ending, tail)) = rest.split_once(')')
    {
        return vec![format!("{stem}{tail}"), format!("{stem}{ending}{tail}")];
    }
    vec![phrase.to_owned()]
}

#[cfg(test)]
mod tests;
