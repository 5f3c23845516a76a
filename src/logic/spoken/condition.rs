//! Conditions between two requested rolls: "a d20, and if I hit a d8".
//!
//! Entry function: [`as_sequence`]. Other conditions are talk: "if I roll a one, do I die?"

use super::{misheard, phrase, tokens};
use crate::logic::language::leading_phrase;

/// `utterance` with "then" for a condition of hitting between dice; else unchanged.
pub(super) fn as_sequence(utterance: &str) -> String {
    let words: Vec<&str> = utterance.split_whitespace().collect();
    let spoken: Vec<String> = words.iter().map(|word| plain(word)).collect();
    for at in 1..words.len() {
        let rest = spoken.get(at..).unwrap_or_default();
        let length = leading_phrase(|it| it.dice.if_it_hits, rest);
        if length == 0 {
            continue;
        }
        let before = words.get(..at).unwrap_or_default().join(" ");
        let behind = words.get(at + length..).unwrap_or_default().join(" ");
        if names_dice(&before) && begins_with_dice(&behind) {
            return format!("{before} then {behind}");
        }
    }
    utterance.to_owned()
}

fn names_dice(text: &str) -> bool {
    let mut tokens = tokens::tokens(text);
    misheard::put_right(&mut tokens);
    phrase::find(&tokens, 0).is_some()
}

/// Dice among the first words: "roll a d8", "dann noch eins w acht".
fn begins_with_dice(text: &str) -> bool {
    let mut tokens = tokens::tokens(text);
    misheard::put_right(&mut tokens);
    phrase::find(&tokens, 0).is_some_and(|it| it.range.start <= 2)
}

fn plain(word: &str) -> String {
    let letters = word.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
