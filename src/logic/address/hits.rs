//! Names in an utterance, and those that are called.

use std::ops::Range;

use crate::logic::language::{is_any, is_turning, is_unlikely_name, is_word};
use crate::logic::names::{
    MOST_WORDS, NameLanguage, NameSound, PhrasePosition, Strength, is_introduced, name_parts,
    place, same_phrase,
};
use crate::logic::spoken_names::bare;
use crate::logic::words::{Phrases, Words, fold};

use super::turning::{TurnedTo, Turning, asks_at, is_aside, is_spoken_of};
use super::{
    denial::Denial,
    turning::{Called, Hit, Who},
};

/// Most words between an absent person's name and the "you" that makes it a call.
const YOU_WITHIN: usize = 3;

#[derive(Clone, Debug)]
pub struct Lexicon {
    ear: NameLanguage,
    phrases: Phrases<(Who, Strength)>,
    /// Names that may be misheard.
    sounds: Vec<(Who, NameSound)>,
    away: Phrases<()>,
}

/// Names found in an utterance.
#[derive(Clone, Debug, Default)]
pub struct FoundNames {
    /// Those called, best first.
    pub addressed: Vec<Group>,
    /// All names, in order.
    pub named: Vec<Who>,
    pub taken: Vec<Range<usize>>,
    /// The person or group that the speaker explicitly turns to.
    pub turned_to: Option<TurnedTo>,
    /// Said outside the game.
    pub is_aside: bool,
    /// The people denied; empty: the listener. `None`: no denial.
    pub denied: Option<Vec<Who>>,
}

#[derive(Clone, Debug)]
pub struct Group {
    pub members: Vec<Who>,
    /// Set off by punctuation, or by "hey".
    pub vocative: bool,
    /// At the beginning of the utterance.
    pub at_start: bool,
}

