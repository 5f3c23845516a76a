//! Comments beside a request's dice: "two d six please" has one, "2d6++*" does not.
//!
//! Entry function: [`is_comment_around`].

use super::{advantage, implied, misheard, phrase, tokens::Token};
use crate::logic::dice;

/// True if everything in `text` behind its dice and its bonuses could be the comment of a written roll.
pub(super) fn is_comment_around(text: &str) -> bool {
    let tokens = misheard::corrected(text);
    let starts = phrase::find_all(&tokens).skip(1).map(|it| it.range.start);
    let ends = phrase::find_all(&tokens).map(|it| it.range.end);
    ends.zip(starts.chain([tokens.len()]))
        .all(|(end, next)| is_comment(tokens.get(end..next).unwrap_or_default()))
}

fn is_comment(tokens: &[Token]) -> bool {
    let bonuses = implied::places(&implied::addends(tokens));
    let rest: Vec<String> = tokens
        .iter()
        .enumerate()
        .filter(|(at, token)| !bonuses.contains(at) && !is_advantage(token))
        .map(|(_, token)| written(token))
        .collect();
    let is_sign = |it: &String| matches!(it.as_str(), "+" | "-");
    !rest.iter().any(is_sign) && dice::parse(&format!("1d20 {}", rest.join(" "))).is_ok()
}

fn is_advantage(token: &Token) -> bool {
    token.word().is_some_and(advantage::is_advantage)
}

fn written(token: &Token) -> String {
    match token {
        Token::Number(number) => number.to_string(),
        Token::Die { .. } => "d".to_owned(),
        Token::Plus => "+".to_owned(),
        Token::Minus => "-".to_owned(),
        Token::Typed(text) | Token::Word(text) => text.clone(),
    }
}
