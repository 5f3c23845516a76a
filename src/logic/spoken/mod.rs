//! Dice and numbers in speech: [`DiceRequest`] is an utterance's request about dice, [`dice_in`] its
//! rolls; [`dice_to_words`] and [`number_words`] are for the voice.
//!
//! Understands English ("two d six plus three", "a d twenty with advantage", "four d six drop the
//! lowest") and, around the German "w", German number words ("zwei w sechs plus drei"). A d20 that
//! is not named takes two of these three: a check or a word of rolling, advantage, a bonus
//! (`implied.rs`). A bonus alone changes the last roll (`told.rs`). Directly after a roll, requests
//! need no word of dice (`unnamed.rs`).
//! **Never**: takes ordinary talk for a roll; a number needs its "d" or "sided die".

mod advantage;
mod condition;
mod death_save;
mod dice_request;
mod german;
mod implied;
mod misheard;
mod more_dice;
mod numbers;
mod on_top;
mod phrase;
mod tokens;
mod told;
mod unnamed;
mod utterance;
mod whole;
mod work;

#[cfg(test)]
mod tests;

use super::dice;

pub use dice_request::{AGAIN, APART, DiceRequest};
pub use numbers::{german_number_words, number_words};
pub use told::{TOLD, bonus_told, told};
pub use unnamed::after_roll;

/// An NPC's line when the budget is exhausted. For an ISO 639-1 code, else in English.
pub fn spending_stop(language: &str) -> &'static str {
    match language.split(['-', '_']).next() {
        Some("de") => "Verzeiht, für heute fehlen mir die Worte.",
        _ => "Forgive me, I have no more words for today.",
    }
}

/// An NPC's line about the playing music. For an ISO 639-1 code, else in English.
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

/// The rolls that `utterance`, spoken or typed, requests, in a spelling that [`read_dice`] accepts.
pub fn dice_in(utterance: &str) -> Option<String> {
    DiceRequest::of(utterance).rolls()
}

/// Parses one or more rolls: written dice, several separated by ";", or else spoken ones. Words behind
/// spoken dice are ignored only if they could be a comment.
///
/// # Errors
/// The error in written dice, if no roll is found in the words either, or not in all of them.
pub fn read_dice(text: &str) -> Result<Vec<dice::Expression>, dice::DiceError> {
    let written = |text: &str| -> Result<Vec<_>, _> {
        let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        let rolls = parts.map(dice::parse).collect::<Result<Vec<_>, _>>()?;
        if rolls.is_empty() { dice::parse(text).map(|roll| vec![roll]) } else { Ok(rolls) }
    };
    written(text).or_else(|error| match dice_in(text) {
        Some(rolls) if whole::is_comment_around(text) => written(&rolls),
        Some(_) => {
            let message = format!("cannot read \"{}\": {}", text.trim(), error.message);
            Err(dice::DiceError { message, ..error })
        }
        None => Err(error),
    })
}

/// The changes with which `text`, spoken or as [`DiceRequest::rolls`] writes it, repeats the last roll,
/// in dice syntax ("", "+2 adv"). `None`: no repetition.
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

/// Dice that cannot be rolled ("5000d6"), typed or spoken. Passed on, so that the roller refuses
/// them aloud.
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
    let typed = words.map(|word| word.trim_end_matches('.')).find(is_dice).map(str::to_owned);
    typed.or_else(|| DiceRequest::of(utterance).refused())
}

/// A roll in words: "two d six plus three". `None` for other text and rolls too complex to hear
/// (brackets, labels, rerolls, comparisons, decimals).
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
        // "times" before dice would sound like a number of rolls.
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

/// Reads the number or dice at the start into `words`; returns the rest.
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

fn number(text: &str) -> Option<(i64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, behind) = text.split_at(end);
    if behind.starts_with('.') { None } else { Some((digits.parse().ok()?, behind)) }
}
