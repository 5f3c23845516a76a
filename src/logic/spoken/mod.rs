//! Dice and numbers as people say them: [`DiceRequest`] is what an utterance wants of dice, [`dice_in`] the
//! rolls in it; [`dice_to_words`] and [`number_words`] say one aloud.
//!
//! Hears English ("two d six plus three", "a d twenty with advantage", "four d six drop the
//! lowest") and, behind the German "w", German number words ("zwei w sechs plus drei").
//! **Never** takes ordinary talk for a roll: a number needs its "d" or "sided die". A d20 that is not named needs
//! two of these three: a check or a word of rolling, advantage, a bonus (`implied.rs`). A bonus by itself changes
//! the last roll (`told.rs`). Right after a roll, requests need no word of dice (`unnamed.rs`).

mod dice_request;
mod german;
mod implied;
mod misheard;
mod numbers;
mod phrase;
mod tokens;
mod told;
mod unnamed;

#[cfg(test)]
mod tests;

use super::dice;

pub use dice_request::{AGAIN, APART, DiceRequest};
pub use numbers::{german_number_words, number_words};
pub use told::{TOLD, bonus_told, told};
pub use unnamed::after_roll;

/// An NPC's line when nobody pays for more of its words, in the language of this ISO 639-1 code, else in
/// English.
pub fn spending_stop(language: &str) -> &'static str {
    match language.split(['-', '_']).next() {
        Some("de") => "Verzeiht, für heute fehlen mir die Worte.",
        _ => "Forgive me, I have no more words for today.",
    }
}

/// An NPC's line about the music that plays, in the language of this ISO 639-1 code, else in English.
pub fn music_title(language: &str, titles: &str) -> String {
    match language.split(['-', '_']).next() {
        Some("de") => format!("Das ist {titles}."),
        _ => format!("That is {titles}."),
    }
}

/// An NPC's line about a title that no track has, in the language of this ISO 639-1 code, else in English.
pub fn music_unknown(language: &str) -> &'static str {
    match language.split(['-', '_']).next() {
        Some("de") => "Dieses Stück kenne ich nicht.",
        _ => "I do not know that tune.",
    }
}

/// An NPC's line when no service answers for it just now, in the language of this ISO 639-1 code, else in
/// English.
pub fn moment(language: &str) -> &'static str {
    match language.split(['-', '_']).next() {
        Some("de") => "Gebt mir einen Augenblick, Freund.",
        _ => "Give me a moment, friend.",
    }
}

/// The rolls that `utterance`, spoken or typed, wants made, in their canonical spelling, which
/// [`read_dice`] accepts.
pub fn dice_in(utterance: &str) -> Option<String> {
    DiceRequest::of(utterance).rolls()
}

/// The rolls in `text`, at least one: dice as they are written, with ";" between several, else those in its
/// words.
///
/// # Errors
/// The mistake in `text` as written dice, where its words name none that can be rolled.
pub fn read_dice(text: &str) -> Result<Vec<dice::Expression>, dice::DiceError> {
    let written = |text: &str| -> Result<Vec<_>, _> {
        let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        let rolls = parts.map(dice::parse).collect::<Result<Vec<_>, _>>()?;
        if rolls.is_empty() { dice::parse(text).map(|roll| vec![roll]) } else { Ok(rolls) }
    };
    written(text).or_else(|error| dice_in(text).map_or(Err(error), |it| written(&it)))
}

/// The changes with which `text` repeats the last roll, in dice syntax ("", "+2 adv"). `text` is as
/// [`DiceRequest::rolls`] writes it, or spoken. `None`: it repeats no roll.
pub fn repeated(text: &str) -> Option<String> {
    let written = text.trim().strip_prefix(AGAIN);
    let written = written.filter(|it| it.is_empty() || it.starts_with(['+', '-', ' ']));
    let is_change = |it: &&str| it.is_empty() || dice::parse(&format!("1d20{it}")).is_ok();
    match written.filter(is_change) {
        Some(changes) => Some(changes.to_owned()),
        None => match DiceRequest::of(text) {
            DiceRequest::Again(changes) => Some(changes),
            _ => None,
        },
    }
}

