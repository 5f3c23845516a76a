//! A model's text into text a voice can say.
//!
//! Entry type: [`SpeakableFilter`], for one reply's sentences in order. Markdown, emoji, links,
//! stage directions, tool mark-up, the NPC's own name label and invisible characters go; in English
//! numbers, dice and common units become words.
//! **Never**: adds a thought of its own; what is left may be empty.

mod action;
mod figures;
mod foreign;
mod markup;

use super::{language::Language, words::Words};
use markup::Stripper;

/// Longest name label, in bytes.
const LONGEST_LABEL: usize = 80;

/// Makes the sentences of one reply speakable; a stage direction, code block or tool call may
/// begin in one sentence and end in a later one.
#[derive(Clone, Debug)]
pub struct SpeakableFilter {
    /// True if numbers become English words.
    english: bool,
    /// True if the language of each sentence counts instead, as its words tell; a sentence that tells none
    /// has that of the one before.
    by_sentence: bool,
    /// True if it is English now.
    now_english: bool,
    /// The speaker's names, as words; a label made of one's words is dropped.
    labels: Vec<Words>,
    /// Mark-up that is open between sentences.
    stripper: Stripper,
}

impl SpeakableFilter {
    /// For one reply in `language` (ISO 639-1) by somebody of these names.
    pub fn new<'n>(language: &str, names: impl IntoIterator<Item = &'n str>) -> Self {
        let link = if language.starts_with("de") { "ein Link" } else { "a link" };
        Self {
            english: language.starts_with("en"),
            by_sentence: false,
            now_english: language.starts_with("en"),
            labels: names.into_iter().map(Words::of).collect(),
            stripper: Stripper::new(link),
        }
    }

    /// Says the numbers of a sentence that is in another language, as its words tell, in that language.
    pub const fn by_sentence(mut self) -> Self {
        self.by_sentence = true;
        self
    }

    /// The next sentence as it is said; empty when nothing of it is.
    pub fn next(&mut self, sentence: &str) -> String {
        if self.by_sentence
            && let Some(language) = Language::spoken_in(sentence)
        {
            self.now_english = language.code == Language::english().code;
        }
        let english = self.now_english;
        let mut plain = String::with_capacity(sentence.len());
        for line in sentence.lines() {
            let said = self.stripper.line(line, english);
            let said = said.trim();
            if said.is_empty() {
                continue;
            }
            if !plain.is_empty() {
                let ended = plain.ends_with(|c: char| c.is_ascii_punctuation() || c == '…');
                plain.push_str(if ended { " " } else { ". " });
            }
            plain.push_str(self.without_label(said));
        }
        let words = match english {
            true => figures::in_words(&plain),
            // The voice would say them in English.
            false if self.english => foreign::in_german(&plain),
            false => plain,
        };
        let said = tidy(&words);
        if said.trim_end_matches('.') == self.stripper.link { String::new() } else { said }
    }

    /// The text after a label such as "Bartok:".
    fn without_label<'t>(&self, text: &'t str) -> &'t str {
        let Some((label, rest)) = text.split_once(':') else { return text };
        let spoken = Words::of(label);
        let own = |name: &Words| spoken.iter().all(|word| name.iter().any(|own| own == word));
        let is_label = label.len() <= LONGEST_LABEL
            && !spoken.is_empty()
            && !label.contains(['.', '!', '?'])
            && self.labels.iter().any(own);
        if is_label { rest.trim_start() } else { text }
    }
}

/// Puts white space and punctuation right; empty when no letter or digit is left.
fn tidy(text: &str) -> String {
    if !text.contains(char::is_alphanumeric) {
        return String::new();
    }
    let mut tidy = String::with_capacity(text.len());
    for c in text.chars() {
        let before = tidy.trim_end().chars().next_back();
        match c {
            c if c.is_whitespace() => {
                if !tidy.is_empty() && !tidy.ends_with(' ') {
                    tidy.push(' ');
                }
            }
            ',' | ';' | ':' | '.' | '!' | '?' | '…' => {
                tidy.truncate(tidy.trim_end().len());
                match before {
                    None => {}
                    // Pauses give way to what follows them; a pause after an end is nothing.
                    Some(',' | ';' | ':') => {
                        tidy.pop();
                        tidy.push(c);
                    }
                    Some('.' | '!' | '?' | '…') if matches!(c, ',' | ';' | ':') => {}
                    Some(_) => tidy.push(c),
                }
            }
            '-' | '–' | '—' if before.is_none() => {}
            '"' | '”' if before.is_some_and(|open| matches!(open, '"' | '“')) => {
                tidy.truncate(tidy.trim_end().len());
                tidy.pop();
            }
            c => tidy.push(c),
        }
    }
    tidy.trim().to_owned()
}

#[cfg(test)]
mod tests;