impl Lexicon {
    /// Prepares all names, aliases and their distinctive words.
    pub fn new(everybody: &[(Who, Called<'_>)], language: &str) -> Self {
        let ear = NameLanguage::new(language);
        let (phrases, away) = (Phrases::default(), Phrases::default());
        let mut lexicon = Self { ear, phrases, sounds: Vec::new(), away };
        let mut parts = Vec::new();
        for &(who, called) in everybody {
            let aliases = called.aliases.iter().map(String::as_str);
            for name in std::iter::once(called.name).chain(aliases) {
                lexicon.add(who, name);
                if bare(name) != name {
                    lexicon.add(who, bare(name));
                }
                parts.extend(name_parts(name, &ear).into_iter().map(|p| (who, p, fold(p.word))));
            }
        }
        for (who, part, folded) in &parts {
            let shared = parts.iter().any(|(other, _, word)| other != who && word == folded);
            if shared {
                continue;
            }
            let strength = own_strength(*who, &Words::of(part.word));
            if part.strength == Strength::Full && strength == Strength::Full {
                lexicon.add(*who, part.word);
            } else {
                lexicon.phrases.insert(part.word, (*who, Strength::Called));
            }
        }
        lexicon
    }

    fn add(&mut self, who: Who, name: &str) {
        self.phrases.insert(name, (who, own_strength(who, &Words::of(name))));
        self.sounds.push((who, self.ear.name(name)));
    }

    /// Adds a person's own name as written.
    pub fn add_person(&mut self, who: Who, name: &str) {
        let parts = name_parts(name, &self.ear);
        let first = parts.first().map(|part| part.word).filter(|first| *first != name);
        for word in std::iter::once(name).chain(first) {
            let words = Words::of(word);
            let is_known = self.phrases.at(&words, 0).any(|found| found.end == words.len());
            if !is_known {
                self.phrases.insert(word, (who, own_strength(who, &words)));
            }
        }
    }

    pub fn add_away(&mut self, name: &str) {
        self.away.insert(name, ());
        self.away.insert(bare(name), ());
    }

    /// True if the speaker calls or turns to an absent person.
    pub fn calls_away(&self, text: &str, words: &Words, taken: &[Range<usize>]) -> bool {
        let hits: Vec<Hit> = self
            .away
            .all(words)
            .map(|found| found.start..found.end)
            .filter(|range| !taken.iter().any(|it| it.start < range.end && range.start < it.end))
            .map(|range| Hit { who: Who::Away, strength: Strength::Full, range })
            .collect();
        let is_called = |hit: &Hit| {
            let place = place(text, words, &hit.range);
            let behind = hit.range.end..hit.range.end + YOU_WITHIN;
            let speaks_to = behind
                .filter_map(|at| words.get(at))
                .any(|word| is_turning(|it| it.listeners, word));
            let is_spoken_to = place.start && speaks_to && !is_matter(words, &hit.range, place);
            !words.is_possessive(hit.range.end - 1) && (place.vocative || is_spoken_to)
        };
        let turning = Turning { text, words, hits: &hits, alone: false };
        hits.iter().any(is_called) || matches!(turning.find(), Some(TurnedTo::Somebody(_)))
    }

    /// A shared name means the person `prefer` ranks lowest. `alone`: the speaker is the only
    /// player.
    pub fn find(
        &self,
        text: &str,
        words: &Words,
        prefer: &dyn Fn(Who) -> usize,
        alone: bool,
    ) -> FoundNames {
        let hits = self.hits(words, prefer);
        let turning = Turning { text, words, hits: &hits, alone };
        let denial = Denial::new(&turning);
        let (denied, dismissed) = (denial.find(), denial.dismissed());
        let is_denied = |who: &Who| denied.as_ref().is_some_and(|it| it.people.contains(who));
        let turned_to = turning.find().filter(|to| match to {
            TurnedTo::Somebody(who) => !is_denied(who),
            TurnedTo::Fellows => true,
        });
        let instead = denied.as_ref().and_then(|it| it.instead);
        let is_asked_instead = |who: &Who| matches!(who, Who::Npc(_)) && !is_denied(who);
        let instead = instead.filter(is_asked_instead).map(TurnedTo::Somebody);
        let is_aside = is_aside(words);
        let mut found =
            FoundNames { turned_to: instead.or(turned_to), is_aside, ..FoundNames::default() };
        let starts = [denied.as_ref().map(|it| it.end), dismissed.map(|it| it.end)];
        let mut ranked = Vec::new();
        for (at, group) in grouped(&hits, text, words, &starts).into_iter().enumerate() {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            let range = first.range.start..last.range.end;
            let mut place = place(text, words, &range);
            // Behind "not you, Bartok" the utterance begins once more.
            place.start |= starts.contains(&Some(range.start));
            let weak = group.iter().all(|hit| hit.strength == Strength::Called);
            let matter = is_matter(words, &range, place);
            let called = place.edge() && !matter && !words.is_possessive(range.end - 1);
            let members = group.iter().map(|hit| hit.who);
            let members: Vec<Who> = members.filter(|who| !is_denied(who)).collect();
            let is_sure = place.vocative || !weak || place.start && is_asked(last, text, words);
            if called && is_sure && !members.is_empty() {
                let waits = dismissed.is_some_and(|it| members == [it.who] && range.start < it.end);
                let rank = (waits, !place.vocative, !place.start, at);
                let PhrasePosition { vocative, start: at_start, .. } = place;
                let vocative = vocative && !waits;
                ranked.push((rank, Group { members: members.clone(), vocative, at_start }));
            }
            if !weak || place.vocative {
                found.named.extend(members);
            }
            found.taken.extend(group.iter().map(|hit| hit.range.clone()));
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        found.addressed = ranked.into_iter().map(|(_, group)| group).collect();
        found.denied = denied.map(|it| it.people);
        found
    }

    /// Names as whole words, longest first, without overlap.
    fn hits(&self, words: &Words, prefer: &dyn Fn(Who) -> usize) -> Vec<Hit> {
        let mut hits = Vec::new();
        let mut start = 0;
        while start < words.len() {
            let longest = self.phrases.at(words, start).map(|found| found.end).max();
            let Some(end) = longest else {
                start += 1;
                continue;
            };
            let best = self
                .phrases
                .at(words, start)
                .filter(|found| found.end == end)
                .map(|found| *found.value)
                .min_by_key(|&(who, strength)| (strength != Strength::Full, prefer(who)));
            if let Some((who, strength)) = best {
                hits.push(Hit { who, strength, range: start..end });
            }
            start = end;
        }
        hits
    }

    /// The only person whose name sounds like some words, apart from the words `taken`.
    pub fn sounds_like(&self, text: &str, words: &Words, taken: &[Range<usize>]) -> Option<Who> {
        let mut best: Option<(usize, Who)> = None;
        let mut tied = false;
        for start in (0..words.len()).filter(|start| !is_introduced(text, words, *start)) {
            for end in start + 1..=words.len().min(start + MOST_WORDS) {
                let range = start..end;
                let overlaps = taken.iter().any(|other| other.start < end && start < other.end);
                if overlaps || words.is_possessive(end - 1) || !same_phrase(text, words, &range) {
                    break;
                }
                let place = place(text, words, &range);
                if !place.edge() || is_matter(words, &range, place) {
                    continue;
                }
                let sounded = self.ear.sounded(words, range);
                for (who, sound) in &self.sounds {
                    let Some(score) = self.ear.alike(&sounded, sound, place) else { continue };
                    match best {
                        Some((top, _)) if score < top => {}
                        Some((top, other)) if score == top => tied |= other != *who,
                        _ => (best, tied) = (Some((score, *who)), false),
                    }
                }
            }
        }
        best.filter(|_| !tied).map(|(_, who)| who)
    }
}

/// True if a verb and the listener follow a player's name, perhaps with a question word between:
/// "rose can you help me", "lena was meinst du".
fn is_asked(name: &Hit, text: &str, words: &Words) -> bool {
    let end = name.range.end;
    let is_listener =
        |at: usize| words.get(at).is_some_and(|word| is_turning(|it| it.listeners, word));
    let verb = if asks_at(words, end) { end + 1 } else { end };
    matches!(name.who, Who::Player(_))
        && is_listener(verb + 1)
        && !is_listener(verb)
        && same_phrase(text, words, &(end - 1..verb + 2))
}

/// Less for a player named like a common word: "Amber ale, please" does not address Amber.
fn own_strength(who: Who, name: &Words) -> Strength {
    let is_title = |it: &str| is_unlikely_name(it) || is_word(it) || is_any(|it| it.roles, it);
    let is_player = matches!(who, Who::Player(_));
    if is_player && name.iter().all(is_title) { Strength::Called } else { Strength::Full }
}

/// True if the words beside a name make it a subject of talk.
fn is_matter(words: &Words, range: &Range<usize>, place: PhrasePosition) -> bool {
    if place.vocative {
        return false;
    }
    is_spoken_of(words, range, place.start) || (!place.start && is_object(words, range.start))
}

/// True if the words before `at` make it a subject of talk: "where is", "where is now".
fn is_object(words: &Words, at: usize) -> bool {
    let is_adverb = |at: &usize| words.get(*at).is_some_and(|it| is_turning(|it| it.adverbs, it));
    let before = (0..at).rev().find(|at| !is_adverb(at));
    before.and_then(|at| words.get(at)).is_some_and(|word| is_any(|it| it.objects, word))
}

/// Neighbouring names joined by "and" or a comma; a name at one of `starts` begins a group.
fn grouped<'h>(
    hits: &'h [Hit],
    text: &str,
    words: &Words,
    starts: &[Option<usize>],
) -> Vec<Vec<&'h Hit>> {
    let mut groups: Vec<Vec<&Hit>> = Vec::new();
    for hit in hits {
        let last = groups.last_mut().and_then(|group| group.last().map(|last| last.range.end));
        let joined = last.is_some_and(|end| {
            let between = words.source(end - 1).end..words.source(hit.range.start).start;
            let gap = text.get(between).unwrap_or_default();
            let plain = gap.chars().all(|c| c == ',' || c.is_whitespace() || c.is_alphabetic());
            let word = (hit.range.start == end + 1)
                .then(|| words.get(end).is_some_and(|word| is_any(|it| it.joining, word)));
            // "an ale for Lucan, Bartok": the subject of talk is not called together with others.
            let is_called = groups.last().and_then(|group| group.first()).is_none_or(|first| {
                first.range.start == 0 || !is_spoken_of(words, &first.range, false)
            });
            !words.is_possessive(end - 1)
                && plain
                && !starts.contains(&Some(hit.range.start))
                && word.unwrap_or(hit.range.start == end && gap.contains(',') && is_called)
        });
        match groups.last_mut() {
            Some(group) if joined => group.push(hit),
            _ => groups.push(vec![hit]),
        }
    }
    groups
}
