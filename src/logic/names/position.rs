//! Position of words in an utterance: at its edges, or set off as an address.

use std::ops::Range;

use crate::logic::{
    language::{all, is_any},
    words::Words,
};

/// Most words before a name at the start.
const MOST_OPENERS: usize = 3;

/// Most words after a name at the end.
const MOST_TAIL: usize = 2;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhrasePosition {
    /// At the start, perhaps after openers such as "hey".
    pub start: bool,
    /// At the end, perhaps before "please" and the like.
    pub end: bool,
    /// Set off by punctuation or called ("hey"), like an addressee.
    pub vocative: bool,
}

impl PhrasePosition {
    /// True if the name of an addressee can be here.
    pub fn edge(self) -> bool {
        self.start || self.end || self.vocative
    }
}

/// Number of openers at the start, at most [`MOST_OPENERS`].
fn skipped_opening(words: &Words) -> usize {
    let greeting = |at: usize| words.longest_phrase_at(at, all(|it| it.greetings));
    let mut at = 0;
    while at < MOST_OPENERS {
        let opener = words.get(at).filter(|word| is_opener(word)).map(|_| 1);
        match greeting(at).or(opener) {
            Some(count) => at += count,
            None => break,
        }
    }
    at.min(MOST_OPENERS)
}

fn is_opener(word: &str) -> bool {
    is_any(|it| it.openers, word)
}

pub fn place(text: &str, words: &Words, range: &Range<usize>) -> PhrasePosition {
    let before = gap(text, words, range.start);
    let after = gap(text, words, range.end);
    let first = range.start == 0;
    let last = range.end >= words.len();
    let start = range.start <= skipped_opening(words);
    let tail = words.len().saturating_sub(range.end);
    let end = last
        || (tail <= MOST_TAIL
            && (range.end..words.len())
                .all(|i| words.get(i).is_some_and(|w| is_any(|it| it.tails, w))));
    let called = range
        .start
        .checked_sub(1)
        .and_then(|i| words.get(i))
        .is_some_and(|w| is_any(|it| it.calls, w));
    let set_off_before = first || called || pauses(before);
    let set_off_after = last || pauses(after);
    // "Elara, Bartok, and Mira came" is a list, no call.
    let listed = !start
        && before.contains(',')
        && after.contains(',')
        && words.get(range.end).is_some_and(|w| is_any(|it| it.joining, w));
    let vocative = (set_off_before && set_off_after && !listed) || (called && start);
    PhrasePosition { start, end, vocative }
}

/// True if only hyphens and no possessive separate the words of `range`.
pub fn same_phrase(text: &str, words: &Words, range: &Range<usize>) -> bool {
    (range.start + 1..range.end).all(|index| {
        !words.is_possessive(index - 1)
            && gap(text, words, index).chars().all(|c| c.is_whitespace() || c == '-')
    })
}

/// True if the speaker gives their own name from `start` on ("my name is"); it may be any word.
pub fn is_introduced(text: &str, words: &Words, start: usize) -> bool {
    // Unfolded: "I'm" folds to the German "im".
    let written = |at: usize| {
        let word = text.get(words.source(at))?;
        Some(word.to_lowercase().replace('’', "'"))
    };
    all(|it| it.introducing).any(|phrase| {
        let count = phrase.split(' ').count();
        start.checked_sub(count).is_some_and(|from| {
            let mut pairs = phrase.split(' ').zip(from..);
            pairs.all(|(word, at)| written(at).is_some_and(|it| it == word))
        })
    })
}

fn gap<'t>(text: &'t str, words: &Words, index: usize) -> &'t str {
    let from = index.checked_sub(1).map_or(0, |before| words.source(before).end);
    let to = words.source(index).start.min(text.len());
    text.get(from.min(to)..to).unwrap_or_default()
}

fn pauses(gap: &str) -> bool {
    gap.contains([',', ';', '.', '!', '?', '…', ':', '—', '–'])
}
