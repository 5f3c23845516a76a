//! Rewordings of a claim that mean the same, with the actor before the one acted upon.
//!
//! Entry function: [`wordings`]. **Never**: changes who does what to whom.

use super::people::{People, Told};
use crate::logic::{
    language::{List, Wording, is_any},
    words::Words,
};

/// Most words before the verb in languages where it comes second.
const FRONT: usize = 6;
/// Most words of the acting person after such a verb.
const ACTOR: usize = 4;

/// `claim` and its rewordings. "The party" is the speaker of a line with "us" in `told`.
pub fn wordings(claim: &str, told: &[Told<'_>], people: &People) -> Vec<String> {
    let mut all = vec![claim.to_owned()];
    all.extend(active(claim));
    all.extend(to_somebody(claim, people));
    all.extend(party(claim, told));
    all.extend(verb_behind(claim));
    all
}

/// The text of a claim between two of its words.
fn piece<'c>(claim: &'c str, words: &Words, from: usize, to: usize) -> &'c str {
    let start = if from == 0 { 0 } else { words.source(from).start.min(claim.len()) };
    let end = words.source(to).start.min(claim.len());
    claim.get(start..end).unwrap_or_default().trim()
}

/// "It was done by them" as "they did it".
fn active(claim: &str) -> Option<String> {
    let words = Words::of(claim);
    let has = |list: fn(&'static Wording) -> List, index: usize| {
        words.get(index).is_some_and(|word| is_any(|it| list(it.wording), word))
    };
    let by = (2..words.len()).find(|index| has(|it| it.by, *index))?;
    let being = by.checked_sub(2).filter(|index| has(|it| it.being, *index))?;
    let behind = claim.get(words.source(by).end..)?.trim();
    let end = behind.find([',', '.', ';']).unwrap_or(behind.len());
    let (actor, rest) = behind.split_at_checked(end)?;
    let (done, verb) = (piece(claim, &words, 0, being), piece(claim, &words, being + 1, by));
    Some(format!("{actor} {verb} {done}{rest}"))
}

/// "Gives it to Mira" as "gives Mira it".
fn to_somebody(claim: &str, people: &People) -> Option<String> {
    let words = Words::of(claim);
    let to = (2..words.len()).find(|index| {
        words.get(*index).is_some_and(|word| is_any(|it| it.wording.to, word))
            && words.get(*index + 1).is_some_and(|next| people.named(next).is_some())
    })?;
    // The giver is one of the people, and the verb is the next word.
    let verb =
        1 + (0..to).find(|index| words.get(*index).is_some_and(|it| people.named(it).is_some()))?;
    let (first, given) = (piece(claim, &words, 0, verb + 1), piece(claim, &words, verb + 1, to));
    let whom = claim.get(words.source(to + 1))?;
    let rest = claim.get(words.source(to + 1).end..)?;
    Some(format!("{first} {whom} {given}{rest}"))
}

/// "The party does it" with the name of the speaker who says that "we" do.
fn party(claim: &str, told: &[Told<'_>]) -> Option<String> {
    let words = Words::of(claim);
    let index = (0..words.len())
        .find(|index| words.get(*index).is_some_and(|it| is_any(|it| it.wording.party, it)))?;
    let speaks_of_us =
        |line: &&Told<'_>| Words::of(line.text).iter().any(|it| is_any(|it| it.wording.us, it));
    let line = told.iter().find(speaks_of_us)?;
    let before = index
        .checked_sub(1)
        .filter(|it| words.get(*it).is_some_and(|it| is_any(|it| it.definite, it)));
    let start = words.source(before.unwrap_or(index)).start;
    let (before, behind) = (claim.get(..start)?, claim.get(words.source(index).end..)?);
    Some(format!("{before}{}{behind}", line.who))
}

/// Rewords a claim whose verb comes second: moves the words before it, if they name no actor, to
/// the end; one version for each possible verb.
fn verb_behind(claim: &str) -> Vec<String> {
    let claim = claim.trim_end_matches(['.', '!', ' ']);
    let words = Words::of(claim);
    if !words.get(0).is_some_and(|word| is_any(|it| it.wording.fronts, word)) {
        return Vec::new();
    }
    let mut all = Vec::new();
    for verb in 1..=FRONT.min(words.len().saturating_sub(2)) {
        for behind in (verb + 2)..=(verb + 1 + ACTOR).min(words.len()) {
            let part = |from, to| piece(claim, &words, from, to);
            let (front, done) = (part(0, verb), part(verb, verb + 1));
            let (actor, rest) = (part(verb + 1, behind), part(behind, words.len()));
            all.push(format!("{actor} {done} {rest} {front}"));
        }
    }
    all
}
