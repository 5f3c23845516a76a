//! Joins one model's opening sentence and another's answer.
//!
//! Entry types: [`Splicer`] takes the second model's sentences in order; [`closed`], [`numbers`]
//! and [`is_small_talk`] judge openers and utterances. Words are compared folded. Drops the
//! answer's repetition of the opener (the longest match), greetings, and a repeated question;
//! refuses an answer that takes the opener back.
//! **Never**: drops a sentence after the first new one, unless it repeats the opener.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::{
    language::{all, is_any, opening_phrase},
    spoken::{german_number_words, number_words},
    words::{Words, capitalised, fold},
};

/// Fewest words of the opener dropped within a sentence that continues without a pause.
const WHOLE_OPENER: usize = 3;
/// Words that make a phrase of taking back certain; a shorter one may be "Forget that place."
const SURELY_BACK: usize = 3;
/// Most words of a greeting before its first pause.
const LONGEST_GREETING: usize = 6;
const LARGEST: i64 = 999;

static IN_WORDS: LazyLock<HashMap<String, i64>> = LazyLock::new(|| {
    let words = |number: i64| [Some(number_words(number)), german_number_words(number)];
    let named = |number| words(number).into_iter().flatten().map(move |it| (fold(&it), number));
    (0..=LARGEST).flat_map(named).collect()
});

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    Joined,
    Refused,
}

/// Joins an answer to a spoken opener.
#[derive(Clone, Debug)]
pub struct Splicer {
    opener: String,
    words: Words,
    is_ended: bool,
    asked: HashSet<String>,
    speaker: Words,
    state: State,
}

impl Splicer {
    /// `opener` began the answer to `utterance` of `speaker`.
    pub fn new(opener: &str, utterance: &str, speaker: &str) -> Self {
        Self {
            opener: opener.to_owned(),
            words: Words::of(opener),
            is_ended: is_ended(opener),
            asked: Words::of(utterance).iter().map(str::to_owned).collect(),
            speaker: Words::of(speaker),
            state: State::Start,
        }
    }

    pub fn refuses(&self) -> bool {
        self.state == State::Refused
    }

    /// The spoken part of the next sentence, if any.
    pub fn next(&mut self, sentence: &str) -> Option<String> {
        match self.state {
            State::Refused => return None,
            State::Joined => {
                let words = Words::of(sentence);
                let is_opener = words.len() > 1 && words.iter().eq(self.words.iter());
                return (!is_opener).then(|| sentence.to_owned());
            }
            State::Start => {}
        }
        let (mut rest, mut is_whole) = (without_marks(sentence), true);
        loop {
            let text = Text::of(rest);
            if text.words.is_empty() {
                return None;
            }
            if text.takes_back() || self.contradicts(&text) {
                self.state = State::Refused;
                return None;
            }
            if self.asks_again(&text) {
                return None;
            }
            let dropped = self.greeting(&text).or_else(|| self.overlap(&text));
            let Some(dropped) = dropped else { break };
            (rest, is_whole) = (text.after(dropped), false);
        }
        self.state = State::Joined;
        Some(match (self.is_ended, is_whole) {
            (true, true) => sentence.to_owned(),
            (true, false) => capitalised(rest),
            (false, _) => rest.to_owned(),
        })
    }

    /// True if one says yes and the other no: "No," does, "No doubt" does not.
    fn contradicts(&self, text: &Text<'_>) -> bool {
        let opener = Text { text: &self.opener, words: self.words.clone() };
        let (before, at) = (opener.interjections(), text.interjections());
        let both_pause = opener.pauses_after(before + 1) && text.pauses_after(at + 1);
        let (Some(before), Some(after)) = (opener.words.get(before), text.words.get(at)) else {
            return false;
        };
        let yes = |word| is_any(|it| it.wording.yes, word);
        let no = |word| is_any(|it| it.opening.no, word);
        both_pause && (yes(before) && no(after) || no(before) && yes(after))
    }

    fn asks_again(&self, text: &Text<'_>) -> bool {
        let words: Vec<&str> = text.words.iter().collect();
        let words = words.get(text.interjections()..).unwrap_or_default();
        let (question, is_marked) = match without_asking_back(words) {
            Some(question) => (question, true),
            None if text.is_question() => (words, false),
            None => return false,
        };
        let is_plain = |word: &&&str| {
            word.chars().count() < 2
                || is_any(|it| it.in_every_request, word)
                || is_any(|it| it.opening.quantities, word)
        };
        let was_asked = |word: &&&str| self.asked.contains(**word);
        let telling = question.iter().filter(|word| !is_plain(word));
        let (count, known) = (telling.clone().count(), telling.filter(was_asked).count());
        match (count, is_marked) {
            (0, _) => question.len() > 1 && question.iter().all(|word| was_asked(&word)),
            (_, true) => known * 2 >= count,
            (_, false) => known * 3 >= count * 2,
        }
    }

