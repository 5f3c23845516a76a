//! Recognises turning to a person: "I ask the barkeep for a drink", "ich wende mich an den
//! Hauptmann".
//!
//! Entry items: [`Turning`], [`is_apart`]. A verb of turning is beside a name or a role, in the
//! present, and is the speaker's own act. **Never**: takes an act that is past, possible or denied.

use std::ops::Range;

use crate::logic::words::Words;
use crate::logic::{
    language::{self, Language, List, all, is_turning},
    names::Strength,
};

/// Most words between a verb and its "to".
const MOST_BETWEEN: usize = 5;
/// Most words between a name and the verb at the end of its sentence.
const MOST_BEHIND: usize = 4;
/// Most words back to the beginning of a clause or sentence, or a long text would take minutes.
const MOST_BACK: usize = 50;

/// The person or group that a speaker turns to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnedTo {
    Somebody(Who),
    Fellows,
}

pub struct Turning<'u> {
    pub text: &'u str,
    pub words: &'u Words,
    pub hits: &'u [Hit],
    /// The speaker has no other addressee for orders ("ask the barkeep").
    pub alone: bool,
}

struct Target {
    to: TurnedTo,
    range: Range<usize>,
}

/// True if `text`, said to no NPC, is not part of the shared story: said outside the game, or
/// whispered ("I whisper to Wren", "(flüsternd) komm").
pub fn is_apart(text: &str) -> bool {
    let words = Words::of(text);
    let is_in = |list: fn(&'static language::Turning) -> List, at: Option<usize>| {
        let word = at.and_then(|at| words.get(at));
        word.is_some_and(|word| is_turning(list, word))
    };
    let whispers = |at: usize| {
        let (before, earlier) = (at.checked_sub(1), at.checked_sub(2));
        let is_beside = is_in(|it| it.particles, before) || is_in(|it| it.adverbs, before);
        is_in(|it| it.whispers, Some(at))
            && (at == 0
                || is_in(|it| it.doers, before)
                || (is_beside && is_in(|it| it.doers, earlier)))
    };
    is_aside(&words) || (0..words.len()).any(whispers)
}

/// True if `words` are said outside the game ("out of character").
pub fn is_aside(words: &Words) -> bool {
    all(|language| language.turning.asides).any(|phrase| {
        let stands = |at: usize| {
            let count = words.phrase_at(at, phrase);
            count.is_some_and(|count| words.get(at + count) != Some("for"))
        };
        (0..words.len()).any(stands)
    })
}

