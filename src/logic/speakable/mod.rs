//! Turns a model's text into text that a voice can speak.
//!
//! Entry type: [`SpeakableFilter`], for the sentences of one reply in order. Removes Markdown,
//! emoji, links, stage directions, tool mark-up, the NPC's own label and invisible characters; in
//! English, numbers, dice and common units become words. The result may be empty.

mod action;
mod figures;
mod foreign;
mod markup;

use super::{language::Language, words::Words};
use markup::Stripper;

const LONGEST_LABEL: usize = 80;

/// Makes the sentences of one reply speakable. A stage direction, code block or tool call may span
/// sentences.
#[derive(Clone, Debug)]
pub struct SpeakableFilter {
    english: bool,
    /// Detects the language of each sentence; an unclear one has that of the previous sentence.
    by_sentence: bool,
    now_english: bool,
    /// The speaker's names; a label of one name's words is dropped.
    labels: Vec<Words>,
    stripper: Stripper,
}

impl SpeakableFilter {
    /// `language`: ISO 639-1; `names`: the speaker's.
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

    pub const fn by_sentence(mut self) -> Self {
        self.by_sentence = true;
        self
    }

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
            // The voice would read them in English.
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

/// Tidies white space and punctuation; empty if no letter or digit is left.
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
                    // A pause gives way to the mark after it; a pause after an end is dropped.
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