    /// Number of words of its initial greeting, with the names.
    fn greeting(&self, text: &Text<'_>) -> Option<usize> {
        let words: Vec<&str> = text.words.iter().collect();
        let (begins, phrase) = (0..=text.interjections()).find_map(|at| {
            let length = opening_phrase(|it| it.greetings, words.get(at..)?);
            (length > 0).then_some((at, length))
        })?;
        let is_name = |word: &str| {
            is_any(|it| it.opening.beside, word) || self.speaker.iter().any(|name| name == word)
        };
        let behind = begins + phrase;
        let mut end = text.pause(behind)?;
        // Other sentences begin like a greeting: "Hail ruined it", "How are you going to pay?".
        let greets = words.get(behind).is_some_and(|it| is_name(it)) || text.is_capital(behind);
        if end - begins > LONGEST_GREETING || end > behind && !greets {
            return None;
        }
        while let Some(next) = text.pause(end + 1)
            && words.get(end..next).is_some_and(|called| called.iter().all(|it| is_name(it)))
        {
            end = next;
        }
        Some(end)
    }

    /// Number of words that repeat the opener, longest match first.
    fn overlap(&self, text: &Text<'_>) -> Option<usize> {
        let opener = Text { text: &self.opener, words: self.words.clone() };
        let (said, longest) = (self.words.len(), self.words.len().min(text.words.len()));
        (1..=longest).rev().find(|&count| {
            let pauses = text.pauses_after(count);
            let is_sentence = count == text.words.len();
            (0..=said - count).any(|at| {
                let is_same = (0..count).all(|nth| self.words.get(at + nth) == text.words.get(nth));
                let (begins, ends) = (at == 0, at + count == said);
                is_same
                    && !text.words.is_possessive(count - 1)
                    && (begins && ends && count >= WHOLE_OPENER
                        || is_sentence && (count > 1 || begins)
                        || ends && !self.is_ended
                        || begins && pauses && opener.pauses_after(at + count)
                        || ends && pauses && count > 1)
            })
        })
    }
}

struct Text<'t> {
    text: &'t str,
    words: Words,
}

impl<'t> Text<'t> {
    fn of(text: &'t str) -> Self {
        Self { text, words: Words::of(text) }
    }

    fn behind(&self, count: usize) -> &'t str {
        let end = count.checked_sub(1).map_or(0, |last| self.words.source(last).end);
        self.text.get(end..).unwrap_or_default()
    }

    fn after(&self, count: usize) -> &'t str {
        without_marks(self.behind(count))
    }

    /// True if a pause or an end follows the first `count` words.
    fn pauses_after(&self, count: usize) -> bool {
        let is_possessive = count.checked_sub(1).is_some_and(|last| self.words.is_possessive(last));
        let behind = self.behind(count).trim_start_matches(is_closing).trim_start();
        !is_possessive && behind.chars().next().is_none_or(is_pause)
    }

    /// The first number of words from `count` on that precedes a pause.
    fn pause(&self, count: usize) -> Option<usize> {
        (count..=self.words.len()).find(|&count| self.pauses_after(count))
    }

    fn is_capital(&self, index: usize) -> bool {
        let word = self.text.get(self.words.source(index)).unwrap_or_default();
        word.starts_with(char::is_uppercase)
    }

    /// Number of sounds before the first meaningful word.
    fn interjections(&self) -> usize {
        let is_sound = |word: &&str| is_any(|it| it.opening.interjections, word);
        self.words.iter().take_while(is_sound).count()
    }

    fn takes_back(&self) -> bool {
        let at = self.interjections();
        let words: Vec<&str> = self.words.iter().skip(at).collect();
        let length = opening_phrase(|it| it.starting_over, &words);
        length >= SURELY_BACK || length > 0 && self.pauses_after(at + length)
    }

    fn is_question(&self) -> bool {
        self.text.trim_end().trim_end_matches(is_closing).ends_with('?')
    }
}