/// Dice that were typed but cannot be rolled ("5000d6"): passed on as they are, so that the roller
/// refuses them aloud instead of something else being rolled.
pub fn typed_dice(utterance: &str) -> Option<String> {
    let is_dice = |word: &&str| {
        let can_be_rolled = dice::parse(word).is_ok();
        !can_be_rolled
            && word.split_once(['d', 'D']).is_some_and(|(count, sides)| {
                let number =
                    |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
                number(count) && sides.bytes().next().is_some_and(|b| b.is_ascii_digit())
            })
    };
    let words = utterance.split(|c: char| c.is_whitespace() || matches!(c, ',' | '?' | '!'));
    words.map(|word| word.trim_end_matches('.')).find(is_dice).map(str::to_owned)
}

/// Puts a roll into words: "two d six plus three". `None` for what is no roll, or too long to
/// follow by ear (brackets, labels, rerolls, comparisons, decimals).
pub fn dice_to_words(expression: &str) -> Option<String> {
    let expression = dice::parse(expression).ok().filter(dice::Expression::has_dice)?.to_string();
    let (repeats, roll) = match expression.split_once('#') {
        Some((repeats, roll)) => (Some(repeats.parse().ok()?), roll),
        None => (None, expression.as_str()),
    };
    let mut words = Vec::new();
    let mut rest = roll;
    loop {
        rest = say_term(rest, &mut words)?;
        let Some(operator) = rest.chars().next() else { break };
        words.push(
            match operator {
                '+' => "plus",
                '-' => "minus",
                '*' => "times",
                _ => return None,
            }
            .to_owned(),
        );
        rest = rest.get(1..)?;
        // "times" in front of dice would be heard as a number of rolls.
        let digits = rest.chars().take_while(char::is_ascii_digit).count();
        if operator == '*' && rest.get(digits..)?.starts_with('d') {
            return None;
        }
    }
    if let Some(repeats) = repeats {
        words.push(format!("{} times", number_words(repeats)));
    }
    Some(words.join(" "))
}

/// Says the number or dice at the start; gives what is behind.
fn say_term<'a>(text: &'a str, words: &mut Vec<String>) -> Option<&'a str> {
    let (count, text) = number(text)?;
    let Some(text) = text.strip_prefix('d') else {
        words.push(number_words(count));
        return Some(text);
    };
    if let Some(text) = text.strip_prefix('F') {
        let dice = if count == 1 { "die" } else { "dice" };
        words.push(format!("{} fate {dice}", number_words(count)));
        return Some(text);
    }
    let (sides, mut text) = number(text)?;
    let rolls = [("kh1", "advantage"), ("kl1", "disadvantage")];
    for (operator, word) in rolls.iter().filter(|_| (count, sides) == (2, 20)) {
        if let Some(text) = text.strip_prefix(operator)
            && !text.starts_with(|c: char| c.is_ascii_digit())
        {
            words.push(format!("a d twenty with {word}"));
            return Some(text);
        }
    }
    let count = if count == 1 { "a".to_owned() } else { number_words(count) };
    words.push(format!("{count} d {}", number_words(sides)));
    for (operator, phrase) in [
        ("kh", "keep the highest"),
        ("kl", "keep the lowest"),
        ("ph", "drop the highest"),
        ("pl", "drop the lowest"),
    ] {
        if let Some(behind) = text.strip_prefix(operator) {
            let (n, behind) = number(behind)?;
            words.push(phrase.to_owned());
            if n != 1 {
                words.push(number_words(n));
            }
            text = behind;
        }
    }
    Some(text)
}

/// The whole number at the start, and what is behind it.
fn number(text: &str) -> Option<(i64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, behind) = text.split_at(end);
    if behind.starts_with('.') { None } else { Some((digits.parse().ok()?, behind)) }
}
