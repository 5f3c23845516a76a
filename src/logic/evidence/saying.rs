//! The ways to read lines as one statement: whole, sentence by sentence, or a question with the
//! answer put into it.
//!
//! Entry function: [`sayings`]. **Never**: adds a word that was not said, or omits one that takes
//! something back.

use super::{
    content::{is_content, is_same},
    people::Told,
};
use crate::logic::{
    language::{List, Wording, all, is_any, is_negation},
    words::Words,
};

/// Most words that name the acting person.
const ACTOR: usize = 3;

/// A line, or a part of it, as the speaker's own words.
#[derive(Clone, Debug)]
pub struct Saying<'a> {
    who: &'a str,
    /// Name of the listener, if known.
    to: Option<&'a str>,
    text: String,
    /// Names that a claim must not omit.
    names: String,
}

impl<'a> Saying<'a> {
    fn of(line: Told<'a>, text: impl Into<String>) -> Self {
        Self { who: line.who, to: line.to, text: text.into(), names: String::new() }
    }

    pub fn is_whole_in(&self, claim: &str) -> bool {
        let claimed = Words::of(claim);
        let names = Words::of(&self.names);
        let mut needed = names.iter().filter(|word| is_content(word));
        needed.all(|word| claimed.iter().any(|it| is_same(it, word)))
    }

    pub fn told(&self) -> Told<'_> {
        Told { who: self.who, to: self.to, text: &self.text }
    }
}

/// The ways to read `told`, a line or a question with its answer.
pub fn sayings<'a>(told: &[Told<'a>]) -> Vec<Vec<Saying<'a>>> {
    let whole = told.iter().map(|line| Saying::of(*line, line.text)).collect();
    let mut sayings = vec![whole];
    match told {
        // An answer with a "no" is read without its question.
        [asked, answer]
            if is_question(asked.text) && sentences(answer.text).into_iter().any(is_denial) =>
        {
            return self::sayings(&[*answer]);
        }
        [line] => {
            // A "no" to an earlier line does not negate what follows.
            if let [first, _, ..] = sentences(line.text).as_slice()
                && is_bare_no(first)
            {
                sayings.clear();
            }
            sayings
                .extend(pieces(line.text).into_iter().map(|piece| vec![Saying::of(*line, piece)]));
            sayings.extend(behind_place(line.text).map(|text| vec![Saying::of(*line, text)]));
        }
        [asked, answer] if is_question(asked.text) => {
            let pair = |question: &str, text: &str| {
                vec![Saying::of(*asked, question), Saying::of(*answer, text)]
            };
            sayings.extend(turned(asked.text).iter().map(|question| pair(question, answer.text)));
            let pieces = pieces(answer.text);
            for text in std::iter::once(answer.text).chain(pieces) {
                sayings.push(pair(asked.text, text));
                let others = [with_them(asked.text, text), behind_place(text)];
                for text in others.iter().flatten() {
                    sayings.extend([pair(asked.text, text), vec![Saying::of(*answer, text)]]);
                }
            }
            sayings.extend(filled(*asked, *answer).map(|saying| vec![saying]));
        }
        several => {
            sayings.extend(several.iter().flat_map(|line| self::sayings(&[*line])));
        }
    }
    sayings
}

pub fn is_question(text: &str) -> bool {
    text.trim_end().ends_with('?')
}

/// Like [`statements`], but empty if a later sentence takes an earlier one back.
fn pieces(text: &str) -> Vec<&str> {
    let sentences = sentences(text);
    if sentences.iter().skip(1).any(|sentence| is_denial(sentence)) {
        return Vec::new();
    }
    let parts = |sentence| {
        let apart = set_apart(sentence).map(|(one, other)| vec![one, other]);
        apart.unwrap_or_else(|| vec![sentence])
    };
    sentences.into_iter().flat_map(parts).collect()
}

fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut rest = text.trim();
    while let Some(end) = rest.match_indices(['.', '!', '?']).map(|(at, _)| at + 1).find(|end| {
        let behind = rest.get(*end..).unwrap_or_default();
        let next = behind.trim_start().chars().next();
        behind.starts_with(char::is_whitespace) && next.is_some_and(|it| !it.is_lowercase())
    }) {
        let (sentence, behind) = rest.split_at(end);
        sentences.push(sentence);
        rest = behind.trim_start();
    }
    sentences.push(rest);
    sentences
}

/// The sentences of `text`, also split at "but" and "because".
pub fn statements(text: &str) -> Vec<&str> {
    let parts = |sentence| match parted(sentence) {
        Some((one, other, _)) => vec![one, other],
        None => vec![sentence],
    };
    sentences(text).into_iter().flat_map(parts).collect()
}

/// True if a sentence is only a "no", perhaps with the listener's name.
fn is_bare_no(sentence: &str) -> bool {
    let words = Words::of(sentence);
    let last = words.len().checked_sub(1).and_then(|last| words.get(last));
    words.len() <= 2 && last.is_some_and(|word| is_any(|it| it.wording.no, word))
}

fn is_denial(sentence: &str) -> bool {
    let words = Words::of(sentence);
    if words.get(0).is_some_and(|word| is_any(|it| it.wording.no, word)) {
        return true;
    }
    let denies = words.iter().any(is_negation);
    denies && !words.iter().any(|word| is_content(word) && !is_any(|it| it.wording.yes, word))
}

