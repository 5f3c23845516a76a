//! Recognises stage directions in brackets or asterisks.

use crate::logic::language::is_any;

/// True if `text` begins like an action: "sighs", "leaning in", "softly", "He shrugs".
pub fn is_action(text: &str) -> bool {
    let mut words = text.split_whitespace().map(bare);
    let Some(first) = words.next().filter(|word| !word.is_empty()) else { return false };
    let count = text.split_whitespace().count();
    if is_any(|it| it.actors, &first) {
        return words.next().is_some_and(|verb| acts(&verb, 2));
    }
    acts(&first, count)
}

/// True if `word`, in lower case, begins an action of `count` words.
fn acts(word: &str, count: usize) -> bool {
    if is_any(|it| it.no_actions, word) || word.chars().count() < 3 {
        return false;
    }
    is_any(|it| it.actions, word)
        || (count <= 2 && is_any(|it| it.short_actions, word))
        || (word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("'s"))
        || (word.ends_with("ing") && word.len() > 5)
        || (word.ends_with("ly") && word.len() > 4 && count <= 2)
}

fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}