impl Turning<'_> {
    /// The first person or group that the speaker turns to.
    pub fn find(&self) -> Option<TurnedTo> {
        let names = self.hits.iter().filter(|hit| !self.words.is_possessive(hit.range.end - 1));
        let mut targets: Vec<Target> = names
            .map(|hit| Target { to: TurnedTo::Somebody(hit.who), range: hit.range.clone() })
            .collect();
        targets.extend(self.fellows());
        targets.sort_by_key(|target| target.range.start);
        targets.into_iter().find(|target| self.is_turned_to(target)).map(|target| target.to)
    }

    /// People at the table other than NPCs.
    fn fellows(&self) -> Vec<Target> {
        let is_free = |at: &usize| !self.hits.iter().any(|hit| hit.range.contains(at));
        let found = |at: usize| {
            let mut phrases = all(|it| it.turning.fellows);
            let count = phrases.find_map(|phrase| self.words.phrase_at(at, phrase))?;
            Some(Target { to: TurnedTo::Fellows, range: at..at + count })
        };
        (0..self.words.len()).filter(is_free).filter_map(found).collect()
    }

    fn is_turned_to(&self, target: &Target) -> bool {
        let mut before = target.range.start;
        while before > 0 && self.is(before - 1, |it| it.before_name) && !self.breaks(before) {
            before -= 1;
        }
        if self.is_denied_behind(target.range.end) {
            return false;
        }
        match self.verb_before(before) {
            Some(verb) => !self.is_spoilt(verb, before) && self.is_own_act(verb),
            None => self.is_wished(before, target.range.end),
        }
    }

    /// The verb of turning whose object begins at `before`.
    fn verb_before(&self, before: usize) -> Option<usize> {
        let skipped = |mut at: usize| {
            while at > 0
                && !self.breaks(at)
                && self.is(at - 1, |it| it.particles)
                && !self.is(at - 1, |it| it.direct)
            {
                at -= 1;
            }
            // "dann frage ich den Wirt"
            let inverted = at > 1 && self.is(at - 1, |it| it.doers);
            at - usize::from(inverted && !self.breaks(at) && !self.breaks(at - 1))
        };
        let direct = skipped(before).checked_sub(1)?;
        if !self.breaks(direct + 1) && self.is(direct, |it| it.direct) {
            return Some(direct);
        }
        let word = before.checked_sub(1)?;
        let towards = self.is(word, |it| it.towards);
        (word.saturating_sub(MOST_BETWEEN)..word)
            .rev()
            .take_while(|at| !self.breaks(at + 1) && !self.is(*at + 1, |it| it.spoils))
            .find(|at| {
                towards && self.is(*at, |it| it.towards_somebody) || self.is_their_own(*at, word)
            })
    }

    /// "bedanke … bei": a verb with its own word between.
    fn is_their_own(&self, verb: usize, between: usize) -> bool {
        let (verb, between) = (self.words.get(verb), self.words.get(between));
        all(|it| it.turning.with_their_own)
            .filter_map(|pair| pair.split_once(' '))
            .any(|pair| (Some(pair.0), Some(pair.1)) == (verb, between))
    }

    /// "Ich möchte den Wirt etwas fragen": the speaker wants it, and the verb comes last.
    fn is_wished(&self, before: usize, behind: usize) -> bool {
        let most = self.words.len().min(behind + MOST_BEHIND);
        let end = (behind..most).find(|at| self.breaks(at + 1));
        let end = end.or_else(|| self.words.len().checked_sub(1).filter(|last| *last < most));
        let Some(last) = end.filter(|last| *last >= behind) else { return false };
        if !self.is(last, |it| it.behind) {
            return false;
        }
        let clause = self.clause(before);
        // "Lasst mich mit dem Hauptmann reden."
        if self.is_allowed(clause) && !self.is_spoilt(clause, before) {
            return true;
        }
        let wish = (clause..before).find(|at| self.is(*at, |it| it.wishes));
        wish.is_some_and(|wish| {
            let beside = [wish.checked_sub(1), Some(wish + 1)].into_iter().flatten();
            beside.into_iter().any(|at| self.is(at, |it| it.doers)) && !self.is_spoilt(wish, before)
        })
    }

    /// True if the verb at `verb` is a present act of the speaker or their character.
    fn is_own_act(&self, verb: usize) -> bool {
        if self.is(verb + 1, |it| it.doers) {
            return true;
        }
        let start = self.sentence(verb);
        let mut at = verb;
        while at > start && !self.breaks(at) && self.leads(at - 1) {
            at -= 1;
        }
        if at == start {
            return self.alone;
        }
        if !self.breaks(at) && self.acts(at, verb) {
            return true;
        }
        let goes_on = self.breaks(at)
            || self.is(at - 1, |it| it.going_on)
            || (at < verb && self.is(at, |it| it.going_on));
        goes_on && (start + 1..=at).rev().any(|end| self.acts(end, verb))
    }

    fn leads(&self, at: usize) -> bool {
        let word = self.words.get(at).unwrap_or_default();
        self.is(at, |it| it.lead_in)
            || self.is(at, |it| it.particles)
            || (word.len() > 4 && word.ends_with("ly"))
    }

    /// True if the words that end at `end` are the speaker or their character.
    fn acts(&self, end: usize, verb: usize) -> bool {
        let last = end - 1;
        let third = self.words.get(verb).is_some_and(|word| word.ends_with(['s', 't']));
        let is_player = || {
            let ends = |hit: &Hit| hit.range.end == end && matches!(hit.who, Who::Player(_));
            self.hits.iter().any(ends)
        };
        self.is(last, |it| it.doers)
            || (third && (self.is(last, |it| it.characters) || is_player()))
            || all(|it| it.turning.allowing).any(|phrase| {
                let count = phrase.split(' ').count();
                let start = end.checked_sub(count);
                start.is_some_and(|at| self.words.phrase_at(at, phrase).is_some())
            })
    }

    /// True for a request for permission at `at`: "let me".
    fn is_allowed(&self, at: usize) -> bool {
        all(|it| it.turning.allowing).any(|phrase| self.words.phrase_at(at, phrase).is_some())
    }

    /// True if a word of the clause up to `end` rules out an act.
    fn is_spoilt(&self, verb: usize, end: usize) -> bool {
        (self.clause(verb)..end).any(|at| self.is(at, |it| it.spoils))
    }

    /// "Ich frage die Wirtin nicht."
    fn is_denied_behind(&self, end: usize) -> bool {
        (end..self.words.len().min(end + 2))
            .take_while(|at| !self.breaks(*at))
            .any(|at| self.is(at, |it| it.spoils_behind))
    }

    fn sentence(&self, at: usize) -> usize {
        back(at, |at| self.ends_sentence(at))
    }

    fn clause(&self, at: usize) -> usize {
        back(at, |at| self.breaks(at))
    }

    pub fn ends_sentence(&self, at: usize) -> bool {
        self.gap(at).contains(['.', '!', '?', ';'])
    }

    /// True if punctuation precedes this word.
    pub fn breaks(&self, at: usize) -> bool {
        self.gap(at).contains(['.', '!', '?', ';', ',', ':', '…'])
    }

    /// The text between a word and the previous one.
    fn gap(&self, at: usize) -> &str {
        if at == 0 || at >= self.words.len() {
            return "";
        }
        let gap = self.words.source(at - 1).end..self.words.source(at).start;
        self.text.get(gap).unwrap_or_default()
    }

    fn is(&self, at: usize, list: impl Fn(&'static language::Turning) -> List) -> bool {
        self.words.get(at).is_some_and(|word| is_turning(list, word))
    }
}

