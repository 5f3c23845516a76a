//! Words as every store compares them.
//!
//! Entry functions: [`fold`], [`words`].

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Most words of a query.
pub const WORDS_MAX: usize = 32;

/// `text` without case and accents, for comparing names.
pub fn fold(text: &str) -> String {
    text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect()
}

/// The distinct folded words of `text`, in order, at most [`WORDS_MAX`].
pub fn words(text: &str) -> Vec<String> {
    let folded = fold(text);
    let mut words: Vec<String> = Vec::new();
    for word in folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if words.len() == WORDS_MAX {
            break;
        }
        if !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lose_case_accents_marks_and_repetition() {
        assert_eq!(
            words("Éowyn's \"éowyn\" NEAR(größe, 3) OR *"),
            ["eowyn", "s", "near", "große", "3", "or"]
        );
        assert_eq!(words(&"a b ".repeat(50)).len(), 2);
        assert!(words("  ?! ").is_empty());
        assert_eq!(fold("ŌKAMI"), "okami");
    }

    #[test]
    fn long_question_is_cut() {
        let long: String = (0..100).map(|n| format!("word{n} ")).collect();
        assert_eq!(words(&long).len(), WORDS_MAX);
    }
}
