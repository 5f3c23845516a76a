//! Names that require a lookup.
//!
//! Entry types: [`Names`], [`RuleName`]. **Never**: takes an ordinary word for a name.

use crate::logic::{
    spoken_names::{bare, spoken_as},
    words::{Phrases, fold},
};

/// Prepared once per scene.
#[derive(Clone, Debug, Default)]
pub struct Names {
    pub(super) phrases: Phrases<Phrase>,
}

#[derive(Clone, Debug)]
pub(super) struct Phrase {
    pub kind: Named,
    pub written: String,
    /// The entity's name, folded; empty for rules.
    pub entity: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Rule,
    Absent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleName {
    /// A phrase that names a rule or asks for one.
    Rule(String),
    /// A place described by the rules, treated like any other outside the scene.
    Place { place: String, name: String },
}

/// A name of a known entity outside the scene.
#[derive(Clone, Copy, Debug)]
pub struct AbsentName<'n> {
    /// The entity's main name.
    pub entity: &'n str,
    /// That name or an alias.
    pub name: &'n str,
}

impl Names {
    /// `names`: of rules, spells, conditions, and entities outside the scene, with aliases.
    pub fn new<'n>(
        rules: impl IntoIterator<Item = &'n str>,
        absent: impl IntoIterator<Item = AbsentName<'n>>,
    ) -> Self {
        let mut phrases = Phrases::default();
        for name in rules {
            let phrase =
                Phrase { kind: Named::Rule, written: name.to_owned(), entity: String::new() };
            phrases.insert(bare(name), phrase);
        }
        for AbsentName { entity, name } in absent {
            let phrase =
                Phrase { kind: Named::Absent, written: name.to_owned(), entity: fold(entity) };
            for said in spoken_as(name) {
                phrases.insert(&said, phrase.clone());
            }
        }
        Self { phrases }
    }
}
