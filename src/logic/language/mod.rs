//! Words of players by language, and detection of the language spoken.
//!
//! Entry points: [`Language::of`] for one language, [`Language::spoken_in`] for that of an
//! utterance, [`is_any`] and [`all`] where a table may mix them. To add a language, add a folder
//! beside [`en`] and [`de`], a line to [`ALL`] and its code to [`CODES`]. The lists skip rustfmt,
//! since one word a line would hide their shape.

mod de;
mod en;
mod lists;
mod told;
mod vocabulary;

use super::command::order::Order;
use crate::domain::EntityKind;

pub use lists::{Beginnings, DiceTalk, Endings, Language, List, MusicTalk, Turning, Wording};
pub use vocabulary::CardTalk;

static ALL: [&Language; 2] = [&en::ENGLISH, &de::GERMAN];
pub const CODES: &[&str] = &["en", "de"];

impl Language {
    /// The language with this code ("en", "de-AT"); `None`: it has no lists.
    pub fn of(code: &str) -> Option<&'static Self> {
        let code = code.get(..2)?;
        ALL.into_iter().find(|language| language.code == code)
    }

    /// The language in which most of `words` are common; `None` for a tie.
    pub fn likeliest(words: &[&str]) -> Option<&'static Self> {
        let has = |it: &Self, word: &str| {
            it.ordinary.contains(word)
                || [it.little, it.in_every_rule_question].iter().any(|list| list.contains(&word))
        };
        let count = |it: &&Self| words.iter().filter(|word| has(it, word)).count();
        let most = ALL.into_iter().max_by_key(count)?;
        let is_as_likely = |it: &&Self| count(it) == count(&most);
        (ALL.into_iter().filter(is_as_likely).count() == 1).then_some(most)
    }

    /// The language whose articles of names include `word`, folded.
    pub(super) fn with_article(word: &str) -> Option<&'static Self> {
        ALL.into_iter().find(|language| language.articles.contains(&word))
    }

    pub fn english() -> &'static Self {
        &en::ENGLISH
    }

    /// The language whose numbers are single words.
    pub fn german() -> &'static Self {
        &de::GERMAN
    }
}

/// True if `word`, folded, is everyday or identifies a language: hardly a name.
pub fn is_unlikely_name(word: &str) -> bool {
    ALL.into_iter().any(|it| it.telling.contains(word)) || is_everyday(word)
}

/// True if `word`, folded, is ordinary or in a list of small words, in any language.
pub fn is_everyday(word: &str) -> bool {
    let lists: [fn(&'static Language) -> List; 6] = [
        |it| it.openers,
        |it| it.tails,
        |it| it.function_words,
        |it| it.fillers,
        |it| it.little,
        |it| it.plain,
    ];
    is_ordinary(word) || lists.into_iter().any(|list| is_any(list, word))
}

/// True if any language's list contains `word`.
pub fn is_any(list: impl Fn(&'static Language) -> List, word: &str) -> bool {
    ALL.into_iter().any(|language| list(language).contains(&word))
}

/// True if `word`, folded, is in any language's [`Language::ordinary`].
pub fn is_ordinary(word: &str) -> bool {
    ALL.into_iter().any(|language| language.ordinary.contains(word))
}

/// True if any language's vocabulary contains `word`, folded.
pub fn is_word(word: &str) -> bool {
    is_ordinary(word) || ALL.into_iter().any(|language| language.vocabulary.has(word))
}

pub fn is_turning(list: impl Fn(&'static Turning) -> List, word: &str) -> bool {
    is_any(|language| list(language.turning), word)
}

/// True if `word`, folded, denies: "not".
pub fn is_negation(word: &str) -> bool {
    is_any(|language| language.wording.negations, word)
}

pub fn is_dice_talk(list: impl Fn(&'static DiceTalk) -> List, word: &str) -> bool {
    is_any(|language| list(language.dice), word)
}

/// Length in words of the longest phrase of any language's list that `words` begin with.
pub fn leading_phrase(
    list: impl Fn(&'static Language) -> List,
    words: &[impl AsRef<str>],
) -> usize {
    let length = |phrase: &str| {
        let wanted = phrase.split(' ');
        let count = wanted.clone().count();
        let begins = words.len() >= count && words.iter().zip(wanted).all(|(w, p)| w.as_ref() == p);
        if begins { count } else { 0 }
    };
    all(list).map(length).max().unwrap_or_default()
}

/// Like [`leading_phrase`], of a list of [`Beginnings`].
pub fn opening_phrase(list: impl Fn(&'static Beginnings) -> List, words: &[&str]) -> usize {
    leading_phrase(|language| list(language.opening), words)
}

pub fn all(list: impl Fn(&'static Language) -> List) -> impl Iterator<Item = &'static str> {
    ALL.into_iter().flat_map(list).copied()
}

pub fn commands() -> impl Iterator<Item = (&'static str, Order)> {
    ALL.into_iter().flat_map(|language| language.commands).copied()
}

/// Names of a kind of thing in all languages, folded.
pub fn kinds(kind: EntityKind) -> impl Iterator<Item = &'static str> {
    ALL.into_iter().flat_map(move |language| (language.kind)(kind)).copied()
}

pub fn in_english() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALL.into_iter().flat_map(|language| language.in_english).copied()
}

pub fn everything() -> impl Iterator<Item = &'static str> {
    ALL.into_iter().map(|language| language.everything)
}
