//! Judges from words whether more is to come.
//!
//! Entry function: [`reads`]. Works with and without punctuation: a full stop counts little, since
//! recognisers put one before every pause.

use super::super::{
    barge_in::is_stop_word,
    command::{self, Command, NpcNames, name_at},
    language::{Endings, Language, List, all, is_any},
    spoken::dice_in,
    words::{Words, fold},
};

/// Fewest words of a sentence behind the address: with a full stop, and from a recogniser without
/// punctuation.
const SENTENCE: (usize, usize) = (3, 5);
/// Fewest words of a question behind the address.
const QUESTION: usize = 3;
/// Most words of an item of a list.
const THING: usize = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// A whole question, sentence, command or stop word.
    Finished,
    #[default]
    Open,
    /// Broken off ("and", "um"), a list, dice without sides, or a name alone.
    TrailsOff,
}

/// Judges `text`, everything understood until a pause.
pub fn reads(text: &str, names: &[NpcNames]) -> Reading {
    let said = Said::new(text, names);
    let Some(last) = said.last() else { return Reading::Open };
    if said.trails_off(last) {
        return Reading::TrailsOff;
    }
    if said.is_finished(last) { Reading::Finished } else { Reading::Open }
}

struct Said<'a> {
    text: &'a str,
    /// `text` up to its last mark other than a quote.
    end: &'a str,
    words: Words,
    /// The language spoken, where clear: "an" and "um" end an unfinished utterance in English, not
    /// in German.
    language: Option<&'static Language>,
    names: &'a [NpcNames],
    /// Index of the first word behind names, openers and fillers.
    matter: usize,
}

impl<'a> Said<'a> {
    fn new(text: &'a str, names: &'a [NpcNames]) -> Self {
        let words = Words::of(text);
        let matter = matter(&words, names);
        let end = text.trim_end_matches([' ', '\n', '"', '\'', '”', '“', '’', '»', '«', ')']);
        let language = Language::likeliest(&words.iter().collect::<Vec<_>>());
        Self { text, end, words, language, names, matter }
    }

