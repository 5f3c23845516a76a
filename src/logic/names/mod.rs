//! Corrects misheard names, and defines what counts as hearing a name.
//!
//! Entry type: [`Glossary`]. Words become a name only with evidence: the same sound, similar
//! letters, enough length, and a position where names occur. Words of a language stay as they are,
//! and so does the name that speakers give themselves.
//! **Never**: stores the raw text (the caller does), or guesses between two names.

mod evidence;
mod position;

pub use evidence::{NameLanguage, NameSound, Strength, name_parts};
pub use position::{PhrasePosition, is_introduced, place, same_phrase};

use super::words::{Phrases, Words};

/// Most words that one name may be heard as.
pub const MOST_WORDS: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corrected {
    pub text: String,
    pub changes: Vec<Correction>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    pub understood: String,
    pub name: String,
}

/// Names known at a table.
#[derive(Clone, Debug)]
pub struct Glossary {
    ear: NameLanguage,
    /// Names as written, which stay unchanged.
    exact: Phrases<()>,
    /// Spellings with their sounds.
    known: Vec<(String, NameSound)>,
}

impl Glossary {
    /// `names` include aliases; `language` is ISO 639-1. A name of several words is also known by
    /// its distinctive words.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n str>, language: &str) -> Self {
        let ear = NameLanguage::new(language);
        let mut glossary = Self { ear, exact: Phrases::default(), known: Vec::new() };
        for name in names {
            glossary.exact.insert(name, ());
            glossary.add(name);
            for part in name_parts(name, &ear) {
                glossary.exact.insert(part.word, ());
                if part.strength == Strength::Full {
                    glossary.add(part.word);
                }
            }
        }
        glossary
    }

    fn add(&mut self, name: &str) {
        let sound = self.ear.name(name);
        if !self.known.iter().any(|(_, known)| *known == sound) {
            self.known.push((name.trim().to_owned(), sound));
        }
    }

    /// Corrects misheard names.
    pub fn correct(&self, text: &str) -> Corrected {
        let words = Words::of(text);
        let mut kept = vec![false; words.len()];
        for found in self.exact.all(&words) {
            kept.iter_mut().take(found.end).skip(found.start).for_each(|word| *word = true);
        }
        let mut corrected = Corrected { text: String::with_capacity(text.len()), changes: vec![] };
        let (mut copied, mut start) = (0, 0);
        while start < words.len() {
            let free = kept.iter().skip(start).take(MOST_WORDS).take_while(|kept| !**kept).count();
            let Some((end, name)) = self.name_at(text, &words, start, free) else {
                start += 1;
                continue;
            };
            let range = words.source(start).start..words.source(end - 1).end;
            let understood = text.get(range.clone()).unwrap_or_default();
            corrected.text.push_str(text.get(copied..range.start).unwrap_or_default());
            corrected.text.push_str(name);
            corrected
                .changes
                .push(Correction { understood: understood.to_owned(), name: name.to_owned() });
            (copied, start) = (range.end, end);
        }
        corrected.text.push_str(text.get(copied..).unwrap_or_default());
        corrected
    }

    /// The name heard in at most `free` words from `start` on, and the index after it.
    fn name_at(
        &self,
        text: &str,
        words: &Words,
        start: usize,
        free: usize,
    ) -> Option<(usize, &str)> {
        let mut best: Option<(usize, usize, &str)> = None;
        let mut tied = false;
        if is_introduced(text, words, start) {
            return None;
        }
        for count in 1..=free {
            if count == 1 && words.get(start).is_some_and(|word| self.ear.is_word(word)) {
                continue;
            }
            let range = start..start + count;
            if !same_phrase(text, words, &range) {
                break;
            }
            let place = place(text, words, &range);
            let sounded = self.ear.sounded(words, range);
            for (name, sound) in &self.known {
                let Some(score) = self.ear.alike(&sounded, sound, place) else { continue };
                if best.is_none_or(|(top, ..)| score > top) {
                    best = Some((score, start + count, name));
                    tied = false;
                } else {
                    tied |= best.is_some_and(|(top, _, other)| score == top && other != name);
                }
            }
        }
        best.filter(|_| !tied).map(|(_, end, name)| (end, name))
    }
}

#[cfg(test)]
mod tests;
