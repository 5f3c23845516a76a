//! An utterance as plain words, and without the names called at its ends.
//!
//! Entry points: [`Spoken`], [`without_calls`].

use crate::logic::language::{DiceTalk, List, all};

/// An utterance in lower case, words separated by blanks, without apostrophes and marks.
pub(super) struct Spoken(String);

impl Spoken {
    pub fn of(utterance: &str) -> Self {
        let small = utterance.to_lowercase().replace(['\'', '\u{2019}'], "");
        let plain = |c: char| if c.is_alphanumeric() { c } else { ' ' };
        let plain: String = small.chars().map(plain).collect();
        Self(format!(" {} ", plain.split_whitespace().collect::<Vec<_>>().join(" ")))
    }

    /// True if it has a phrase of any language's list.
    pub fn has(&self, list: impl Fn(&'static DiceTalk) -> List) -> bool {
        all(|language| list(language.dice)).any(|phrase| self.says(phrase))
    }

    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.0.split_whitespace()
    }

    pub fn says(&self, phrase: &str) -> bool {
        self.0.match_indices(phrase).any(|(at, _)| {
            let before = self.0.get(..at).unwrap_or_default();
            let behind = self.0.get(at + phrase.len()..).unwrap_or_default();
            before.ends_with(' ') && behind.starts_with(' ')
        })
    }
}

/// `text` without a call before its first or behind its last comma.
pub(super) fn without_calls(text: &str, is_call: impl Fn(&str) -> bool) -> &str {
    let text = text.split_once(',').filter(|(call, _)| is_call(call)).map_or(text, |it| it.1);
    text.rsplit_once(',').filter(|(_, call)| is_call(call)).map_or(text, |it| it.0)
}
