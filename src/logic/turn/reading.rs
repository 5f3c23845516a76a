//! Whether words suggest that more is to come.
//!
//! Entry function: [`reads`]. It works with and without punctuation: a full stop counts little,
//! since recognisers put one behind whatever a pause follows. **Never**: knows how long it was quiet.

use super::super::{
    barge_in::is_stop_word,
    command::{self, Command, NpcNames, name_at},
    language::{Endings, Language, List, all, is_any},
    spoken::dice_in,
    words::{Words, fold},
};

/// So many words behind the address are a sentence where a full stop ends them, and where the
/// recogniser gives no punctuation.
const SENTENCE: (usize, usize) = (3, 5);
/// So many words behind the address are a question.
const QUESTION: usize = 3;
/// A thing of a list has at most so many words.
const THING: usize = 3;

/// Judgement of the words so far: more to come, or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// A whole question, sentence, command or stop word.
    Finished,
    /// The words do not tell.
    #[default]
    Open,
    /// Broken off ("and", "um"), a list, dice that lack their sides, or a name alone.
    TrailsOff,
}

/// Judges `text`, what was understood until a pause: more to come, or not; `names` are the NPCs'.
pub fn reads(text: &str, names: &[NpcNames]) -> Reading {
    let said = Said::new(text, names);
    let Some(last) = said.last() else { return Reading::Open };
    if said.trails_off(last) {
        return Reading::TrailsOff;
    }
    if said.is_finished(last) { Reading::Finished } else { Reading::Open }
}

/// An utterance, taken apart.
struct Said<'a> {
    text: &'a str,
    /// `text` up to its last mark that is no quote.
    end: &'a str,
    words: Words,
    /// The language spoken, where that is clear: "an" and "um" end no German sentence as they do an English
    /// one.
    language: Option<&'static Language>,
    names: &'a [NpcNames],
    /// The first word that is neither a name nor an "um, well" before the matter.
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

    /// True if a list of the language has `word`.
    fn has(&self, list: impl Fn(&'static Endings) -> List, word: &str) -> bool {
        match self.language {
            Some(language) => list(language.endings).contains(&word),
            None => is_any(|language| list(language.endings), word),
        }
    }

    /// The last word, folded.
    fn last(&self) -> Option<&str> {
        self.words.get(self.words.len().checked_sub(1)?)
    }

    /// True if a mark at the end asks or calls.
    fn is_marked(&self) -> bool {
        self.end.ends_with(['?', '!', '？', '！'])
    }

    /// True if more is to come for certain, or nearly so.
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

    /// True if nothing is missing, as far as words tell.
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

    /// True if it is an order to the table or a stop word. "Bartok say …" is one from its first word
    /// on and so tells nothing.
    fn is_order(&self) -> bool {
        let order = command::parse(self.text, self.names);
        order.is_some_and(|order| !matches!(order, Command::Say { .. } | Command::Scene(_)))
            || is_stop_word(self.text, self.names)
    }

    /// True if the words only call an NPC by name.
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

    /// True if it begins as a question does.
    fn asks(&self) -> bool {
        let first = self.words.get(self.matter);
        first.is_some_and(|first| self.has(|it| it.verbs, first)) || self.asks_for()
    }

    /// True if it begins as a question that no yes answers; "what I do is" does not.
    fn asks_for(&self) -> bool {
        let word = |at| self.words.get(at);
        word(self.matter).is_some_and(|first| self.has(|it| it.asking, first))
            && !word(self.matter + 1).is_some_and(|next| self.has(|it| it.subjects, next))
    }

    /// True if it is a clause that another one follows, and that one has not begun.
    fn leads(&self) -> bool {
        let first = self.words.get(self.matter);
        first.is_some_and(|first| self.has(|it| it.leading, first) && !self.asks())
            && !self.end.contains(',')
    }

    /// True if it ends in what is said last: "thank you". A "please" alone begins something.
    fn closes(&self) -> bool {
        let called = |at: usize| name_at(self.names, &self.words, at).is_some();
        let said = (0..self.words.len()).rev().find(|at| !called(*at)).map_or(0, |at| at + 1);
        let folded: Vec<&str> = self.words.iter().take(said).collect();
        let folded = format!(" {}", folded.join(" "));
        let counts = |phrase: &str| self.words.len() > 1 || !is_any(|it| it.openers, phrase);
        let mut phrases = all(|it| it.endings.closing);
        phrases.any(|phrase| folded.ends_with(&format!(" {phrase}")) && counts(phrase))
    }

    /// True if a roll is begun that is none yet: "roll two", "zweiund".
    fn is_open_roll(&self, last: &str) -> bool {
        // These lists are not folded.
        let numbers = || all(|it| it.small_numbers).chain(all(|it| it.tens));
        let number = |word: &str| is_digits(word) || numbers().any(|it| fold(it) == word);
        let tens = last.strip_suffix("und").is_some_and(|it| it == "ein" || number(it));
        let before = self.words.len().checked_sub(2).and_then(|at| self.words.get(at));
        let rolls = before.is_some_and(|word| all(|it| it.dice_cues).any(|it| fold(it) == word));
        tens || rolls && number(last) && dice_in(self.text).is_none()
    }

    /// True if it is a roll with what is added to it.
    fn is_whole_roll(&self) -> bool {
        let added = self.words.iter().any(|it| matches!(it, "plus" | "minus" | "advantage"))
            || self.text.contains(['+', '-']);
        added && dice_in(self.text).is_some()
    }

    /// True if it is a list whose last thing is not there: "the rope, a lantern".
    fn is_open_list(&self) -> bool {
        let parts: Vec<Words> = self.end.split(',').map(Words::of).collect();
        let is_thing = |part: &Words| {
            (1..=THING).contains(&part.len())
                && part.get(0).is_some_and(|it| self.has(|it| it.articles, it))
                && !part.iter().any(|it| is_any(|it| it.joining, it))
        };
        parts.len() > 1 && parts.last().is_some_and(is_thing)
    }

    /// True if a quote is open.
    fn quotes(&self) -> bool {
        let count = |marks: &[char]| self.text.chars().filter(|c| marks.contains(c)).count();
        count(&['"']) % 2 == 1 || count(&['“', '„', '«', '»', '”']) % 2 == 1
    }

    /// True if it comes from a recogniser that gives no punctuation.
    fn has_no_marks(&self) -> bool {
        !self.text.contains(|c: char| c.is_uppercase() || ".,;:?!…".contains(c))
    }
}

/// True if a word is a number in digits.
fn is_digits(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|it| it.is_ascii_digit())
}

/// Index of the first word of the matter, behind names, openers and fillers; the number of words if
/// nothing else was said.
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
