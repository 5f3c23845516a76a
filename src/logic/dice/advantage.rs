//! Advantage and disadvantage: their words, and the two dice they make of one.

use super::cursor::{Parsed, Parser};
use super::tree::{Dice, Op, Pick, Verb};

pub(super) const BEHIND_DIE: &str = "put adv right behind its die, as in d20adv+1d4";

pub(super) fn advantage(word: &str) -> Option<Pick> {
    match word {
        "adv" | "advantage" => Some(Pick::Highest),
        "dis" | "disadv" | "disadvantage" => Some(Pick::Lowest),
        _ => None,
    }
}

/// Advantage at `at`, perhaps behind "with": what it keeps, and the position of its word.
pub(super) fn advantage_at(parser: &Parser<'_>, at: usize) -> Option<(Pick, usize)> {
    let word = parser.word_at(at);
    if let Some(pick) = advantage(&word) {
        return Some((pick, at));
    }
    let next = parser.after_blanks(at + word.chars().count());
    let is_link = matches!(word.as_str(), "with" | "at" | "has");
    advantage(&parser.word_at(next)).filter(|_| is_link).map(|pick| (pick, next))
}

/// Doubles a single die and keeps one of the two, before any other operation (as Avrae). Moves the
/// parser past the advantage word.
pub(super) fn take_advantage(parser: &mut Parser<'_>, dice: &mut Dice, pick: Pick) -> Parsed<()> {
    let word = parser.word_at(parser.at);
    let len = word.chars().count();
    if parser.peek_at(parser.at + len).is_some_and(|c| c.is_ascii_digit()) {
        let hint = format!("to add to the roll write {word}+");
        let message = format!("\"{word}\" takes no number");
        return Err(parser.fault(len, message, Some(&hint)));
    }
    if dice.count != 1 || dice.ops.iter().any(|op| op.verb == Verb::Keep) {
        let letter = if pick == Pick::Highest { 'h' } else { 'l' };
        let hint = format!("1d20 {word}, or keep one of several: 2d20k{letter}1");
        let message = format!("\"{word}\" needs a single die");
        return Err(parser.fault(len, message, Some(&hint)));
    }
    dice.count = 2;
    dice.ops.insert(0, Op::new(Verb::Keep, pick, 1));
    parser.at += len;
    Ok(())
}

/// True if `word` is an advantage word with a letter doubled or two swapped.
pub(super) fn is_near_advantage(word: &str) -> bool {
    let slips =
        ["addv", "aadv", "avd", "advn", "advt", "dsi", "ids", "diss", "ddis", "diis", "disa"];
    let starts = word.starts_with("advv") || word.starts_with("advan") || word.starts_with("disad");
    starts && !word.starts_with("advanc")
        || slips.contains(&word)
        || word.starts_with("advent") && word.ends_with("age")
}
