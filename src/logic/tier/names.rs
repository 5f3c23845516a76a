//! Names whose mention asks for a look-up.
//!
//! Entry types: [`Names`], [`RuleName`]. **Never**: takes an ordinary word for a name.

use crate::logic::{
    spoken_names::{bare, spoken_as},
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
    /// The name as it is written.
    pub written: String,
    /// The entity it is a name of, folded; empty for rules.
    pub entity: String,
}

/// Kind of thing that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// A rule, spell or condition.
    Rule,
    /// A known entity that is not in the scene.
    Absent,
}

/// A name in the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleName {
    /// A phrase that names a rule, or asks for one.
    Rule(String),
    /// A place that the rules describe: as distant as any other that is not in the scene.
    Place {
        /// Its main name.
        place: String,
        /// That name, or an alias.
        name: String,
    },
}

/// A name of a known entity that is not in the scene.
#[derive(Clone, Copy, Debug)]
pub struct AbsentName<'n> {
    /// The entity's main name.
    pub entity: &'n str,
    /// That name, or an alias.
    pub name: &'n str,
}

impl Names {
    /// Prepares names of rules, spells and conditions, and names (aliases too) of known entities
    /// that are not in the scene.
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
