//! A bonus without a roll: "my bonus is plus seven".
//!
//! Entry function: [`bonus_told`]. Such an utterance is a signed number, fillers, and perhaps the
//! purpose or source of the bonus. It changes the speaker's last roll, which the caller knows.

use super::{
    implied, misheard, phrase,
    tokens::{self, Token},
    utterance::without_calls,
};
use crate::logic::{
    language::{DiceTalk, List, is_any, is_negation, is_ordinary},
    words::{Words, fold},
};

/// Prefix of a bonus added to the last roll: "told+7".
pub const TOLD: &str = "told";
/// Most words of a call before the first or after the last comma: "my friend".
const CALL: usize = 2;
/// Most words about the source after a bonus: "from my cloak of protection".
const SOURCE: usize = 6;

/// The bonus that the whole of `utterance` states, in dice syntax ("+7"); `None` if it says
/// anything else, names dice, denies, or asks.
pub fn bonus_told(utterance: &str) -> Option<String> {
    if utterance.trim_end().ends_with('?') || denies(utterance) || asks(utterance) {
        return None;
    }
    let plain = utterance.replace(['\'', '\u{2019}'], "");
    let tokens = misheard::corrected(without_calls(&plain, is_call));
    let addends = implied::addends(&tokens);
    let last = addends.last()?;
    if phrase::find(&tokens, 0).is_some() {
        return None;
    }
    let behind = tokens.get(last.range.end..)?.iter().position(|it| it.is(|list| list.sources));
    let end = behind.map_or(tokens.len(), |at| last.range.end + at);
    if tokens.len() - end > SOURCE || tells_of_a_check(&tokens) {
        return None;
    }
    let added = implied::places(&addends);
    let fits = |at: usize| tokens.get(at).is_some_and(|it| may_stand(it, at == 0));
    (0..end)
        .all(|at| added.contains(&at) || fits(at))
        .then(|| addends.into_iter().map(|it| it.text).collect())
}

pub fn told(text: &str) -> Option<&str> {
    let bonus = text.trim().strip_prefix(TOLD)?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    let numbers = bonus.strip_prefix(['+', '-'])?;
    numbers.split(['+', '-']).all(is_number).then_some(bonus)
}

/// True if a word is allowed beside a bonus; the first may be a name.
fn may_stand(token: &Token, is_first: bool) -> bool {
    let lists: [fn(&'static DiceTalk) -> List; 7] = [
        |it| it.beside_told,
        |it| it.sources,
        |it| it.beside_bonus,
        |it| it.bonuses,
        |it| it.penalties,
        |it| it.checks,
        |it| it.attacks,
    ];
    let is_of_dice = token.is(|it| it.rolling) || token.is(|it| it.throws);
    let is_name = |word: &str| is_first && !is_of_dice && !is_ordinary(&fold(word));
    lists.into_iter().any(|list| token.is(list)) || token.word().is_some_and(is_name)
}

/// True for a check without "my", which is a roll of its own: "stealth plus seven".
fn tells_of_a_check(tokens: &[Token]) -> bool {
    implied::names_a_check(tokens) && !tokens.iter().any(|it| it.is(|list| list.own))
}

fn denies(utterance: &str) -> bool {
    Words::of(utterance).iter().any(is_negation)
}

/// True if `utterance` begins as a question rather than a request: "habe ich plus sieben".
fn asks(utterance: &str) -> bool {
    let words = Words::of(utterance);
    let Some(first) = words.get(0) else { return false };
    let is_verb = is_any(|it| it.endings.verbs, first) && !is_any(|it| it.dice.requests, first);
    let has_subject = words.get(1).is_some_and(|it| is_any(|it| it.endings.subjects, it));
    is_any(|it| it.endings.asking, first)
        || has_subject && (is_verb || matches!(first, "hab" | "habe"))
}

/// "my friend", not "plus four".
fn is_call(part: &str) -> bool {
    implied::addends(&tokens::tokens(part)).is_empty() && Words::of(part).len() <= CALL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bonus_told_by_itself_is_found() {
        for (said, bonus) in [
            ("my bonus is plus seven", "+7"),
            ("My bonus is +7.", "+7"),
            ("plus four", "+4"),
            ("+4", "+4"),
            ("oh and I have plus three", "+3"),
            ("I've got a plus two from bless", "+2"),
            ("Bartok my modifier is minus one", "-1"),
            ("Plus five, Bartok.", "+5"),
            ("barkeep, that's plus five please", "+5"),
            ("add three to my roll", "+3"),
            ("could you add five", "+5"),
            ("with a bonus of six", "+6"),
            ("plus seven and minus two", "+7-2"),
            ("my perception is plus four", "+4"),
            ("ich habe plus sieben", "+7"),
            ("Ich hab noch plus zwei wegen Segen", "+2"),
            ("Mein Bonus ist plus vier.", "+4"),
            ("mein Bonus auf Heimlichkeit ist plus vier", "+4"),
            ("mit plus fünf bitte", "+5"),
            ("dazu kommen noch plus drei", "+3"),
            ("Bartok, minus zwei", "-2"),
            ("mein Modifikator ist minus eins", "-1"),
            ("Da kommen noch 4 drauf, hab ich vergessen", "+4"),
            ("da kommt noch vier drauf", "+4"),
            ("ach, rechne noch zwei obendrauf", "+2"),
            ("and I forgot to add 4", "+4"),
            ("there's another four on top", "+4"),
            ("that's 4 on top of that", "+4"),
        ] {
            assert_eq!(bonus_told(said).as_deref(), Some(bonus), "{said}");
        }
    }

    #[test]
    fn other_talk_tells_no_bonus() {
        for said in [
            "",
            "seven",
            "I have seven gold",
            "I have plus one longsword",
            "we are five plus two friends",
            "two plus two is four",
            "I don't have plus seven",
            "ich habe keinen Bonus von sieben",
            "do I have plus seven",
            "habe ich plus sieben",
            "is it plus seven?",
            "stealth plus seven",
            "plus 1d4",
            "roll with plus seven",
            "a d20 plus seven",
            "zwei Bier plus drei Eintopf",
            "she has plus seven",
            "what is my bonus",
            "da kommen noch vier Orks drauf",
            "da kommen noch vier",
            "da kommen keine 4 drauf",
            "kommen da noch 4 drauf?",
            "da stehen noch vier drauf",
            "vier drauf los",
            "there's four on top of the tower",
            "there are four on top",
        ] {
            assert_eq!(bonus_told(said), None, "{said}");
        }
    }

    #[test]
    fn told_bonus_is_read_as_it_is_written() {
        assert_eq!(told("told+7-2"), Some("+7-2"));
        for text in ["told", "told+", "told7", "told+x", "again+7", "told+1d4"] {
            assert_eq!(told(text), None, "{text}");
        }
    }
}
