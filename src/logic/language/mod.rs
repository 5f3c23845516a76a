//! Words of players, language by language: word lists, and which language somebody speaks.
//!
//! Entry points: [`Language::of`] for one language, [`Language::spoken_in`] for that of an utterance,
//! [`is_any`] and [`all`] where a table may mix them. Another language is another folder beside [`en`] and
//! [`de`], its line in [`ALL`] and its code in [`CODES`].
//! **Never**: decides what is done.

mod de;
mod en;
mod lists;
mod requests;
mod told;
mod vocabulary;

use super::command::order::Order;
use crate::domain::EntityKind;

pub use lists::{Beginnings, DiceTalk, Endings, Language, List, MusicTalk, Turning, Wording};
pub use requests::CardTalk;

/// Every language there are lists for.
static ALL: [&Language; 2] = [&en::ENGLISH, &de::GERMAN];
/// Their codes.
pub const CODES: &[&str] = &["en", "de"];

impl Language {
    /// The language with the code `code` ("en", "de-AT"); `None`: there are no lists for it.
    pub fn of(code: &str) -> Option<&'static Self> {
        let code = code.get(..2)?;
        ALL.into_iter().find(|language| language.code == code)
    }

    /// The language that most of `words` are common in; `None`: two are as likely.
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

    /// The language that has `word`, folded, as an article of names.
    pub(super) fn with_article(word: &str) -> Option<&'static Self> {
        ALL.into_iter().find(|language| language.articles.contains(&word))
    }

    /// English, which prompts are written in.
    pub fn english() -> &'static Self {
        &en::ENGLISH
    }

    /// German, whose number words are read as one word.
    pub fn german() -> &'static Self {
        &de::GERMAN
    }
}

/// True if `word`, folded, is everyday or stands in a language's list of telling words: hardly a name.
pub fn is_unlikely_name(word: &str) -> bool {
    ALL.into_iter().any(|it| it.telling.contains(word)) || is_everyday(word)
}

/// True if `word`, folded, is ordinary in any language or in a list of its small words.
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

/// True if a list of any language has `word`.
pub fn is_any(list: impl Fn(&'static Language) -> List, word: &str) -> bool {
    ALL.into_iter().any(|language| list(language).contains(&word))
}

/// True if `word`, folded, is an ordinary word of any language ([`Language::ordinary`]).
pub fn is_ordinary(word: &str) -> bool {
    ALL.into_iter().any(|language| language.ordinary.contains(word))
}

/// True if any language has `word`, folded, among all its words.
pub fn is_word(word: &str) -> bool {
    is_ordinary(word) || ALL.into_iter().any(|language| language.vocabulary.has(word))
}

/// True if a list of how people of any language turn to somebody has `word`.
pub fn is_turning(list: impl Fn(&'static Turning) -> List, word: &str) -> bool {
    is_any(|language| list(language.turning), word)
}

/// True if a list of any language's words about dice has `word`.
pub fn is_dice_talk(list: impl Fn(&'static DiceTalk) -> List, word: &str) -> bool {
    is_any(|language| list(language.dice), word)
}

/// Length in words of the longest phrase of a list of any language's openings that `words` begin with.
pub fn opening_phrase(list: impl Fn(&'static Beginnings) -> List, words: &[&str]) -> usize {
    let phrases = all(|language| list(language.opening));
    let length = |phrase: &str| {
        let mut wanted = phrase.split(' ');
        let count = wanted.clone().count();
        let begins = words.len() >= count && words.iter().zip(&mut wanted).all(|(w, p)| *w == p);
        if begins { count } else { 0 }
    };
    phrases.map(length).max().unwrap_or_default()
}

/// A list of all languages together.
pub fn all(list: impl Fn(&'static Language) -> List) -> impl Iterator<Item = &'static str> {
    ALL.into_iter().flat_map(list).copied()
}

/// Spoken commands of all languages.
pub fn commands() -> impl Iterator<Item = (&'static str, Order)> {
    ALL.into_iter().flat_map(|language| language.commands).copied()
}

/// Names of a kind of thing in all languages, folded.
pub fn kinds(kind: EntityKind) -> impl Iterator<Item = &'static str> {
    ALL.into_iter().flat_map(move |language| (language.kind)(kind)).copied()
}

/// Words of all other languages beside their English ones.
pub fn in_english() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALL.into_iter().flat_map(|language| language.in_english).copied()
}

/// The topics of those who know of everything.
pub fn everything() -> impl Iterator<Item = &'static str> {
    ALL.into_iter().map(|language| language.everything)
}
