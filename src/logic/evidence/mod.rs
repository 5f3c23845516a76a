//! Judges whether lines of a transcript prove a claim, and which lines are worth keeping.
//!
//! Entry type: [`People`]. A line proves a claim if it says it in its own words: the same content
//! words in the same order, the same numbers and negations, and the same people doing the same
//! things.
//! **Never**: understands a sentence; claims it cannot judge are left to people.

mod content;
mod order;
mod people;
mod saying;
mod wordings;

pub use people::{People, Told};

use content::{is_content, is_same, number};
use people::{Person, is_called, is_you};
use saying::{is_question, sayings};
use wordings::wordings;

use super::{
    language::{Language, List, is_any, is_negation},
    trigrams::is_alike,
    words::Words,
};

impl People {
    /// True if `told`, a line or a question with its answer, proves `claim` in any wording.
    pub fn prove(&self, claim: &str, told: &[Told<'_>]) -> bool {
        sayings(told).iter().any(|saying| {
            let told: Vec<Told<'_>> = saying.iter().map(|line| line.told()).collect();
            saying.iter().all(|line| line.is_whole_in(claim))
                && wordings(claim, &told, self).iter().any(|claim| self.say(claim, &told))
        })
    }

    fn say(&self, claim: &str, told: &[Told<'_>]) -> bool {
        let claimed = Words::of(claim);
        let lines: Vec<Words> = told.iter().map(|line| Words::of(line.text)).collect();
        let content: Vec<&str> = claimed.iter().filter(|word| is_content(word)).collect();
        !content.is_empty()
            && content.iter().all(|word| is_told(word, told, &lines))
            && is_as_certain(&claimed, told, &lines)
            && told.iter().all(|line| speaks_of_each(&content, line.text))
            && is_answered(&claimed, &content, told, &lines)
            && order::is_kept(claim, told, self)
            && told.iter().zip(&lines).any(|(line, words)| is_by_them(&claimed, *line, words, self))
    }

    /// True if a recap must not omit `text`: it has a number, money, a promise, or a name other
    /// than theirs.
    pub fn matters(&self, text: &str) -> bool {
        !self.mattering(text).is_empty()
    }

    /// True if `claims` contain every word that makes `text` matter.
    pub fn is_covered(&self, text: &str, claims: &[&str]) -> bool {
        let claims: Vec<Words> = claims.iter().map(|claim| Words::of(claim)).collect();
        let is_said =
            |word: &String| claims.iter().flat_map(Words::iter).any(|it| is_same(it, word));
        self.mattering(text).iter().all(is_said)
    }

    fn mattering(&self, text: &str) -> Vec<String> {
        let words = Words::of(text);
        let counts = |word: &str| number(word).is_some_and(|number| number > 1);
        let is_one = |word: &&str| {
            counts(word)
                || is_any(|it| it.wording.rewards, word)
                || is_any(|it| it.wording.promises, word)
        };
        let mut mattering: Vec<String> = words.iter().filter(is_one).map(str::to_owned).collect();
        mattering.extend(names(text, &words, self));
        mattering
    }
}

/// True if one of `told` shares a subject with `claim`: no proof, but worth asking about.
pub fn touches(claim: &str, told: &[Told<'_>]) -> bool {
    let claimed = Words::of(claim);
    let lines: Vec<Words> = told.iter().map(|line| Words::of(line.text)).collect();
    claimed.iter().any(|word| is_content(word) && is_told(word, told, &lines))
}

/// True if `word` was said, or names a speaker or listener.
fn is_told(word: &str, told: &[Told<'_>], lines: &[Words]) -> bool {
    let names = told.iter().flat_map(|line| [Some(line.who), line.to]).flatten();
    let names: Vec<Words> = names.map(Words::of).collect();
    let mut said = lines.iter().chain(&names).flat_map(Words::iter);
    said.any(|it| is_same(it, word))
}

/// True if the claim neither drops nor adds a "not", an "if" or a "will", nor turns the actor into
/// the one acted upon. A claim that reports speech may drop the line's "is".
fn is_as_certain(claimed: &Words, told: &[Told<'_>], lines: &[Words]) -> bool {
    let has = |words: &Words, list: fn(&'static Language) -> List| {
        words.iter().any(|word| is_any(list, word))
    };
    // A line that only reports a fact does not prove it.
    let is_report = |(line, words): (&Told<'_>, &Words)| {
        !is_question(line.text) && has(words, |it| it.wording.reporting)
    };
    let is_reported = told.iter().zip(lines).any(is_report);
    let told = |list| lines.iter().any(|line| has(line, list));
    let negations: fn(&'static Language) -> _ = |it| it.wording.negations;
    let lacking: fn(&'static Language) -> _ = |it| it.wording.lacking;
    let hedges: fn(&'static Language) -> _ = |it| it.wording.hedges;
    let coming: fn(&'static Language) -> _ = |it| it.wording.coming;
    let being: fn(&'static Language) -> _ = |it| it.wording.being;
    let reporting: fn(&'static Language) -> _ = |it| it.wording.reporting;
    let turning: fn(&'static Language) -> _ = |it| it.wording.turning;
    (has(claimed, reporting) || !is_reported)
        && has(claimed, negations) == told(negations)
        && has(claimed, lacking) == told(lacking)
        && none_of(claimed)
            .iter()
            .all(|word| lines.iter().flat_map(none_of).any(|it| is_same(it, word)))
        && (has(claimed, being) == told(being) || told(being) && has(claimed, reporting))
        && has(claimed, turning) == told(turning)
        && (has(claimed, hedges) || !told(hedges))
        && (has(claimed, coming) || !told(coming))
}

/// Things that `words` deny: the first content word after each "no".
fn none_of(words: &Words) -> Vec<&str> {
    let is_none =
        |index: &usize| words.get(*index).is_some_and(|it| is_any(|it| it.wording.none_of, it));
    let behind =
        |index| (index + 1..words.len()).filter_map(|at| words.get(at)).find(|it| is_content(it));
    (0..words.len()).filter(is_none).filter_map(behind).collect()
}

/// True if, where one sentence of `text` denies something and another affirms something, the claim
/// has content of each: it could have taken the "not" from the wrong one.
fn speaks_of_each(content: &[&str], text: &str) -> bool {
    let sentences: Vec<Words> = saying::statements(text).into_iter().map(Words::of).collect();
    let is_negated = |words: &Words| words.iter().any(is_negation);
    let negated = sentences.iter().filter(|words| is_negated(words)).count();
    if negated == 0 || negated == sentences.len() {
        return true;
    }
    let has = |words: &Words, word: &str| words.iter().any(|it| is_same(it, word));
    (0..sentences.len()).all(|index| {
        let of_others = |word: &str| {
            sentences.iter().enumerate().any(|(other, words)| other != index && has(words, word))
        };
        let Some(words) = sentences.get(index) else { return true };
        let mut own = words.iter().filter(|word| is_content(word) && !of_others(word)).peekable();
        own.peek().is_none() || own.any(|word| content.iter().any(|it| is_same(it, word)))
    })
}

/// True if the question was answered, unless the claim is that it was asked.
fn is_answered(claimed: &Words, content: &[&str], told: &[Told<'_>], lines: &[Words]) -> bool {
    let is_question = |line: &Told<'_>| is_question(line.text);
    if !told.iter().any(is_question) || claimed.iter().any(|it| is_any(|it| it.wording.asking, it))
    {
        return true;
    }
    let mut answers = told.iter().zip(lines).filter(|(line, _)| !is_question(line));
    answers.any(|(_, words)| {
        let is_yes = words.get(0).is_some_and(|first| is_any(|it| it.wording.yes, first));
        let speaks_of_it = |word: &str| content.iter().any(|it| is_alike(it, word));
        is_yes || words.iter().any(speaks_of_it)
    })
}

/// True if the people in the claim act in the line as they do in the claim.
fn is_by_them(claimed: &Words, line: Told<'_>, words: &Words, people: &People) -> bool {
    let (mut named, mut reports) = (Vec::new(), false);
    for (index, word) in claimed.iter().enumerate() {
        let Some(person) = people.named(word) else { continue };
        if !named.contains(&person) {
            let next = claimed.get(index + 1);
            reports |= named.is_empty()
                && next.is_some_and(|next| is_any(|it| it.wording.reporting, next));
            named.push(person);
        }
    }
    let speaker = people.find(line.who);
    let listener = line.to.and_then(|name| people.find(name)).unwrap_or(Person::Listener);
    let acting = acting(line, words, people, listener);
    let Some(first) = named.first().copied() else {
        let begins = claimed.get(0).is_some_and(|it| is_any(|it| it.wording.others, it));
        return !begins || acting.is_empty();
    };
    if reports {
        let asks = claimed.iter().any(|it| is_any(|it| it.wording.asking, it));
        let is_question = is_question(line.text);
        let is_said_so = Some(first) == speaker && (is_question || !asks);
        let rest: Vec<Person> = named.into_iter().skip(1).filter(|it| *it != listener).collect();
        let told: Vec<Person> = acting.into_iter().filter(|it| rest.contains(it)).collect();
        return is_said_so && (told == rest || listener == Person::Listener && rest.len() == 1);
    }
    let is_them = |(acts, claimed): (&Person, &Person)| {
        acts == claimed || *acts == Person::Listener && Some(*claimed) != speaker
    };
    // A person the line does not mention did nothing in it.
    named.len() <= acting.len() && acting.iter().zip(&named).all(is_them)
}

/// People a line mentions, in order; a person only called by name does not count.
fn acting(line: Told<'_>, words: &Words, people: &People, listener: Person) -> Vec<Person> {
    let mut acting = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let person = if is_any(|it| it.wording.me, word) {
            people.find(line.who)
        } else if is_you(line.text, words, index) {
            Some(listener)
        } else {
            people.named(word).filter(|_| !is_called(line.text, words, index))
        };
        if let Some(person) = person.filter(|person| !acting.contains(person)) {
            acting.push(person);
        }
    }
    acting
}

/// Names within a sentence. In a language with capitalised nouns, only two capitalised words in a
/// row are a name ("Frau Lindt").
fn names(text: &str, words: &Words, people: &People) -> Vec<String> {
    let list: Vec<&str> = words.iter().collect();
    let has_noun_capitals =
        Language::likeliest(&list).is_none_or(|language| language.nouns_have_capitals);
    let is_written = |index: usize, behind: &[char]| {
        let place = words.source(index);
        let before = text.get(..place.start).unwrap_or_default().trim_end();
        let is_within = before.ends_with(|c: char| c.is_alphanumeric() || behind.contains(&c));
        let mut letters = text.get(place).unwrap_or_default().chars();
        let is_capital = letters.next().is_some_and(char::is_uppercase)
            && letters.next().is_some_and(char::is_lowercase);
        index > 0 && is_within && is_capital
    };
    let is_name = |index: &usize| {
        let word = words.get(*index).unwrap_or_default();
        let is_written = match has_noun_capitals {
            false => is_written(*index, &[',']),
            true => is_written(*index, &[]) && is_written(*index - 1, &[',']),
        };
        is_written && people.named(word).is_none()
    };
    let found = (1..words.len()).filter(is_name);
    found.filter_map(|index| words.get(index).map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests;
