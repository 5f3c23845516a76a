//! Names as people say them: with an article, or without.
//!
//! Entry functions: [`spoken_as`], [`bare`]. The speaker may leave out the article of a proper name ("The
//! Rusty Tankard"), not that of an ordinary word ("the keep"), which is inflected where the language
//! does that ("die Burg", "zur Burg"). **Never**: takes an ordinary word for a name.

use super::{language::Language, words::fold};

/// `name` without its article.
pub fn bare(name: &str) -> &str {
    Articled::of(name).map_or(name, |it| it.rest)
}

/// Spoken forms of `name`, each as a phrase to look for.
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

/// A name that begins with an article.
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

    /// True if it is more than ordinary words. Where all nouns have capitals, one word says nothing, and
    /// the first of several says it: "die alte Burg", "der Tanzende Hirsch".
    fn is_proper(&self) -> bool {
        let begins_large = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
        match self.language.nouns_have_capitals {
            true => self.rest.split_once(' ').is_some_and(|(first, _)| begins_large(first)),
            false => self.rest.chars().any(char::is_uppercase),
        }
    }
}
