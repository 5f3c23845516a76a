//! Suggests the nearest spelling that parses. Every suggestion is parsed before it is offered.

use super::comment;
use super::cursor::Fault;
use super::operators::{is_near_advantage, operator_word};
use super::outcome::DiceError;
use super::parse::expression;

/// Longest correction quoted in full, in characters.
const MAX_QUOTED: usize = 60;
/// Operators offered for a misspelt one, likeliest first.
const OPERATORS: [&str; 15] =
    ["kh", "kl", "dl", "dh", "ph", "pl", "rr", "ro", "ra", "mi", "ma", "e", "k", "p", "adv"];
/// Operators of other programs and their spelling here.
const FOREIGN: [(&str, &str); 15] = [
    ("h", "kh"),
    ("l", "kl"),
    ("b", "kh"),
    ("w", "kl"),
    ("d", "dl"),
    ("keep", "kh"),
    ("drop", "dl"),
    ("ir", "rr"),
    ("reroll", "rr"),
    ("ie", "e"),
    ("minimum", "mi"),
    ("maximum", "ma"),
    ("plus", "+"),
    ("minus", "-"),
    ("times", "*"),
];

/// Converts a fault to an error, with the nearest spelling if one is found.
pub(super) fn explain(chars: &[char], fault: Fault) -> DiceError {
    let hint = match (nearest(chars, &fault), fault.hint) {
        (Some(text), None) => Some(format!("did you mean \"{text}\"?")),
        (Some(text), Some(hint)) => Some(format!("{hint}; did you mean \"{text}\"?")),
        (None, Some(hint)) => Some(hint),
        (None, None) => {
            let before = fault.at.checked_sub(1).and_then(|at| chars.get(at));
            before.filter(|c| c.is_whitespace()).map(|_| comment::MARK.to_owned())
        }
    };
    DiceError { column: fault.at + 1, message: fault.message, hint }
}

fn nearest(chars: &[char], fault: &Fault) -> Option<String> {
    if chars.len() > MAX_QUOTED {
        return None;
    }
    let end = (fault.at + fault.len).min(chars.len());
    let head: String = chars.iter().take(fault.at).collect();
    let bad: String = chars.iter().take(end).skip(fault.at).collect::<String>().to_lowercase();
    let tail: String = chars.iter().skip(end).collect();
    let mut texts: Vec<String> =
        corrections(&head, &bad, &tail).iter().map(|good| format!("{head}{good}{tail}")).collect();
    let whole: String = chars.iter().collect();
    let commands = ["/roll ", "!roll ", "roll ", "/r ", "!r ", "r "];
    texts.extend(commands.iter().filter_map(|c| Some(whole.trim().strip_prefix(c)?.to_owned())));
    texts.into_iter().find_map(|text| {
        let text = text.trim().to_owned();
        let chars: Vec<char> = text.chars().collect();
        expression(&chars).is_ok().then_some(text)
    })
}

/// Likely corrections of `bad`, between `head` and `tail`.
fn corrections(head: &str, bad: &str, tail: &str) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    if operator_word(bad).is_some() {
        list.push(format!("{bad}1"));
    }
    if is_near_advantage(bad) {
        list.push(if bad.starts_with('a') { "adv" } else { "dis" }.to_owned());
    }
    if bad == "d" && !head.ends_with(|c: char| c.is_ascii_digit()) {
        // More dice behind a blank; a bracket cannot count dice.
        return if head.ends_with(')') { list } else { vec!["+ d".to_owned()] };
    }
    let foreign = FOREIGN.iter().filter(|(theirs, _)| *theirs == bad);
    list.extend(foreign.map(|(_, ours)| (*ours).to_owned()));
    match bad {
        "" if tail.is_empty() => list.push(")".to_owned()),
        "=" if tail.starts_with('>') || tail.starts_with('<') => {}
        "=" => list.push("==".to_owned()),
        "x" | "(" => list.push(format!("*{}", bad.trim_start_matches('x'))),
        "\u{2014}" => list.push("-".to_owned()),
        "d" => list.push("dl1".to_owned()),
        // German dice: 1w20.
        "w" => list.insert(0, "d".to_owned()),
        ")" => list.push(String::new()),
        _ => {}
    }
    if bad.chars().count() > 1 && bad.chars().all(char::is_alphabetic) {
        let near = OPERATORS.iter().filter(|operator| is_near(bad, operator));
        list.extend(near.map(|operator| (*operator).to_owned()));
        // A comment that lacks only its blank.
        list.push(format!(" {bad}"));
    }
    list
}

/// True if `b` is `a` with one letter added, removed, replaced or swapped with its neighbour.
fn is_near(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let same_start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (a, b) = (a.get(same_start..).unwrap_or(&[]), b.get(same_start..).unwrap_or(&[]));
    let behind = |list: &[char], n: usize| list.get(n..).map(<[char]>::to_vec);
    behind(a, 1).is_some_and(|a| a == b)
        || behind(b, 1).is_some_and(|b| a == b)
        || (!a.is_empty() && behind(a, 1) == behind(b, 1))
        || (a.len() > 1 && a.get(..2).map(|p| vec![p[1], p[0]]) == b.get(..2).map(<[char]>::to_vec))
            && behind(a, 2) == behind(b, 2)
}
