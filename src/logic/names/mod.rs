//! Misheard names into known names, and what counts as hearing a name.
//!
//! Entry type: [`Glossary`]. A word or a few joined words become a name only on evidence: the same
//! sound, near letters, enough length, and a place where names stand; a word of a language stays what it
//! is, and so does the name that speakers give themselves.
//! **Never**: keeps the raw text (the caller does), or guesses between two names.

mod evidence;
mod position;

pub use evidence::{NameLanguage, NameSound, Strength, name_parts};
pub use position::{PhrasePosition, is_introduced, place, same_phrase};

use super::words::{Phrases, Words};

/// Most words one name may be heard as.
pub const MOST_WORDS: usize = 4;

/// A text with names put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corrected {
    /// The text, unchanged but for the names.
    pub text: String,
    /// The corrections made, in order.
    pub changes: Vec<Correction>,
}

/// One name put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// The words as heard.
    pub understood: String,
    /// The name they became.
    pub name: String,
}

/// The names known at a table, prepared once.
#[derive(Clone, Debug)]
pub struct Glossary {
    /// Sound rules and common words of the language.
    ear: NameLanguage,
    /// Names as they are; never touched.
    exact: Phrases<()>,
    /// Spellings and their sounds.
    known: Vec<(String, NameSound)>,
}

impl Glossary {
    /// Prepares names (with aliases, as written) for a language (ISO 639-1). A name of several
    /// words is also known by its own distinctive words.
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

    /// Adds one spelling, once.
    fn add(&mut self, name: &str) {
        let sound = self.ear.name(name);
        if !self.known.iter().any(|(_, known)| *known == sound) {
            self.known.push((name.trim().to_owned(), sound));
        }
    }

    /// Puts misheard names right.
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

    /// The name heard from word `start` on in at most `free` words, and the word after it.
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
