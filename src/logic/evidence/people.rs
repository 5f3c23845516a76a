//! Of whom lines and claims speak.
//!
//! Entry types: [`People`], [`Told`]. **Never**: judges a claim.

use crate::logic::{language::is_any, words::Words};

/// A line as it was said.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// Name of the speaker.
    pub who: &'a str,
    /// To whom; `None`: not known.
    pub to: Option<&'a str>,
    /// Its words.
    pub text: &'a str,
}

/// Somebody of whom a sentence speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Person {
    /// By their place in a list.
    Known(usize),
    /// The person spoken to, when it is unknown who that was.
    Listener,
}

/// Everybody of whom lines may speak: their names, as words that nobody else shares.
#[derive(Debug)]
pub struct People(Vec<Vec<String>>);

impl People {
    /// Those who are called `names`.
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

    /// The person that has `word` in their name.
    pub fn named(&self, word: &str) -> Option<Person> {
        self.0.iter().position(|own| own.iter().any(|it| it == word)).map(Person::Known)
    }

    /// The person called `name`.
    pub fn find(&self, name: &str) -> Option<Person> {
        Words::of(name).iter().find_map(|word| self.named(word))
    }
}

/// True if the word at `index` means the person spoken to. Where the word also means others, it does so only
/// with a capital.
pub fn is_you(text: &str, words: &Words, index: usize) -> bool {
    let word = words.get(index).unwrap_or_default();
    let written = text.get(words.source(index)).unwrap_or_default();
    is_any(|it| it.wording.you, word)
        && (!is_any(|it| it.wording.others, word) || written.starts_with(char::is_uppercase))
}

/// True if the name at `index` only calls somebody: set off by commas, at an end.
pub fn is_called(text: &str, words: &Words, index: usize) -> bool {
    let place = words.source(index);
    let before = text.get(..place.start).unwrap_or_default().trim_end();
    let behind = text.get(place.end..).unwrap_or_default().trim_start();
    let ends = behind.is_empty() || behind.starts_with(['.', '!', '?', ',']);
    (before.is_empty() && behind.starts_with([',', '!', '?'])) || (before.ends_with(',') && ends)
}
