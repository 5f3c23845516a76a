//! Phrases and patterns of scripted lines.
//!
//! Entry types: [`Phrases`], [`Pattern`]. Phrases match whole words, ignoring characters between
//! them ("what's up" matches "What’s -- up?"). A cast has hundreds of them; as patterns they would
//! delay its first answer. It also has a hundred patterns, and compiling one takes about a
//! millisecond and a hundred kilobytes. So a pattern is compiled only when an utterance has the
//! words that it needs; most utterances have those of one or two.

use std::{collections::BTreeMap, ops::Range, sync::OnceLock};

use regex::{Regex, RegexBuilder};

use super::template;
use crate::logic::pattern::{Needed, ParsedPattern, caseless};

/// Largest compiled pattern, in bytes: twice what the configuration accepts by its estimate,
/// because case makes no difference here.
const BYTES_MAX: usize = 4 << 20;

#[derive(Debug)]
pub struct Pattern {
    text: String,
    /// Texts without which it matches nothing, parsed on first use.
    needed: OnceLock<Needed>,
    /// Compiled on first use; `None`: it is not a regular expression, or too large.
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// A pattern that does not compile never matches (`check` reports it).
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), needed: OnceLock::new(), compiled: OnceLock::new() }
    }

    /// True if it captures the speaker's name.
    pub fn names_speaker(&self) -> bool {
        self.text.contains("<name>")
    }

    /// Bytes of the longest match, an empty one counts 1; `None`: no match.
    pub fn longest(&self, utterance: &str) -> Option<usize> {
        let found = self.for_text(utterance)?.find_iter(utterance);
        found.map(|found| found.len().max(1)).max()
    }

    pub fn captures(&self, utterance: &str) -> BTreeMap<String, String> {
        let compiled = self.for_text(utterance);
        compiled.map(|it| template::captures(it, utterance)).unwrap_or_default()
    }

    /// The compiled pattern, unless `utterance` lacks what it needs.
    fn for_text(&self, utterance: &str) -> Option<&Regex> {
        let needed = || {
            self.needed.get_or_init(|| {
                ParsedPattern::of(&self.text).map_or(Needed::Nothing, |it| it.needed())
            })
        };
        if self.compiled.get().is_none() && !needed().is_in(&caseless(utterance)) {
            return None;
        }
        let compile = || {
            let mut builder = RegexBuilder::new(&self.text);
            builder.case_insensitive(true).size_limit(BYTES_MAX).build().ok()
        };
        self.compiled.get_or_init(compile).as_ref()
    }

    #[cfg(test)]
    pub fn is_compiled(&self) -> bool {
        self.compiled.get().is_some()
    }
}

#[derive(Debug)]
pub struct Phrases(Vec<Vec<String>>);

/// Lowercase words, each with its byte range in the text.
#[derive(Debug)]
pub struct Spoken(Vec<(String, Range<usize>)>);

impl Spoken {
    pub fn of(text: &str) -> Self {
        let mut words: Vec<(String, Range<usize>)> = Vec::new();
        for (at, c) in text.char_indices().filter(|(_, c)| c.is_alphanumeric()) {
            let end = at + c.len_utf8();
            match words.last_mut().filter(|(_, place)| place.end == at) {
                Some((word, place)) => {
                    word.extend(c.to_lowercase());
                    place.end = end;
                }
                None => words.push((c.to_lowercase().collect(), at..end)),
            }
        }
        Self(words)
    }
}

impl Phrases {
    /// A phrase without a word never matches.
    pub fn new(phrases: &[String]) -> Self {
        let words = |phrase: &String| -> Vec<String> {
            Spoken::of(phrase).0.into_iter().map(|(word, _)| word).collect()
        };
        Self(phrases.iter().map(words).filter(|words| !words.is_empty()).collect())
    }

    /// Byte range of the longest match, the first among equals.
    pub fn longest(&self, spoken: &Spoken) -> Option<Range<usize>> {
        let mut longest: Option<Range<usize>> = None;
        for phrase in &self.0 {
            for place in spoken.0.windows(phrase.len()) {
                let says = place.iter().zip(phrase).all(|((said, _), word)| said == word);
                let (Some((_, first)), Some((_, last))) = (place.first(), place.last()) else {
                    continue;
                };
                let found = first.start..last.end;
                if says && longest.as_ref().is_none_or(|longest| longest.len() < found.len()) {
                    longest = Some(found);
                }
            }
        }
        longest
    }
}
