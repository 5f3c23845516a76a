//! Text behind the dice: advantage for the whole roll, a comment, or a mistake.
//!
//! Avrae takes anything unreadable for a comment (`4d6dl1` rolls four dice). Here a comment begins
//! with `#`, or follows a blank and contains nothing that looks like part of the roll.

use super::cursor::{Fault, Parsed, Parser};
use super::operators::{
    BEHIND_DIE, advantage, advantage_at, is_near_advantage, operator_word, take_advantage,
};
use super::tree::{Dice, Kind, Node, Op, Sides};

pub(super) const MARK: &str = "put # before a comment";

/// Reads to the end and returns the comment, blanks collapsed.
pub(super) fn trailing(parser: &mut Parser<'_>, root: &mut Node) -> Parsed<Option<String>> {
    parser.blanks();
    if let Some((pick, word)) = advantage_at(parser, parser.at) {
        parser.at = word;
        let Some(dice) = advantage_dice(root) else {
            let len = parser.word_at(word).chars().count();
            let message = "it is not clear which die has advantage";
            return Err(parser.fault(len, message, Some(BEHIND_DIE)));
        };
        take_advantage(parser, dice, pick)?;
        parser.blanks();
    }
    let Some(first) = parser.peek() else { return Ok(None) };
    let start = if first == '#' {
        parser.at + 1
    } else {
        check(parser, root)?;
        parser.at
    };
    let rest: String = parser.chars.iter().skip(start).collect();
    let comment = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Some(comment).filter(|comment| !comment.is_empty()))
}

/// The die that trailing advantage applies to: the d20 at the far left, or the only dice.
fn advantage_dice(root: &mut Node) -> Option<&mut Dice> {
    let only = matches!(root.kind, Kind::Dice(_));
    root.leftmost_dice().filter(|dice| only || dice.sides == Sides::Faces(20))
}

pub(super) fn unexpected(parser: &Parser<'_>) -> Fault {
    let word = parser.word_at(parser.at);
    let len = word.chars().count().max(1);
    let behind: String = parser
        .chars
        .iter()
        .skip(parser.at + len)
        .take_while(|c| c.is_alphanumeric() || "<>=%".contains(**c))
        .take(12)
        .collect();
    let found: String = parser.chars.iter().skip(parser.at).take(len).collect();
    let before = parser.chars.iter().take(parser.at).rfind(|c| !c.is_whitespace());
    let behind_label = before == Some(&']') && operator_word(&word).is_some();
    let hint = match (found.as_str(), word.as_str()) {
        _ if behind_label => Some("a label stands behind the operators, as in 4d6kh3[fire]"),
        ("+" | "-" | "/", _) => Some(BEHIND_DIE),
        (",", _) => Some("roll one thing at a time, or put + between"),
        ("(", _) | (_, "x") => Some("write * to multiply"),
        ("^" | "*", _) => Some("there are no powers; write the product out"),
        ("=", _) => Some("to compare write ==, to comment #"),
        ("!", _) => Some("! explodes, but only right behind dice, as in 3d6!"),
        ("\u{2014}", _) => Some("for minus write -, for a comment #"),
        (")", _) => Some("there is no \"(\" for it"),
        (_, "r") => Some("rr<3 rerolls until none is below 3, ro<3 once"),
        (_, "xo" | "ie") => Some("e6 explodes each 6, ra6 only the first"),
        (_, "t" | "f" | "s" | "cs" | "cf") => {
            Some("successes are not counted; >= compares the sum")
        }
        (_, "ea") => Some("three dice, the highest kept: 3d20kh1"),
        (_, "plus") => Some("write +"),
        (_, "minus") => Some("write -"),
        (_, "times" | "twice" | "thrice") => Some("write * to multiply, 3#d20 to roll three times"),
        _ => None,
    };
    parser.fault(len, format!("cannot read \"{found}{behind}\""), hint)
}

