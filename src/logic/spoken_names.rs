//! Spoken forms of names, with or without an article.
//!
//! Entry functions: [`spoken_as`], [`bare`]. A speaker may omit the article of a proper name ("The
//! Rusty Tankard"), but not that of an ordinary word ("the keep"), which some languages inflect
//! ("die Burg", "zur Burg").

use super::{language::Language, words::fold};

pub fn bare(name: &str) -> &str {
    Articled::of(name).map_or(name, |it| it.rest)
}

/// Spoken forms of `name`, as phrases to search for.
pub fn spoken_as(name: &str) -> Vec<String> {
    match Articled::of(name) {
        None => vec![name.to_owned()],
        Some(it) if it.is_proper() => vec![it.rest.to_owned()],
        Some(it) => {
            let definite = it.language.definite.iter().copied();
            let own =
                Some(it.article).filter(|own| definite.clone().all(|other| fold(own) != other));
            definite.chain(own).map(|article| format!("{article} {}", it.rest)).collect()
        }
    }
}

struct Articled<'n> {
    language: &'static Language,
    article: &'n str,
    rest: &'n str,
}

impl<'n> Articled<'n> {
    fn of(name: &'n str) -> Option<Self> {
        let (article, rest) = name.split_once(' ')?;
        let language = Language::with_article(&fold(article))?;
        Some(Self { language, article, rest })
    }

    /// True if it is more than ordinary words. In a language with capitalised nouns, the first of
    /// several words must have a capital: "der Tanzende Hirsch", not "die alte Burg".
    fn is_proper(&self) -> bool {
        let begins_large = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
        match self.language.nouns_have_capitals {
            true => self.rest.split_once(' ').is_some_and(|(first, _)| begins_large(first)),
            false => self.rest.chars().any(char::is_uppercase),
        }
    }
}
