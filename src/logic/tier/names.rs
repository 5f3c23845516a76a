//! Names whose mention asks for a look-up.
//!
//! Entry type: [`Names`]. **Never**: takes an ordinary word for a name.

use crate::logic::{
    language::Language,
    words::{Phrases, fold},
};

/// Names whose mention asks for a look-up, prepared once per scene.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Folded phrases and what they name.
    pub(super) phrases: Phrases<Phrase>,
}

/// A name as it is looked for.
#[derive(Clone, Debug)]
pub(super) struct Phrase {
    pub kind: Named,
    /// As it is written.
    pub written: String,
    /// The entity it is a name of, folded; empty for rules.
    pub entity: String,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// A rule, spell or condition.
    Rule,
    /// A known entity that is not in the scene.
    Absent,
}

/// A name of a known entity that is not in the scene.
#[derive(Clone, Copy, Debug)]
pub struct AbsentName<'n> {
    /// What the entity is called.
    pub entity: &'n str,
    /// That name, or an alias.
    pub name: &'n str,
}

impl Names {
    /// Prepares names of rules, spells and conditions, and names (aliases too) of known entities
    /// that are not in the scene. The speaker may leave out the article of a proper name ("The Rusty
    /// Tankard"), not that of an ordinary word ("the keep"), which is inflected where the language does
    /// that ("die Burg", "zur Burg").
    pub fn new<'n>(
        rules: impl IntoIterator<Item = &'n str>,
        absent: impl IntoIterator<Item = AbsentName<'n>>,
    ) -> Self {
        let mut phrases = Phrases::default();
        for name in rules {
            let phrase =
                Phrase { kind: Named::Rule, written: name.to_owned(), entity: String::new() };
            let bare = Articled::of(name).map(|it| it.rest);
            phrases.insert(bare.unwrap_or(name), phrase);
        }
        for AbsentName { entity, name } in absent {
            let phrase =
                Phrase { kind: Named::Absent, written: name.to_owned(), entity: fold(entity) };
            for said in said(name) {
                phrases.insert(&said, phrase.clone());
            }
        }
        Self { phrases }
    }
}

/// What speakers say for `name`.
fn said(name: &str) -> Vec<String> {
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

    /// Whether it is more than ordinary words. Where all nouns have capitals, one word says nothing, and
    /// the first of several says it: "die alte Burg", "der Tanzende Hirsch".
    fn is_proper(&self) -> bool {
        let begins_large = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
        match self.language.nouns_have_capitals {
            true => self.rest.split_once(' ').is_some_and(|(first, _)| begins_large(first)),
            false => self.rest.chars().any(char::is_uppercase),
        }
    }
}
