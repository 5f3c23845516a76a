//! Conditions between two requested rolls: "a d20, and if I hit a d8".
//!
//! Entry function: [`as_sequence`]. Other conditions are talk: "if I roll a one, do I die?"

use super::{misheard, phrase};
use crate::logic::language::leading_phrase;

/// Most tokens between the condition and its dice: "roll a d8", "dann noch eins w acht".
const LEAD: usize = 2;
/// Most conditions tried: each reads the whole utterance.
const MOST: usize = 4;

/// `utterance` with "then" for a condition of hitting between dice; else unchanged.
pub(super) fn as_sequence(utterance: &str) -> String {
    let words: Vec<&str> = utterance.split_whitespace().collect();
    let spoken: Vec<String> = words.iter().map(|word| plain(word)).collect();
    let conditions = (1..words.len()).filter_map(|at| {
        let length = leading_phrase(|it| it.dice.if_it_hits, spoken.get(at..)?);
        (length > 0).then_some((at, length))
    });
    for (at, length) in conditions.take(MOST) {
        let before = words.get(..at).unwrap_or_default().join(" ");
        let behind = words.get(at + length..).unwrap_or_default().join(" ");
        let begins_with_dice = first_dice(&behind).is_some_and(|at| at <= LEAD);
        if first_dice(&before).is_some() && begins_with_dice {
            return format!("{before} then {behind}");
        }
    }
    utterance.to_owned()
}

/// Number of tokens before the first dice in `text`.
fn first_dice(text: &str) -> Option<usize> {
    phrase::find(&misheard::corrected(text), 0).map(|it| it.range.start)
}

fn plain(word: &str) -> String {
    let letters = word.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}