/// The question in `words` that have a phrase such as "you ask" before or after it.
fn without_asking_back<'w>(words: &'w [&'w str]) -> Option<&'w [&'w str]> {
    let before = opening_phrase(|it| it.asking_back, words);
    if before > 0 {
        return words.get(before..);
    }
    let is_phrase = |at: &usize| {
        let rest = words.get(*at..).unwrap_or_default();
        opening_phrase(|it| it.asking_back, rest) == rest.len()
    };
    words.get(..(0..words.len()).find(is_phrase)?)
}

/// True if a mark sounds like a pause or an end.
const fn is_pause(c: char) -> bool {
    matches!(c, ',' | '.' | ';' | ':' | '!' | '?' | '…' | '—' | '–')
}

/// True if a mark only closes something and is silent.
const fn is_closing(c: char) -> bool {
    matches!(c, '"' | '\'' | '”' | '“' | '’' | '»' | '«' | '*' | ')')
}

/// `text` without the blanks and marks at its beginning, except opening quotes.
fn without_marks(text: &str) -> &str {
    let text = text.trim();
    text.trim_start_matches(|c: char| {
        c.is_whitespace()
            || is_pause(c)
            || c == '-'
            || matches!(c, '"' | '”' | '“' | '»' | '*' | ')')
    })
}

fn is_ended(text: &str) -> bool {
    text.trim_end().trim_end_matches(is_closing).ends_with(['.', '!', '?', '…'])
}

/// Ends an opener as a sentence if necessary, so that the voice falls.
pub fn closed(opener: &str) -> String {
    let opener = opener.trim();
    if is_ended(opener) {
        return opener.to_owned();
    }
    let words = opener.trim_end_matches(|c: char| is_pause(c) || c == '-' || c.is_whitespace());
    if words.is_empty() { String::new() } else { format!("{words}.") }
}

/// The numbers in `text`, in figures or English or German words. "One" counts only before a pause,
/// where it is no article.
pub fn numbers(text: &str) -> Vec<i64> {
    let text = Text::of(text);
    let mut numbers: Vec<i64> = Vec::new();
    let mut at = 0;
    while let Some(word) = text.words.get(at) {
        let pair = text.words.get(at + 1).and_then(|next| in_words(&format!("{word} {next}")));
        at += if pair.is_some() { 2 } else { 1 };
        let alone = in_words(word).filter(|number| *number != 1 || text.pauses_after(at));
        match pair.or(alone) {
            Some(number) => numbers.push(number),
            // Figures, also in dice: "2d6".
            None => {
                let figures = word.split(|c: char| !c.is_ascii_digit());
                numbers.extend(figures.filter_map(|it| it.parse::<i64>().ok()));
            }
        }
    }
    numbers
}

fn in_words(words: &str) -> Option<i64> {
    IN_WORDS.get(words).copied()
}

/// True if `utterance` only greets or takes leave; `names` are the words of the NPC's names.
pub fn is_small_talk(utterance: &str, names: &[&str]) -> bool {
    let spoken = Words::of(utterance);
    let words: Vec<&str> = spoken.iter().collect();
    let names: Vec<Words> = names.iter().map(|name| Words::of(name)).collect();
    let is_name = |word: &str| names.iter().any(|name| name.iter().any(|it| it == word));
    let (mut at, mut has_phrase) = (0, false);
    while let Some(rest) = words.get(at..).filter(|rest| !rest.is_empty()) {
        let greets = opening_phrase(|it| it.greetings, rest);
        let phrase = greets.max(opening_phrase(|it| it.farewells, rest));
        let first = rest.first().copied().unwrap_or_default();
        has_phrase |= phrase > 0;
        at += match phrase {
            0 if is_any(|it| it.opening.beside, first)
                || is_any(|it| it.opening.interjections, first)
                || is_name(first) =>
            {
                1
            }
            0 => return false,
            words => words,
        };
    }
    has_phrase
}

/// True if `utterance` has a verb of rolling: "roll for me", "würfel mal".
pub fn has_rolling(utterance: &str) -> bool {
    let verbs: Vec<String> = all(|it| it.dice.rolling).map(fold).collect();
    Words::of(utterance).iter().any(|word| verbs.iter().any(|verb| verb == word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logic::sentence::{SentenceOptions, SentenceSplitter};

    /// Utterance, opener, answer, and the result; `#` begins a comment.
    const PAIRS: &str = include_str!("../../tests/data/splices.txt");

    fn joined(utterance: &str, opener: &str, answer: &str) -> String {
        let mut splicer = Splicer::new(opener, utterance, "Thorin");
        let mut splitter = SentenceSplitter::new(&SentenceOptions::default());
        let mut sentences = splitter.push(answer);
        sentences.extend(splitter.finish());
        let said = sentences.iter().filter_map(|sentence| splicer.next(sentence));
        std::iter::once(opener.to_owned()).chain(said).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn scripted_pairs_are_joined_as_they_say() {
        let pairs: Vec<_> = PAIRS.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(pairs.len(), 200);
        let wrong: Vec<_> = pairs
            .iter()
            .filter_map(|pair| {
                let parts: Vec<_> = pair.split('|').map(str::trim).collect();
                let [utterance, opener, answer, expected] = parts[..] else {
                    return Some(pair.to_string());
                };
                let got = joined(utterance, opener, answer);
                (got != expected).then(|| format!("{pair}\n  got {got}"))
            })
            .collect();
        assert!(wrong.is_empty(), "{} pairs:\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn answers_that_resemble_repetition_stay_whole() {
        for (opener, answer) in [
            ("No doubt about it.", "Yes, he took the forest road."),
            ("Nicht viel, Freund.", "Ja, der Zoll ist gestiegen."),
            ("Right, let me think.", "No, nobody came by."),
            ("Let me think.", "Forget that place, it is cursed."),
            ("Let me think.", "Actually no one has seen him."),
            ("Careful.", "No wait at the gate today."),
            ("Mal sehen.", "Nein, warte hier."),
            ("Poor, this year.", "Hail ruined it. We lost half."),
            ("Red or blue?", "How are you going to pay?"),
            ("Let me think.", "\"Hush,\" she said. It lies north."),
        ] {
            assert_eq!(joined("is it so", opener, answer), format!("{opener} {answer}"));
        }
        for answer in ["Hello Mira! It lies north.", "How are you today? It lies north."] {
            assert_eq!(joined("is it so", "Let me think.", answer), "Let me think. It lies north.");
        }
    }

    #[test]
    fn no_joined_answer_says_a_sentence_twice() {
        for pair in PAIRS.lines().filter(|line| !line.starts_with('#')) {
            let expected = pair.rsplit('|').next().unwrap();
            let mut splitter = SentenceSplitter::new(&SentenceOptions::default());
            let mut sentences = splitter.push(expected);
            sentences.extend(splitter.finish());
            let folded: HashSet<_> = sentences.iter().map(|sentence| fold(sentence)).collect();
            assert_eq!(folded.len(), sentences.len(), "{pair}");
        }
    }

    #[test]
    fn opener_is_closed_as_a_sentence() {
        let closes = |opener: &str| closed(opener);
        assert_eq!(closes("Well, let me think"), "Well, let me think.");
        assert_eq!(closes("Ah, the mine,"), "Ah, the mine.");
        assert_eq!(closes(" Who knows? "), "Who knows?");
        assert_eq!(closes("\"Hush!\""), "\"Hush!\"");
        assert_eq!(closes(" … "), "…");
        assert_eq!(closes(" — "), "");
    }

    #[test]
    fn numbers_are_read_in_figures_and_words() {
        assert_eq!(numbers("You rolled a seventeen, plus 3."), [17, 3]);
        assert_eq!(numbers("Twenty three! Or twenty-one?"), [23, 21]);
        assert_eq!(numbers("Fünfundzwanzig, sagen die Knochen."), [25]);
        assert_eq!(numbers("One moment, my friend."), [0; 0]);
        assert_eq!(numbers("A one!"), [1]);
        assert_eq!(numbers("Ein Moment, eine Frage."), [0; 0]);
        assert_eq!(numbers("I throw 2d6 for you."), [2, 6]);
        assert_eq!(numbers(r#"{"total":11,"rolls":[5,6]}"#), [11, 5, 6]);
    }

    #[test]
    fn greetings_and_farewells_are_small_talk() {
        let is = |utterance: &str| is_small_talk(utterance, &["Bartok the Barkeep"]);
        for said in
            ["hello", "Hello there, Bartok!", "good evening my friend", "bye Bartok, take care"]
        {
            assert!(is(said), "{said}");
        }
        for said in ["guten Abend, Bartok", "tschüss, bis morgen", "gute Nacht"] {
            assert!(is(said), "{said}");
        }
        for said in
            ["hello, do you have a room", "Bartok", "my friend", "", "hello can you hear me"]
        {
            assert!(!is(said), "{said}");
        }
    }
}
