//! Dice phrases of German only: "zwei zwölfseitige Würfel", "vier w sechs und den niedrigsten
//! weglassen".

use super::numbers::{self, Tongue};
use super::tokens::Token;
use crate::logic::language::{DiceTalk, List};

/// Endings of words for many-sided dice: "sechsseitigen", "Sechsseiter".
const SIDED: [&str; 7] =
    ["seitig", "seitige", "seitigen", "seitiger", "seitiges", "seiter", "seitern"];
const DICE: [&str; 2] = ["würfel", "würfeln"];

/// Dice given by their sides, in dice syntax, and the index after them.
pub(super) fn sided(tokens: &[Token], start: usize) -> Option<(String, usize)> {
    let with_count = number(tokens, start)
        .and_then(|(count, at)| sides(tokens, at).map(|(sides, next)| (count, sides, next)));
    let (count, sides, next) =
        with_count.or_else(|| sides(tokens, start).map(|(sides, next)| (1, sides, next)))?;
    let is_noun = word(tokens, next - 1).is_some_and(|it| it.contains("seiter"));
    let named = word(tokens, next).is_some_and(|it| DICE.contains(&it));
    ((named || is_noun) && sides > 1)
        .then(|| (format!("{count}d{sides}"), next + usize::from(named)))
}

/// "sechsseitigen", or "20-seitigen", which is two tokens.
fn sides(tokens: &[Token], at: usize) -> Option<(i64, usize)> {
    if let Some(Token::Number(sides)) = tokens.get(at) {
        return SIDED.contains(&word(tokens, at + 1)?).then_some((*sides, at + 2));
    }
    let said = word(tokens, at)?;
    let stem = SIDED.iter().find_map(|ending| said.strip_suffix(ending))?;
    let (sides, _) = numbers::read(&[Token::Word(stem.to_owned())], Tongue::German)?;
    Some((sides, at + 1))
}

/// "und den niedrigsten weglassen", "behalte die drei höchsten": the dice kept of those before.
pub(super) fn kept(tokens: &[Token], start: usize) -> Option<(String, usize)> {
    let mut at = start;
    while at < start + 3 && is(tokens, at, |it| it.before_keeping) {
        at += 1;
    }
    // "lass die niedrigste weg"
    let is_parted = matches!(word(tokens, at), Some("lass" | "lasse" | "lassen"));
    let early = verb(tokens, at);
    at += usize::from(is_parted || early.is_some());
    let is_beside =
        |it: &str| matches!(it, "ich" | "den" | "die" | "das" | "davon" | "nur" | "aber");
    while word(tokens, at).is_some_and(is_beside) {
        at += 1;
    }
    let before = number(tokens, at);
    at = before.map_or(at, |(_, next)| next);
    let height = match word(tokens, at)? {
        "höchsten" | "höchste" | "besten" | "beste" | "größten" | "größte" => 'h',
        "niedrigsten" | "niedrigste" | "schlechtesten" | "schlechteste" | "kleinsten"
        | "kleinste" | "tiefsten" | "tiefste" => 'l',
        _ => return None,
    };
    at += 1;
    let behind = number(tokens, at).filter(|_| before.is_none());
    at = behind.map_or(at, |(_, next)| next);
    at += usize::from(word(tokens, at).is_some_and(|it| DICE.contains(&it)));
    let (verb, at) = match early {
        Some(verb) => (verb, at),
        None => (self::verb(tokens, at)?, at + 1),
    };
    let number = before.or(behind).map_or(1, |(number, _)| number);
    Some((format!("{verb}{height}{number}"), at))
}

/// "dreimal".
pub(super) fn times(word: &str) -> Option<i64> {
    let number = Token::Word(word.strip_suffix("mal")?.to_owned());
    numbers::read(&[number], Tongue::German).map(|(number, _)| number).filter(|it| *it > 1)
}

/// Keep or drop, in dice syntax.
fn verb(tokens: &[Token], at: usize) -> Option<char> {
    match word(tokens, at)? {
        "behalte" | "behalt" | "behalten" | "nimm" | "nehme" | "nehmen" | "zählen" | "zählt"
        | "zähl" | "zähle" => Some('k'),
        "weglassen" | "weg" | "raus" | "streichen" | "streiche" | "streich" | "abziehen" => {
            Some('p')
        }
        _ => None,
    }
}

fn number(tokens: &[Token], at: usize) -> Option<(i64, usize)> {
    let (number, used) = numbers::read(tokens.get(at..)?, Tongue::German)?;
    Some((number, at + used))
}

fn is(tokens: &[Token], at: usize, list: impl Fn(&'static DiceTalk) -> List) -> bool {
    tokens.get(at).is_some_and(|it| it.is(list))
}

fn word(tokens: &[Token], at: usize) -> Option<&str> {
    tokens.get(at)?.word()
}
