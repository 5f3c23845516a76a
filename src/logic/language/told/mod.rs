//! Detects the language of an utterance: [`Language::spoken_in`].
//!
//! Names, numbers and words of several languages do not count. **Never**: guesses.

use std::{collections::HashSet, sync::LazyLock};

use super::{ALL, Language};
use crate::logic::words::{Words, fold};

/// Shortest word whose ending counts.
const LONG: usize = 6;

struct Wordlist {
    language: &'static Language,
    words: HashSet<String>,
}

/// All languages, in the order of [`ALL`].
static KNOWN: LazyLock<Vec<Wordlist>> =
    LazyLock::new(|| ALL.into_iter().map(Wordlist::new).collect());

impl Wordlist {
    fn new(language: &'static Language) -> Self {
        let lists = [
            language.little,
            language.plain,
            language.in_every_request,
            language.in_every_rule_question,
            language.small_numbers,
            language.tens,
        ];
        let words = lists.into_iter().flatten().map(|word| fold(word));
        let short_forms = language.short_forms.iter().map(|(short, _)| *short);
        let short_forms = short_forms.filter(|it| it.len() > 3).map(str::to_owned);
        let words = words.chain(language.ordinary.iter().cloned()).chain(short_forms);
        Self { language, words: words.chain(language.telling.iter().cloned()).collect() }
    }

    /// True if an unknown `word` looks like this language: by its dice or ending.
    fn sounds_like(&self, word: &str) -> bool {
        let ends = |ending: &&str| word.len() >= LONG && word.ends_with(*ending);
        is_dice(word, self.language.die) || self.language.word_endings.iter().any(ends)
    }
}

impl Language {
    pub fn spoken_in(text: &str) -> Option<&'static Self> {
        let mut told: Vec<usize> = vec![0; KNOWN.len()];
        for word in Words::of(text).iter() {
            let has: Vec<bool> = KNOWN.iter().map(|it| it.words.contains(word)).collect();
            let is_known = has.contains(&true);
            // A word of all languages does not count.
            if has.iter().all(|it| *it) {
                continue;
            }
            for ((told, has), known) in told.iter_mut().zip(has).zip(KNOWN.iter()) {
                *told += usize::from(has || !is_known && known.sounds_like(word));
            }
        }
        for (told, known) in told.iter_mut().zip(KNOWN.iter()) {
            let own = |c: char| known.language.letters.contains(c);
            *told += text.chars().flat_map(char::to_lowercase).filter(|c| own(*c)).count();
        }
        let most = told.iter().copied().max().filter(|most| *most > 0)?;
        let mut first = told.iter().zip(KNOWN.iter()).filter(|(told, _)| **told == most);
        let (_, known) = first.next()?;
        first.next().is_none().then_some(known.language)
    }
}

/// "w", "w6" or "2w6", where `die` is "w".
fn is_dice(word: &str, die: &str) -> bool {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = word.split_once(die).filter(|_| !die.is_empty());
    parts.is_some_and(|(count, sides)| number(count) && number(sides))
}

#[cfg(test)]
mod tests;
