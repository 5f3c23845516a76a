//! Evidence that words heard are a name: sound, letters, length, position.

use std::ops::Range;

use strsim::levenshtein;

use crate::logic::language::{self, Language, is_any};
use crate::logic::phonetics::{Phonetics, similarity, syllables};
use crate::logic::words::Words;

use super::position::PhrasePosition;

/// Endings that keep a word ordinary, longest first.
const ENDINGS: &[&str] = &[
    "ings", "ing", "ers", "est", "er", "ed", "es", "ly", "en", "em", "st", "te", "t", "s", "d",
    "y", "e", "n",
];
/// Shortest name that sound alone can prove.
const SHORTEST: usize = 5;

/// Shortest stem of a word that has only its ending from a language.
const STEM: usize = 5;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameSound {
    letters: String,
    key: String,
    /// Number of vowel groups.
    syllables: usize,
}

/// Heard words that may be a name.
#[derive(Clone, Debug)]
pub struct SoundedWords<'w> {
    all: &'w Words,
    range: Range<usize>,
    sound: NameSound,
}

/// How surely a word of a name means the whole name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// Like the whole name ("Bartok" of "Bartok the Barkeep").
    Full,
    /// Only as a form of address ("barkeep, a beer").
    Called,
}

/// A word of a name that means the whole name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamePart<'n> {
    pub word: &'n str,
    pub strength: Strength,
}

/// Sound rules and common words of a language.
#[derive(Clone, Copy, Debug)]
pub struct NameLanguage {
    phonetics: Phonetics,
    language: Option<&'static Language>,
}

impl NameLanguage {
    /// `language`: ISO 639-1.
    pub fn new(language: &str) -> Self {
        Self { phonetics: Phonetics::of(language), language: Language::of(language) }
    }

    pub fn name(&self, name: &str) -> NameSound {
        self.sound(Words::of(name).iter().collect())
    }

    /// The words of `range`, heard as one.
    pub fn sounded<'w>(&self, words: &'w Words, range: Range<usize>) -> SoundedWords<'w> {
        let sound = self.sound(words.joined(range.clone()).to_owned());
        SoundedWords { all: words, range, sound }
    }

    fn sound(&self, letters: String) -> NameSound {
        NameSound { key: self.phonetics.key(&letters), syllables: syllables(&letters), letters }
    }

    /// Similarity to a name, 1 to 100, given the words' position; `None`: no evidence.
    pub fn alike(
        &self,
        sounded: &SoundedWords<'_>,
        name: &NameSound,
        place: PhrasePosition,
    ) -> Option<usize> {
        let length = name.letters.len();
        let shortest = if place.edge() { SHORTEST - 1 } else { SHORTEST };
        if length < shortest || sounded.sound.letters.len().abs_diff(length) > 2 + length / 4 {
            return None;
        }
        let count = sounded.range.len();
        if sounded.sound.letters == name.letters {
            let enough = count == 1 || place.edge() || length > 6 || !self.all_ordinary(sounded);
            return enough.then_some(100);
        }
        let same = sounded.sound.key == name.key;
        let ordinary = self.all_ordinary(sounded);
        let near = place.edge()
            && count == 1
            && (one_sound_off(&sounded.sound, name)
                || !ordinary && nearly_spelled(&sounded.sound, name));
        if !same && !near {
            return None;
        }
        let is_function = |word: &str| is_any(|it| it.function_words, word);
        let mut words = sounded.range.clone().filter_map(|i| sounded.all.get(i));
        if (count > 1 && words.clone().any(is_function))
            || (count == 1 && !(place.vocative && same) && words.any(|word| self.is_word(word)))
        {
            return None;
        }
        let sounds = name.key.len();
        let bound = if place.edge() {
            edge_bound(count, ordinary, sounds, place.start || place.vocative)
        } else {
            inner_bound(count, ordinary, sounds)
                .filter(|_| sounded.sound.syllables == name.syllables)
        }?;
        let bound = if same { bound } else { bound.max(75) };
        let like = similarity(&sounded.sound.letters, &name.letters);
        // Sound alone never proves more than 99.
        (like >= bound).then_some(like.min(99))
    }

    fn all_ordinary(&self, sounded: &SoundedWords<'_>) -> bool {
        sounded.range.clone().all(|i| sounded.all.get(i).is_none_or(|word| self.is_ordinary(word)))
    }

    /// True if a folded word or its stem is in a language that may be spoken at the table.
    pub fn is_word(&self, word: &str) -> bool {
        let stems = ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending));
        let mut forms = std::iter::once(word).chain(stems.filter(|stem| stem.len() >= STEM));
        self.is_ordinary(word) || forms.any(language::is_word)
    }

    pub fn is_ordinary(&self, word: &str) -> bool {
        let Some(language) = self.language else { return word.len() <= 3 };
        let list = language.ordinary;
        if word.len() <= 3 || list.contains(word) {
            return true;
        }
        ENDINGS.iter().any(|ending| {
            let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() >= 3) else {
                return false;
            };
            let doubled = stem.get(..stem.len() - 1).filter(|single| {
                single.len() >= 3 && single.bytes().next_back() == stem.bytes().next_back()
            });
            list.contains(stem)
                || list.contains(&format!("{stem}e"))
                || doubled.is_some_and(|single| list.contains(single))
        })
    }
}

/// True if all but one of four or more sounds agree.
fn one_sound_off(sounded: &NameSound, name: &NameSound) -> bool {
    name.key.len() >= 4
        && sounded.key.len().abs_diff(name.key.len()) <= 1
        && levenshtein(&sounded.key, &name.key) == 1
}

/// True if an uncommon word differs from the name by one letter of five or more.
fn nearly_spelled(sounded: &NameSound, name: &NameSound) -> bool {
    name.letters.len() >= 5 && levenshtein(&sounded.letters, &name.letters) == 1
}

/// Similarity needed inside a sentence, by the numbers of words and `sounds`.
fn inner_bound(words: usize, ordinary: bool, sounds: usize) -> Option<usize> {
    match (words, ordinary, sounds) {
        (1, _, 3..) => Some(75),
        (2.., _, 6..) => Some(70),
        (2.., false, 4..) => Some(75),
        _ => None,
    }
}

/// Similarity needed where a person is addressed; `called`: by more than a position at the end.
fn edge_bound(words: usize, ordinary: bool, sounds: usize, called: bool) -> Option<usize> {
    match (words, ordinary, sounds) {
        (1, true, 3..) => Some(75),
        (1, false, 2..) => Some(65),
        (2.., _, 5..) if called => Some(50),
        (2.., false, _) | (2.., true, 4..) => Some(65),
        _ => None,
    }
}

/// The words of a name that stand for it; empty for a name of one word.
pub fn name_parts<'n>(name: &'n str, ear: &NameLanguage) -> Vec<NamePart<'n>> {
    let words = Words::of(name);
    if words.len() < 2 {
        return Vec::new();
    }
    let epithet = words.get(1).is_some_and(|second| is_any(|it| it.function_words, second));
    let part = |index: usize| {
        let folded = words.get(index)?;
        let word = name.get(words.source(index))?;
        if folded.len() < 3 || is_any(|it| it.function_words, folded) {
            return None;
        }
        let own =
            !is_any(|it| it.roles, folded) && (!ear.is_ordinary(folded) || (index == 0 && epithet));
        let strength = if own { Strength::Full } else { Strength::Called };
        Some(NamePart { word, strength })
    };
    (0..words.len()).filter_map(part).collect()
}
