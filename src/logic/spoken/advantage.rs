//! Advantage of a roll: its words, and its notation.
//!
//! Entry functions: [`advantage_of`], [`is_advantage`], [`with_advantage`].

use super::super::dice;

/// Advantage or disadvantage, as [`dice::parse()`] reads it.
pub(super) type Advantage = &'static str;

pub(super) fn advantage_of(word: &str) -> Option<Advantage> {
    match word {
        "advantage" | "vorteil" | "adv" => Some("adv"),
        "disadvantage" | "nachteil" | "dis" => Some("dis"),
        _ => None,
    }
}

pub(super) fn is_advantage(word: &str) -> bool {
    advantage_of(word).is_some()
}

/// The roll with advantage on its die; "two d twenty with advantage" is one such die.
pub(super) fn with_advantage(text: &str, advantage: Advantage) -> Option<String> {
    let single = match text.strip_prefix("2d20") {
        Some(rest) if !rest.starts_with(|c: char| c.is_alphanumeric()) => format!("1d20{rest}"),
        _ => text.to_owned(),
    };
    Some(dice::parse(&format!("{single} {advantage}")).ok()?.to_string())
}