    fn has(&self, list: impl Fn(&'static Endings) -> List, word: &str) -> bool {
        match self.language {
            Some(language) => list(language.endings).contains(&word),
            None => is_any(|language| list(language.endings), word),
        }
    }

    fn last(&self) -> Option<&str> {
        self.words.get(self.words.len().checked_sub(1)?)
    }

    fn is_marked(&self) -> bool {
        self.end.ends_with(['?', '!', '？', '！'])
    }

    fn trails_off(&self, last: &str) -> bool {
        let marked = self.is_marked();
        if self.end.ends_with([',', ';', ':', '-', '–', '—', '…']) || self.end.ends_with("...")
        {
            return !self.text.trim_matches(['.', '…', ' ']).is_empty();
        }
        if self.is_order() {
            return false;
        }
        self.has(|it| it.unfinished, last)
            || (!marked && self.has(|it| it.prepositions, last) && !self.asks_for())
            || (!marked && self.calls_only())
            || (!marked && (self.is_open_roll(last) || self.is_open_list()))
            || self.quotes()
    }

    fn is_finished(&self, last: &str) -> bool {
        if self.is_order() || self.closes() {
            return true;
        }
        if self.is_marked() {
            return !self.calls_only();
        }
        if self.is_whole_roll() {
            return true;
        }
        let words = self.words.len().saturating_sub(self.matter);
        // "why should I believe you", "are we still on"
        let ends = self.has(|it| it.subjects, last) || self.has(|it| it.particles, last);
        let ends_question = ends && words > QUESTION && self.asks();
        if self.has(|it| it.open, last) && !ends_question || self.leads() {
            return false;
        }
        let (marked, bare) = SENTENCE;
        let stop = self.end.ends_with(['.', '。']);
        self.asks() && words >= QUESTION
            || stop && words >= marked
            || self.has_no_marks() && words >= bare
    }

    /// True for a command or a stop word. "Bartok say …" is a command from its first word on, so it
    /// does not count.
    fn is_order(&self) -> bool {
        let order = command::parse(self.text, self.names);
        order.is_some_and(|order| !matches!(order, Command::Say { .. } | Command::Scene(_)))
            || is_stop_word(self.text, self.names)
    }

    fn calls_only(&self) -> bool {
        let (mut at, mut named) = (0, false);
        while let Some(word) = self.words.get(at) {
            at = match name_at(self.names, &self.words, at) {
                Some((_, after)) => {
                    named = true;
                    after
                }
                None if self.has(|it| it.calling, word) => at + 1,
                None => return false,
            };
        }
        named
    }

    fn asks(&self) -> bool {
        let first = self.words.get(self.matter);
        first.is_some_and(|first| self.has(|it| it.verbs, first)) || self.asks_for()
    }

    /// True if it begins as a question other than yes or no; "what I do is" does not.
    fn asks_for(&self) -> bool {
        let word = |at| self.words.get(at);
        word(self.matter).is_some_and(|first| self.has(|it| it.asking, first))
            && !word(self.matter + 1).is_some_and(|next| self.has(|it| it.subjects, next))
    }

    /// True for a leading clause ("if …") without the clause that must follow.
    fn leads(&self) -> bool {
        let first = self.words.get(self.matter);
        first.is_some_and(|first| self.has(|it| it.leading, first) && !self.asks())
            && !self.end.contains(',')
    }

    /// True if it ends with a closing phrase: "thank you". A "please" alone begins something.
    fn closes(&self) -> bool {
        let called = |at: usize| name_at(self.names, &self.words, at).is_some();
        let said = (0..self.words.len()).rev().find(|at| !called(*at)).map_or(0, |at| at + 1);
        let folded: Vec<&str> = self.words.iter().take(said).collect();
        let folded = format!(" {}", folded.join(" "));
        let counts = |phrase: &str| self.words.len() > 1 || !is_any(|it| it.openers, phrase);
        let mut phrases = all(|it| it.endings.closing);
        phrases.any(|phrase| folded.ends_with(&format!(" {phrase}")) && counts(phrase))
    }

    /// True for an incomplete roll: "roll two", "zweiund".
    fn is_open_roll(&self, last: &str) -> bool {
        // These lists are not folded.
        let numbers = || all(|it| it.small_numbers).chain(all(|it| it.tens));
        let number = |word: &str| is_digits(word) || numbers().any(|it| fold(it) == word);
        let tens = last.strip_suffix("und").is_some_and(|it| it == "ein" || number(it));
        let before = self.words.len().checked_sub(2).and_then(|at| self.words.get(at));
        let rolls = before.is_some_and(|word| all(|it| it.dice_cues).any(|it| fold(it) == word));
        tens || rolls && number(last) && dice_in(self.text).is_none()
    }

    /// True for a roll with a modifier.
    fn is_whole_roll(&self) -> bool {
        let added = self.words.iter().any(|it| matches!(it, "plus" | "minus" | "advantage"))
            || self.text.contains(['+', '-']);
        added && dice_in(self.text).is_some()
    }

    /// True for a list whose last item may be missing: "the rope, a lantern".
    fn is_open_list(&self) -> bool {
        let parts: Vec<Words> = self.end.split(',').map(Words::of).collect();
        let is_thing = |part: &Words| {
            (1..=THING).contains(&part.len())
                && part.get(0).is_some_and(|it| self.has(|it| it.articles, it))
                && !part.iter().any(|it| is_any(|it| it.joining, it))
        };
        parts.len() > 1 && parts.last().is_some_and(is_thing)
    }

    fn quotes(&self) -> bool {
        let count = |marks: &[char]| self.text.chars().filter(|c| marks.contains(c)).count();
        count(&['"']) % 2 == 1 || count(&['“', '„', '«', '»', '”']) % 2 == 1
    }

    fn has_no_marks(&self) -> bool {
        !self.text.contains(|c: char| c.is_uppercase() || ".,;:?!…".contains(c))
    }
}

fn is_digits(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|it| it.is_ascii_digit())
}

/// Index of the first word behind names, openers and fillers; the number of words if there is none.
fn matter(words: &Words, names: &[NpcNames]) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at = match name_at(names, words, at) {
            Some((_, after)) => after,
            None if is_any(|it| it.openers, word) || is_any(|it| it.fillers, word) => at + 1,
            None => return at,
        };
    }
    at
}
