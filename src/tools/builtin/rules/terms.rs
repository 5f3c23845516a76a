//! Words as the index knows them: folded, stemmed, without stop words.

use std::collections::HashSet;

use rust_stemmers::{Algorithm, Stemmer};

use crate::logic::{language, words::Words};

pub struct Terms {
    stemmer: Stemmer,
    said_anyway: HashSet<&'static str>,
}

impl Terms {
    /// English stems; German endings stay, which [`super::index`] tolerates.
    pub fn new() -> Self {
        let said_anyway = language::all(|it| it.in_every_rule_question).collect();
        Self { stemmer: Stemmer::create(Algorithm::English), said_anyway }
    }

    pub fn of(&self, text: &str) -> Vec<String> {
        let words = Words::of(text);
        let kept = words.iter().filter(|word| !self.said_anyway.contains(word));
        // The rules use American spelling.
        kept.map(|word| self.stemmer.stem(&word.replace("armour", "armor")).into_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_keep_what_they_ask_for() {
        let terms = Terms::new();
        assert_eq!(terms.of("Can I attack while frightened?"), ["attack", "frighten"]);
        assert_eq!(terms.of("What happens when I'm falling?"), ["fall"]);
        assert_eq!(terms.of("Plate armour AC"), terms.of("plate armor ac"));
        assert_eq!(
            terms.of("Kann ich angreifen, wenn ich verängstigt bin"),
            ["angreifen", "verangstigt"]
        );
    }
}
