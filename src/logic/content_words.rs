//! Content words: words of an utterance that name its subject.
//!
//! Entry points: [`ContentWords`], [`asks_for_last_session`].

use super::{
    language::{all, is_any},
    trigrams::is_alike,
    words::{Phrases, Words},
};

pub struct ContentWords(Vec<String>);

impl ContentWords {
    pub fn of(utterance: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        for word in Words::of(utterance).iter() {
            let tells = word.chars().count() >= 3 && !is_any(|it| it.plain, word);
            if tells && !words.iter().any(|known| known == word) {
                words.push(word.to_owned());
            }
        }
        Self(words)
    }

    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// True if `text` contains one of the words, in any form.
    pub fn are_in(&self, text: &str) -> bool {
        Self::of(text).words().any(|word| self.has(word))
    }

    /// The content words of `question` as text; the whole question if it has none.
    pub fn sought(question: &str) -> String {
        let content = Self::of(question);
        if content.is_empty() { question.to_owned() } else { content.text() }
    }

    /// True if `text` contains every word, in any form; false without content words.
    pub fn are_all_in(&self, text: &str) -> bool {
        let there = Self::of(text);
        !self.is_empty() && self.words().all(|word| there.has(word))
    }

    pub fn text(&self) -> String {
        self.0.join(" ")
    }

    /// True if `line` shares two words, or the only one, and has another.
    pub fn fit(&self, line: &str) -> bool {
        let told = Self::of(line);
        let shared = self.0.iter().filter(|word| told.has(word)).count();
        shared >= self.0.len().min(2) && self.lack(line)
    }

    /// True if `line` has another content word; a repetition of the question has none.
    pub fn lack(&self, line: &str) -> bool {
        Self::of(line).0.iter().any(|word| !self.has(word))
    }

    fn has(&self, word: &str) -> bool {
        self.0.iter().any(|own| is_alike(own, word))
    }
}

/// True if `utterance` asks about the previous session.
pub fn asks_for_last_session(utterance: &str) -> bool {
    let mut phrases = Phrases::default();
    all(|it| it.last_session).for_each(|phrase| phrases.insert(phrase, ()));
    phrases.all(&Words::of(utterance)).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_fits_what_is_about_the_same() {
        let asked = ContentWords::of("Bartok, what did I promise your father?");
        assert_eq!(asked.text(), "bartok promise father");
        let fits = [
            ("I promised your father to bring the hammer back", true),
            ("My father is a sailor", false),
            ("what did I promise your father, Bartok", false),
            ("The stew is doubtful", false),
        ];
        for (line, fit) in fits {
            assert_eq!(asked.fit(line), fit, "{line}");
        }
        assert!(ContentWords::of("what about the quarry?").fit("the quarry is empty"));
        assert!(ContentWords::of("and what did you say then?").is_empty());
    }

    #[test]
    fn topic_is_named_in_other_forms_too() {
        let topic = ContentWords::of("burning of houses");
        assert!(topic.are_all_in("A house burns; the burning roof falls"));
        assert!(!topic.are_all_in("Houses stand by the well"));
        assert!(!ContentWords::of("the").are_all_in("the well"));
    }

    #[test]
    fn last_session_questions_match_in_two_languages() {
        for asked in ["What happened last time?", "Was war gestern?", "weißt du noch, letztes Mal"]
        {
            assert!(asks_for_last_session(asked), "{asked}");
        }
        assert!(!asks_for_last_session("At last, a session of dice"));
    }
}
