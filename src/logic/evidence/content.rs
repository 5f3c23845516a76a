//! Content words of a sentence, and whether two of them are the same.
//!
//! Entry functions: [`is_content`], [`is_same`], [`number`].

use crate::logic::{
    language::{Language, List, is_any},
    trigrams::is_alike,
    words::fold,
};

pub fn is_content(word: &str) -> bool {
    let lists: [fn(&'static Language) -> List; 9] = [
        |it| it.plain,
        |it| it.wording.reporting,
        |it| it.wording.negations,
        |it| it.wording.lacking,
        |it| it.wording.me,
        |it| it.wording.you,
        |it| it.wording.others,
        |it| it.wording.being,
        |it| it.wording.clauses,
    ];
    let is_coming = is_any(|it| it.wording.coming, word) && !is_any(|it| it.wording.promises, word);
    let is_long = word.chars().count() >= 3 || number(word).is_some();
    is_long && !is_coming && !lists.into_iter().any(|list| is_any(list, word))
}

/// True if two words are the same number, or no numbers and forms of one word.
pub fn is_same(one: &str, other: &str) -> bool {
    match (number(one), number(other)) {
        (None, None) => {
            is_alike(one, other) || is_form(one, other) || is_irregular_form(one, other)
        }
        (one, other) => one == other,
    }
}

/// True if two words differ only in an ending ("pay", "pays"; "kill", "killed").
fn is_form(one: &str, other: &str) -> bool {
    let shared = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let is_ended = |word: &str| {
        let ending: String = word.chars().skip(shared).collect();
        ending.is_empty() || is_any(|it| it.wording.endings, &ending)
    };
    shared >= 3 && is_ended(one) && is_ended(other)
}

/// True if two words are listed as forms of one: "give", "gave".
fn is_irregular_form(one: &str, other: &str) -> bool {
    let mut lists = [Language::english(), Language::german()]
        .into_iter()
        .flat_map(|language| language.wording.forms);
    lists.any(|forms| forms.contains(&one) && forms.contains(&other))
}

pub fn number(word: &str) -> Option<u64> {
    if let Ok(number) = word.parse() {
        return Some(number);
    }
    [Language::english(), Language::german()].into_iter().find_map(|language| {
        let small = language.small_numbers.iter().position(|it| fold(it) == word);
        let tens =
            language.tens.iter().position(|it| fold(it) == word).map(|place| 10 * (place + 2));
        small.or(tens).and_then(|number| u64::try_from(number).ok())
    })
}
