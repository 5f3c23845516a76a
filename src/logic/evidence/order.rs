//! Checks that a claim has its words in the order of the lines, which says who does what to whom.
//!
//! Entry function: [`is_kept`]. **Never**: lets a claim skip from one clause to another, or over a
//! person.

use super::{
    content::{is_content, is_same, number},
    people::{People, Person, Told, is_called, is_you},
};
use crate::logic::{language::is_any, words::Words};

/// A word that counts, or the end of a clause.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Term {
    Person(Person),
    /// A person named before.
    Someone,
    Word(String),
    ClauseEnd,
    LineEnd,
}

impl Term {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Word(one), Self::Word(other)) => is_same(one, other),
            (one, other) => one == other,
        }
    }
}

/// True if the words of `claim` occur in `told` in order, without a change of meaning between.
pub fn is_kept(claim: &str, told: &[Told<'_>], people: &People) -> bool {
    let mut said = Vec::new();
    for line in told {
        let speaker = people.find(line.who);
        let listener = line.to.and_then(|name| people.find(name)).unwrap_or(Person::Listener);
        said.extend(terms(line.text, people, speaker, Some(listener)));
        said.extend([Term::ClauseEnd, Term::LineEnd]);
    }
    let claimed: Vec<Term> = terms(claim, people, None, None)
        .into_iter()
        .filter(|term| match term {
            // A person missing from the line said or heard it; other checks judge what they did.
            Term::Person(_) => said.contains(term),
            Term::Word(_) | Term::Someone => true,
            Term::ClauseEnd | Term::LineEnd => false,
        })
        .collect();
    found(&said, &claimed).next().is_some() || is_kept_but_for_verb(claim, &said, &claimed)
}

/// True if the claim holds except for its last word, a verb that occurs elsewhere: after the acting
/// person, in a clause of theirs.
fn is_kept_but_for_verb(claim: &str, said: &[Term], claimed: &[Term]) -> bool {
    let has_verb_last = Words::of(claim).iter().any(|it| is_any(|it| it.wording.verb_last, it));
    let Some((verb @ Term::Word(_), rest)) = claimed.split_last() else { return false };
    if !has_verb_last || rest.len() < 2 {
        return false;
    }
    let mut verbs = Vec::new();
    let mut others = Vec::new();
    for term in said {
        match term.is(verb) {
            true => verbs.push(others.len()),
            false => others.push(term.clone()),
        }
    }
    found(&others, rest).any(|(first, last)| {
        let ends = |it: &Term| *it == Term::ClauseEnd;
        let behind = others.get(last..).unwrap_or_default().iter().position(ends);
        let end = behind.map_or(others.len(), |it| last + it);
        verbs.iter().any(|verb| (first + 1..=end).contains(verb))
    })
}

/// Finds the terms of `claimed` in `said`, in order; yields the indices of the first and last.
fn found<'s>(said: &'s [Term], claimed: &'s [Term]) -> impl Iterator<Item = (usize, usize)> + 's {
    let nothing = claimed.is_empty().then_some((0, 0));
    let starts = claimed.split_first().into_iter().flat_map(move |(first, rest)| {
        let starts = (0..said.len()).filter(move |at| said.get(*at).is_some_and(|it| it.is(first)));
        starts.filter_map(move |start| Some((start, stands_behind(said, start, rest)?)))
    });
    nothing.into_iter().chain(starts)
}

/// Index in `said` of the last term of `rest`, if `rest` follows `start`; takes the nearest
/// occurrence of each word.
fn stands_behind(said: &[Term], start: usize, rest: &[Term]) -> Option<usize> {
    let mut behind = said.get(start + 1..).unwrap_or_default();
    let is_person = |it: &&Term| matches!(it, Term::Person(_));
    let mut actor = said.get(start).filter(is_person);
    for term in rest {
        if *term == Term::Someone {
            if let Some((Term::Person(_) | Term::Someone, next)) = behind.split_first() {
                behind = next;
            }
            continue;
        }
        let at = behind.iter().position(|it| it.is(term))?;
        let (skipped, found) = behind.split_at(at);
        let is_any = |wanted: fn(&Term) -> bool| skipped.iter().any(wanted);
        let leaves_clause =
            is_any(|it| *it == Term::ClauseEnd) && is_any(|it| matches!(it, Term::Word(_)));
        // A person named first who does one thing may also do the other.
        let is_other = skipped.iter().any(|it| match it {
            Term::Person(_) => Some(it) != actor,
            Term::Word(word) => number(word).is_some(),
            Term::Someone | Term::ClauseEnd | Term::LineEnd => false,
        });
        // The words of an answer without a name do not say who is meant.
        let leaves_clause =
            leaves_clause || is_any(|it| *it == Term::LineEnd) && is_any(|it| *it == Term::Someone);
        if leaves_clause || is_other {
            return None;
        }
        actor = actor.or(found.first().filter(is_person));
        behind = found.get(1..).unwrap_or_default();
    }
    Some(said.len() - behind.len() - 1)
}

/// The terms of `text` in order; a name of several words counts once.
fn terms(text: &str, people: &People, me: Option<Person>, you: Option<Person>) -> Vec<Term> {
    let words = Words::of(text);
    let mut terms: Vec<Term> = Vec::new();
    let mut end = 0;
    for (index, word) in words.iter().enumerate() {
        let place = words.source(index);
        let between = text.get(end..place.start).unwrap_or_default();
        let ends = between.contains([',', ';', ':', '.', '!', '?', '\u{2013}', '\u{2014}'])
            || is_any(|it| it.wording.clauses, word);
        end = place.end;
        if ends && !terms.is_empty() {
            terms.push(Term::ClauseEnd);
        }
        let person = if is_any(|it| it.wording.me, word) {
            me
        } else if is_you(text, &words, index) {
            // At the beginning of a sentence it may be another person.
            let begins = index == 0 || between.contains(['.', '!', '?']);
            you.filter(|_| !begins || !is_any(|it| it.wording.others, word))
        } else {
            people.named(word)
        };
        let term = match person {
            Some(_) if is_called(text, &words, index) => continue,
            Some(person) => Term::Person(person),
            None if is_any(|it| it.wording.others, word) => Term::Someone,
            None if is_title(&words, index, people) => continue,
            None if is_any(|it| it.wording.times, word) => continue,
            None if is_content(word) => Term::Word(word.to_owned()),
            None => continue,
        };
        if !matches!(term, Term::Person(_)) || terms.last() != Some(&term) {
            terms.push(term);
        }
    }
    terms
}

/// True if the word at `index` is a title before a name: "Captain" of "Captain Hale".
fn is_title(words: &Words, index: usize, people: &People) -> bool {
    let is_role = words.get(index).is_some_and(|word| is_any(|it| it.roles, word));
    is_role && words.get(index + 1).is_some_and(|next| people.named(next).is_some())
}