/// The parts around ", but" or ", because"; after a "but" there must be no condition.
fn set_apart(sentence: &str) -> Option<(&str, &str)> {
    let (one, other, is_reason) = parted(sentence)?;
    let behind = Words::of(other);
    let is_condition = behind.iter().any(|word| is_any(|it| it.wording.hedges, word));
    (is_reason || !is_condition).then_some((one, other))
}

/// The parts around ", but" or ", because", and whether it is a "because".
fn parted(sentence: &str) -> Option<(&str, &str, bool)> {
    let words = Words::of(sentence);
    let is = |list: fn(&'static Wording) -> List, index: usize| {
        words.get(index).is_some_and(|word| is_any(|it| list(it.wording), word))
    };
    let index = (1..words.len()).find(|index| {
        let before = sentence.get(..words.source(*index).start).unwrap_or_default();
        (is(|it| it.but, *index) || is(|it| it.reasons, *index))
            && before.trim_end().ends_with([',', ';'])
    })?;
    let (one, other) = sentence.split_at_checked(words.source(index).start)?;
    Some((one, other, is(|it| it.reasons, index)))
}

/// "On the hill, where the witch lives" as "the witch lives on the hill".
fn behind_place(text: &str) -> Option<String> {
    let sentence = text.trim().trim_end_matches(['.', '!']);
    let (place, rest) = sentence.split_once(", ")?;
    let words = Words::of(rest);
    let is_where = words.get(0).is_some_and(|word| is_any(|it| it.wording.places, word));
    let behind = rest.get(words.source(0).end..)?.trim();
    (is_where && !rest.contains(['.', '?', ','])).then(|| format!("{behind} {place}."))
}

/// The answer with "they" or "them" replaced by what was asked about, if the question has exactly
/// one plural word.
fn with_them(question: &str, answer: &str) -> Option<String> {
    let asked = Words::of(question);
    let mut several = asked.iter().filter(|word| {
        let is_several = |ending: &&str| word.ends_with(*ending);
        is_content(word) && all(|it| it.wording.several).any(|it| is_several(&it))
    });
    let them = several.next().filter(|_| several.next().is_none())?;
    let words = Words::of(answer);
    let meant = words.iter().position(|word| is_any(|it| it.wording.they, word))?;
    let place = words.source(meant);
    let (before, behind) = (answer.get(..place.start)?, answer.get(place.end..)?);
    Some(format!("{before}{them}{behind}"))
}

/// A question with the acting person before the verb, where the language puts them after it: one
/// version for each number of words that may name them.
fn turned(question: &str) -> Vec<String> {
    let words = Words::of(question);
    let asks =
        |index: &usize| words.get(*index).is_some_and(|it| is_any(|it| it.wording.turned, it));
    let Some(first) = (0..words.len()).find(asks) else { return Vec::new() };
    let part = |from: usize, to: usize| {
        let end = words.source(to).start.min(question.len());
        question.get(words.source(from).start..end).unwrap_or_default().trim()
    };
    let most = words.len().saturating_sub(first + 2).min(ACTOR);
    (1..=most)
        .map(|actor| {
            let behind = first + 2 + actor;
            let (verb, actor) = (part(first + 1, first + 2), part(first + 2, behind));
            let (actor, rest) = (actor.trim_end_matches('?'), part(behind, words.len()));
            format!("{actor} {verb} {}?", rest.trim_end_matches('?'))
        })
        .collect()
}

/// A question about the actor ("who", "did anyone") with the person whom the answer names. A claim
/// must not shorten what the question says of them: "find the baker" makes no person the baker.
fn filled<'a>(question: Told<'a>, answered: Told<'a>) -> Option<Saying<'a>> {
    let (question, answer) = (question.text, answered.text.trim());
    let end = answer.find([',', '.', '!', ';']).unwrap_or(answer.len());
    let (named, rest) = answer.split_at_checked(end)?;
    let asked = Words::of(question);
    let is_theirs =
        |word: &str| is_any(|it| it.wording.me, word) || is_any(|it| it.wording.you, word);
    let first = (0..asked.len()).find(|index| {
        let word = asked.get(*index).unwrap_or_default();
        is_any(|it| it.wording.askers, word) || is_any(|it| it.wording.helping, word)
    })?;
    if (first..asked.len()).any(|index| asked.get(index).is_some_and(is_theirs)) {
        return None;
    }
    let is_helping =
        |index: usize| asked.get(index).is_some_and(|word| is_any(|it| it.wording.helping, word));
    let names = Words::of(named);
    // The question itself follows the name of the person asked.
    let from = match is_helping(first) {
        true => {
            let last = names.len().checked_sub(1).and_then(|last| names.get(last))?;
            let is_short = is_any(|it| it.wording.helping, last) || is_negation(last);
            let is_named = |word: &str| is_content(word) && names.iter().any(|it| it == word);
            let mut asked_of = (0..asked.len()).rev();
            asked_of.find(|index| is_short && asked.get(*index).is_some_and(is_named))?
        }
        false => Some(first).filter(|first| !is_helping(first + 1))?,
    };
    let of_it = question.get(asked.source(from).end..)?.trim().trim_end_matches('?');
    let is_called =
        |index: &usize| names.get(*index).is_some_and(|word| is_any(|it| it.wording.called, word));
    let called = (0..names.len()).find(is_called).map_or(0, |index| names.source(index).end);
    let saying = Saying::of(answered, format!("{named} {of_it}{rest}"));
    let names_all = named.get(called..)?.to_owned();
    names.iter().any(is_content).then_some(Saying { names: names_all, ..saying })
}