/// Fails if the text looks like part of the roll rather than a comment.
fn check(parser: &mut Parser<'_>, root: &Node) -> Parsed<()> {
    let spaced = parser.at.checked_sub(1).and_then(|at| parser.chars.get(at));
    if !spaced.is_some_and(|c| c.is_whitespace()) {
        return Err(unexpected(parser));
    }
    // A comment may be quoted or bracketed: (stealth), "to hit", *ouch*.
    let first = parser.after_blanks(parser.at);
    let open = parser.chars.iter().skip(first).take_while(|c| "(\"'“„*_~".contains(**c)).count();
    let start = first + open;
    let Some(&letter) = parser.chars.get(start) else { return Err(unexpected(parser)) };
    let is_symbol = !letter.is_ascii() && !letter.is_numeric() && !"−–—‐×÷≥≤≠".contains(letter);
    if letter.is_alphabetic() {
        let place = std::mem::replace(&mut parser.at, start);
        if is_operator_like(parser, start) {
            return Err(unexpected(parser));
        }
        parser.at = place;
    } else if !is_symbol {
        return Err(unexpected(parser));
    }
    // "keep the dragon" is a comment, "keep the highest 3" is not.
    let has_advantage = root.any_op(&Op::is_by_height);
    for at in start..parser.chars.len() {
        if let Some((message, hint)) = misplaced(parser, at, has_advantage) {
            parser.at = at;
            let len = parser.word_at(at).chars().count().max(1);
            let hint = format!("{hint}, or {MARK}");
            return Err(parser.fault(len, message, Some(&hint)));
        }
    }
    Ok(())
}

/// True if the first word of a comment is more likely an operator.
fn is_operator_like(parser: &Parser<'_>, at: usize) -> bool {
    let word = parser.word_at(at);
    let len = word.chars().count();
    let next = parser.peek_at(at + len);
    let number_behind = next.is_some_and(|c| c.is_ascii_digit())
        || (len < 3 && matches!(next, Some('<' | '>' | '=')));
    let is_verb = operator_word(&word).is_some() && word != "max" && word != "min";
    let is_named = matches!(
        word.as_str(),
        "plus" | "minus" | "times" | "twice" | "thrice" | "x" | "r" | "xo" | "ea" | "d" | "repeat"
    );
    (len <= 4 && number_behind) || is_verb || is_named || is_near_advantage(&word)
}

/// Message and hint for text at `at` that looks like a misplaced part of the roll.
fn misplaced(
    parser: &Parser<'_>,
    at: usize,
    has_advantage: bool,
) -> Option<(String, &'static str)> {
    let before = at.checked_sub(1).and_then(|at| parser.chars.get(at));
    if before.is_some_and(|c| c.is_alphanumeric()) {
        return None;
    }
    let word = parser.word_at(at);
    let next = parser.after_blanks(at + word.chars().count().max(1));
    let number_next = parser.peek_at(next).is_some_and(|c| c.is_ascii_digit());
    let next_word = parser.word_at(next);
    let is = |list: &[&str]| list.contains(&word.as_str());
    let idle = |hint| Some((format!("\"{word}\" in a comment does nothing"), hint));
    if advantage(&word).is_some() && !has_advantage {
        return idle(BEHIND_DIE);
    }
    if is(&["highest", "lowest"])
        || (is(&["keep", "keeping", "drop", "dropping", "best", "worst"])
            && (number_next || ["highest", "lowest", "best", "worst"].contains(&&*next_word)))
    {
        return idle("to keep the highest 3 write kh3, to drop the lowest one dl1");
    }
    if is(&["exploding", "rerolling"]) || (is(&["reroll", "explode"]) && number_next) {
        return idle("to explode write e6 or !, to reroll rr1 or ro1");
    }
    let label = "write a label in brackets, as in 2d6[fire]+3";
    if is(&["plus", "minus", "times", "add"]) && number_next {
        return idle(label);
    }
    let digits = parser.chars.iter().skip(at).take_while(|c| c.is_ascii_digit()).count();
    let sides = parser.peek_at(at + digits + 1);
    if parser.peek_at(at + digits) == Some('d')
        && (sides == Some('%') || sides.is_some_and(|c| c.is_ascii_digit()))
    {
        return Some(("dice in a comment are not rolled".to_owned(), "roll one thing at a time"));
    }
    let is_sign = matches!(parser.peek_at(at), Some('+' | '-' | '*' | '/'));
    let after_blank = before.is_none_or(|c| c.is_whitespace());
    (is_sign && after_blank && number_next)
        .then(|| ("a number in a comment is not counted".to_owned(), label))
}
