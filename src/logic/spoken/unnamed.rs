//! Requests about the last roll without a word of dice: "one more of those", "what did I just get
//! there?".
//!
//! Entry function: [`after_roll`]. Each word of such an utterance repeats, asks, refers back, or is
//! a filler, so "another ale" is not one. Call it only directly after a roll: after an order of ale,
//! the same words mean another ale.

use super::{
    advantage::is_advantage,
    dice_request::DiceRequest,
    implied, misheard, more_dice, phrase,
    tokens::{self, Token},
    utterance::Spoken,
};
use crate::logic::{
    language::{self, DiceTalk, List, is_any, is_dice_talk, is_turning},
    words::fold,
};

/// Most words before the question word: "okay Bartok, tell me".
const LEAD: usize = 4;

/// Meaning of `utterance` directly after the speaker's roll, where [`DiceRequest::of`] finds no dice.
/// `is_name` knows the folded words of the listener's names.
pub fn after_roll(utterance: &str, is_name: impl Fn(&str) -> bool) -> DiceRequest {
    let plain = utterance.replace(['\'', '\u{2019}'], "");
    let words = Spoken::of(&plain.to_lowercase().replace("did i have", "did i get"));
    let is_call = |word: &str| is_name(&fold(word)) || is_any(|it| it.roles, &fold(word));
    if asks_what_it_was(&words, is_call) {
        let is_before = words.has(|it| it.before) || ends_before(&words);
        return match words.words().any(|word| word == "before") && !is_before {
            true => DiceRequest::Nothing,
            false => DiceRequest::Last(u8::from(is_before)),
        };
    }
    match repeats(&plain, &words, is_call) {
        Some(_) if more_dice::changes_the_number(&tokens::tokens(&plain)) => DiceRequest::Talk,
        Some(changes) => DiceRequest::Again(changes),
        None => DiceRequest::Nothing,
    }
}

/// The changes with which `plain` repeats the roll, in dice syntax; `None`: no repetition.
fn repeats(plain: &str, words: &Spoken, is_call: impl Fn(&str) -> bool) -> Option<String> {
    let tokens = misheard::corrected(plain);
    if !words.has(|it| it.again) && !words.has(|it| it.another)
        || phrase::find(&tokens, 0).is_some()
    {
        return None;
    }
    let added = implied::places(&implied::addends(&tokens));
    let may_stand = |word: &str| {
        is_call(word)
            || is_advantage(word)
            || is_dice_talk(|it| it.beside_repeating, word)
            || is_of_a_phrase(|it| it.again, word)
            || is_of_a_phrase(|it| it.another, word)
    };
    let fits =
        |(at, token): (usize, &Token)| added.contains(&at) || token.word().is_some_and(may_stand);
    let is_whole = tokens.iter().enumerate().all(fits);
    is_whole.then(|| implied::changes(&tokens))
}

/// "what was that again", "und was kam da raus", "tell me the total".
fn asks_what_it_was(said: &Spoken, is_call: impl Fn(&str) -> bool) -> bool {
    let words: Vec<&str> = said.words().collect();
    let is_asking = |word: &str| is_dice_talk(|it| it.asking_shown, word);
    let is_shown = |word: &str| is_dice_talk(|it| it.shown, word);
    let is_telling = |word: &str| is_dice_talk(|it| it.telling_again, word);
    let may_stand = |word: &&str| {
        is_call(word)
            || is_asking(word)
            || is_shown(word)
            || is_telling(word)
            || is_dice_talk(|it| it.beside_shown, word)
    };
    if !words.iter().all(may_stand) {
        return false;
    }
    let has = |is: &dyn Fn(&str) -> bool| words.iter().position(|word| is(word));
    let is_lead = |word: &&str| {
        is_call(word)
            || is_telling(word)
            || is_any(|it| it.openers, &fold(word))
            || is_any(|it| it.fillers, &fold(word))
    };
    let asks = has(&is_asking).is_some_and(|at| {
        at <= LEAD
            && words.iter().take(at).all(is_lead)
            && words.iter().skip(at + 1).any(|word| is_shown(word))
            && !words.iter().skip(at + 1).any(|word| is_turning(|it| it.listeners, word))
    });
    let is_told_again = said.has(|it| it.again) || has(&is_shown).is_some();
    asks || has(&is_telling).is_some() && is_told_again
}

/// "what did i get before"
fn ends_before(said: &Spoken) -> bool {
    said.words().last() == Some("before")
}

fn is_of_a_phrase(list: impl Fn(&'static DiceTalk) -> List, word: &str) -> bool {
    language::all(|it| list(it.dice)).any(|phrase| phrase.split(' ').any(|it| it == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(said: &str) -> DiceRequest {
        assert_eq!(DiceRequest::of(said), DiceRequest::Nothing, "{said}");
        after_roll(said, |word| word == "bartok")
    }

    #[test]
    fn repeats_without_a_word_of_dice_are_heard() {
        for (said, changes) in [
            ("again, Bartok", ""),
            ("And the same once more, please.", ""),
            ("give me another of those", ""),
            ("okay Bartok one more like that", ""),
            ("could you do it one more time", ""),
            ("let's try that again, barkeep", ""),
            ("the same again but with advantage", " adv"),
            ("another one of these with plus two", "+2"),
            ("Mach das bitte noch mal", ""),
            ("noch so einen, Wirt", ""),
            ("Bartok das Gleiche nochmal", ""),
            ("kannst du das noch einmal machen", ""),
            ("und jetzt dasselbe mit Nachteil", " dis"),
            ("gib mir noch einen davon", ""),
            ("bitte nochmal genauso plus drei", "+3"),
        ] {
            assert_eq!(heard(said), DiceRequest::Again(changes.to_owned()), "{said}");
        }
    }

    #[test]
    fn questions_about_what_was_shown_are_heard() {
        for said in [
            "what did I get?",
            "so what was it again",
            "Bartok, how much was that",
            "sorry, which number did I get just now",
            "What's my total?",
            "tell me again what it was",
            "say that again please",
            "was war das eben?",
            "Und was kam da raus",
            "wie viel hatte ich noch mal",
            "Bartok, was hatte ich denn?",
            "sag mir das bitte nochmal",
            "welche Zahl war es denn",
            "was ist es geworden",
        ] {
            assert_eq!(heard(said), DiceRequest::Last(0), "{said}");
        }
    }

    #[test]
    fn questions_about_the_roll_before_are_heard() {
        for said in [
            "And what did I have before that?",
            "what was it before that",
            "and what did I get before?",
            "Und was hatte ich davor?",
            "was kam davor raus",
        ] {
            assert_eq!(heard(said), DiceRequest::Last(1), "{said}");
        }
    }

    #[test]
    fn other_talk_wants_nothing_of_the_last_roll() {
        for said in [
            "",
            "Bartok",
            "another ale please",
            "one more round for everyone",
            "the same for my horse",
            "not again",
            "What did I say?",
            "What is that?",
            "what did you get",
            "how much is that",
            "what did I have to pay",
            "what can I have",
            "what do I have before me",
            "what was here before the war",
            "was steht davor",
            "was war vor dem Krieg",
            "that was it",
            "you did it again",
            "noch ein Bier",
            "noch eine Runde bitte",
            "bitte nicht noch mal",
            "Was ist das?",
            "was hast du gesagt",
            "wie viel kostet das",
            "Das war gut",
        ] {
            assert_eq!(heard(said), DiceRequest::Nothing, "{said}");
        }
    }
}
