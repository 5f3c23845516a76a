//! People that lines and claims mention.
//!
//! Entry types: [`People`], [`Told`].

use crate::logic::{language::is_any, words::Words};

#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    pub who: &'a str,
    /// Name of the listener, if known.
    pub to: Option<&'a str>,
    pub text: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Person {
    /// Index in [`People`].
    Known(usize),
    /// The listener, if unknown.
    Listener,
}

/// The words of each person's names that no other person shares.
#[derive(Debug)]
pub struct People(Vec<Vec<String>>);

impl People {
    pub fn of(names: &[&str]) -> Self {
        let own_words = |name: &&str| -> Vec<String> {
            let words: Vec<String> = Words::of(name).iter().map(str::to_owned).collect();
            let shared =
                |word: &str| is_any(|it| it.name_fillers, word) || is_any(|it| it.roles, word);
            let own: Vec<String> = words.iter().filter(|it| !shared(it)).cloned().collect();
            if own.is_empty() { words } else { own }
        };
        Self(names.iter().map(own_words).collect())
    }

    /// Finds a person by a word of their name.
    pub fn named(&self, word: &str) -> Option<Person> {
        self.0.iter().position(|own| own.iter().any(|it| it == word)).map(Person::Known)
    }

    pub fn find(&self, name: &str) -> Option<Person> {
        Words::of(name).iter().find_map(|word| self.named(word))
    }
}

/// True if the word at `index` means the listener; a word with other meanings must be capitalised.
pub fn is_you(text: &str, words: &Words, index: usize) -> bool {
    let word = words.get(index).unwrap_or_default();
    let written = text.get(words.source(index)).unwrap_or_default();
    is_any(|it| it.wording.you, word)
        && (!is_any(|it| it.wording.others, word) || written.starts_with(char::is_uppercase))
}

/// True if the name at `index` only calls a person: set off by commas, or at an end.
pub fn is_called(text: &str, words: &Words, index: usize) -> bool {
    let place = words.source(index);
    let before = text.get(..place.start).unwrap_or_default().trim_end();
    let behind = text.get(place.end..).unwrap_or_default().trim_start();
    let ends = behind.is_empty() || behind.starts_with(['.', '!', '?', ',']);
    (before.is_empty() && behind.starts_with([',', '!', '?'])) || (before.ends_with(',') && ends)
}