/// The last word up to `at` that `begins`, at most [`MOST_BACK`] words before it.
fn back(at: usize, begins: impl Fn(usize) -> bool) -> usize {
    let least = at.saturating_sub(MOST_BACK);
    (least.max(1)..=at).rev().find(|at| begins(*at)).unwrap_or(least)
}

/// True if the word at `at` is a question word in the language of the following words: "was" in
/// "Lena was meinst du", not in "Lena was late".
pub fn asks_at(words: &Words, at: usize) -> bool {
    let Some(word) = words.get(at) else { return false };
    let behind: Vec<&str> = words.iter().skip(at + 1).collect();
    let language = Language::spoken_in(&behind.join(" "));
    language.is_some_and(|it| it.endings.asking.contains(&word))
}

/// True if the name at `range` is a subject of talk and no address.
pub fn is_spoken_of(words: &Words, range: &Range<usize>, at_start: bool) -> bool {
    let is = |at: usize, list: fn(&'static language::Turning) -> List| {
        words.get(at).is_some_and(|word| is_turning(list, word))
    };
    if at_start {
        let follows = words.get(range.end + 1);
        let is_asked = || follows.is_none_or(|word| is_turning(|it| it.asked, word));
        let is_told = is(range.end, |it| it.told_of) || is(range.end, |it| it.being) && !is_asked();
        return is_told && !asks_at(words, range.end);
    }
    let Some(before) = range.start.checked_sub(1) else { return false };
    let own = || (0..before).any(|at| is(at, |it| it.doers));
    let to_somebody = || (0..range.start).any(|at| is(at, |it| it.listeners));
    is(before, |it| it.before_name)
        || is(before, |it| it.mentions)
        || (is(before, |it| it.acted_on) && own() && !to_somebody())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called<'n> {
    pub name: &'n str,
    /// Nicknames and titles of the same person.
    pub aliases: &'n [String],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Index in the list of NPCs.
    Npc(usize),
    /// Index in the list of characters, followed by players' own names.
    Player(usize),
    /// An absent person of the campaign.
    Away,
}

pub struct Hit {
    pub who: Who,
    /// How surely the words mean that name.
    pub strength: Strength,
    pub range: Range<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asides_and_whispers_are_told_apart() {
        for (text, apart) in [
            ("OOC: who orders pizza?", true),
            ("(out of character) can we take a break", true),
            ("ooc brb", true),
            ("Außerhalb der Rolle: wer holt Bier?", true),
            ("I whisper to Dagny that the barkeep lies", true),
            ("I quietly whisper to Dagny", true),
            ("whispering: he has a knife", true),
            ("Ich flüstere Dagny zu, dass er lügt", true),
            ("ich flüstere leise", true),
            ("Flüsternd: wir sollten gehen", true),
            ("I heard whispers in the mill", false),
            ("I hear a whisper", false),
            ("The wind whispers", false),
            ("Er flüstert etwas", false),
            ("I tell the others to wait", false),
            ("that was out of character for him", false),
            ("", false),
        ] {
            assert_eq!(is_apart(text), apart, "{text}");
        }
    }
}
