//! Words as the index knows them: folded, without the words every question holds, stemmed.

use bm25::Tokenizer;
use rust_stemmers::{Algorithm, Stemmer};

use crate::logic::words::Words;

/// Words that say nothing about what is asked for, folded.
const SAID_ANYWAY: &[&str] = &[
    // English
    "a",
    "about",
    "actually",
    "again",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "but",
    "by",
    "can",
    "cant",
    "could",
    "did",
    "do",
    "does",
    "doesnt",
    "dont",
    "for",
    "from",
    "get",
    "give",
    "go",
    "got",
    "happen",
    "happens",
    "has",
    "have",
    "he",
    "her",
    "him",
    "his",
    "how",
    "i",
    "if",
    "im",
    "in",
    "into",
    "is",
    "it",
    "its",
    "just",
    "know",
    "let",
    "like",
    "make",
    "many",
    "may",
    "me",
    "mean",
    "means",
    "much",
    "must",
    "my",
    "need",
    "needs",
    "of",
    "on",
    "or",
    "our",
    "please",
    "remind",
    "rule",
    "rules",
    "say",
    "shall",
    "she",
    "should",
    "so",
    "some",
    "somebody",
    "someone",
    "something",
    "still",
    "tell",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "they",
    "thing",
    "this",
    "to",
    "us",
    "use",
    "using",
    "want",
    "was",
    "we",
    "were",
    "what",
    "whats",
    "when",
    "where",
    "which",
    "while",
    "who",
    "will",
    "with",
    "work",
    "works",
    "would",
    "you",
    "your",
    // German, folded
    "aber",
    "als",
    "am",
    "an",
    "auch",
    "auf",
    "aus",
    "bei",
    "bin",
    "bist",
    "brauche",
    "braucht",
    "das",
    "dass",
    "dem",
    "den",
    "denn",
    "der",
    "des",
    "die",
    "doch",
    "du",
    "ein",
    "eine",
    "einem",
    "einen",
    "einer",
    "er",
    "es",
    "fur",
    "funktioniert",
    "hat",
    "habe",
    "haben",
    "ich",
    "ihm",
    "ihn",
    "ihr",
    "im",
    "in",
    "ist",
    "jemand",
    "jemanden",
    "kann",
    "kannst",
    "konnen",
    "machen",
    "macht",
    "man",
    "mein",
    "meine",
    "meinen",
    "mich",
    "mir",
    "mit",
    "muss",
    "noch",
    "oder",
    "passiert",
    "regel",
    "regeln",
    "sein",
    "sich",
    "sie",
    "sind",
    "so",
    "tun",
    "um",
    "und",
    "uns",
    "von",
    "vor",
    "was",
    "welche",
    "wenn",
    "werde",
    "werden",
    "wer",
    "wie",
    "wir",
    "wird",
    "wurde",
    "zu",
    "zum",
    "zur",
];

/// Splits texts and questions alike.
pub struct Terms {
    stemmer: Stemmer,
}

impl Terms {
    /// English stems; what is German keeps its endings, which [`super::index`] forgives.
    pub fn new() -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English) }
    }

    /// The terms of `text` in order.
    pub fn of(&self, text: &str) -> Vec<String> {
        let words = Words::of(text);
        let kept = words.iter().filter(|word| !SAID_ANYWAY.contains(word));
        kept.map(|word| self.stemmer.stem(word).into_owned()).collect()
    }
}

impl Tokenizer for Terms {
    fn tokenize(&self, text: &str) -> Vec<String> {
        self.of(text)
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
        assert_eq!(
            terms.of("Kann ich angreifen, wenn ich verängstigt bin"),
            ["angreifen", "verangstigt"]
        );
    }
}
