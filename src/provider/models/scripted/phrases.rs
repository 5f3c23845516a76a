//! Finds phrases of scripted lines as whole words.
//!
//! Entry type: [`Phrases`]. Words are lowercase runs of letters and digits; characters between
//! words are ignored, so "what's up" matches "What’s -- up?". Patterns would be too slow: a cast
//! has hundreds of phrases, and its first answer must not wait for them.

use std::ops::Range;

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
