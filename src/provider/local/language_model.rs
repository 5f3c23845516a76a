//! Sentences -> a trigram language model as ARPA text.
//!
//! Entry type: [`Trigrams`]. Interpolated Witten-Bell: a history with many different followers
//! leaves more room for unseen ones.
//! **Never**: files, knowing what the sentences are about.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write,
};

/// Words of the longest n-gram.
const ORDER: usize = 3;
/// Beginning of a sentence.
const START: &str = "<s>";
/// End of a sentence.
const END: &str = "</s>";
/// ARPA's logarithm of "never".
const NEVER: f64 = -99.0;

/// Counts of the words, pairs and triples of sentences.
#[derive(Default)]
pub struct Trigrams {
    /// Each word's number.
    words: BTreeMap<String, u32>,
    /// One map an order; an n-gram is its word numbers, oldest first.
    counts: [HashMap<Vec<u32>, u32>; ORDER],
}

/// How often a history was seen, and with how many different followers.
#[derive(Clone, Copy, Default)]
struct Followers {
    /// How often it was followed by anything.
    tokens: f64,
    /// By how many different words.
    types: f64,
}

impl Trigrams {
    /// Counts one sentence of lower-case words separated by blanks.
    pub fn add(&mut self, sentence: &str) {
        let words = sentence.split_whitespace();
        let ids: Vec<u32> =
            std::iter::once(START).chain(words).chain([END]).map(|word| self.id(word)).collect();
        if ids.len() < 3 {
            return;
        }
        for (length, counts) in (1..).zip(&mut self.counts) {
            for gram in ids.windows(length) {
                *counts.entry(gram.to_vec()).or_default() += 1;
            }
        }
    }

    /// All words, the marks of beginning and end excepted.
    pub fn vocabulary(&self) -> impl Iterator<Item = &str> {
        self.words.keys().map(String::as_str).filter(|word| !word.starts_with('<'))
    }

    /// The number of a word, new if need be.
    fn id(&mut self, word: &str) -> u32 {
        let next = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        match self.words.get(word) {
            Some(&id) => id,
            None => *self.words.entry(word.to_owned()).or_insert(next),
        }
    }

    /// The model as ARPA text.
    pub fn to_arpa(&self) -> String {
        let mut names = vec![""; self.words.len()];
        for (name, &id) in &self.words {
            if let Some(slot) = usize::try_from(id).ok().and_then(|id| names.get_mut(id)) {
                *slot = name;
            }
        }
        let probabilities = self.probabilities();
        let mut text = String::from("\\data\\\n");
        for (length, grams) in (1..).zip(&self.counts) {
            let _ = writeln!(text, "ngram {length}={}", grams.len());
        }
        for (length, grams) in (1..).zip(&self.counts) {
            let _ = writeln!(text, "\n\\{length}-grams:");
            let mut sorted: Vec<_> = grams.keys().collect();
            sorted.sort_unstable();
            for gram in sorted {
                let probability = probabilities.of(gram);
                let logarithm = if probability > 0.0 { probability.log10() } else { NEVER };
                let _ = write!(text, "{logarithm:.4}\t");
                for (position, id) in gram.iter().enumerate() {
                    let name = usize::try_from(*id).ok().and_then(|id| names.get(id));
                    let gap = if position == 0 { "" } else { " " };
                    let _ = write!(text, "{gap}{}", name.copied().unwrap_or_default());
                }
                if length < ORDER {
                    let _ = write!(text, "\t{:.4}", probabilities.back_off(gram).log10());
                }
                text.push('\n');
            }
        }
        text.push_str("\n\\end\\\n");
        text
    }

    /// What the counts say.
    fn probabilities(&self) -> Probabilities<'_> {
        let mut followers: HashMap<&[u32], Followers> = HashMap::new();
        let start = self.words.get(START).copied();
        for counts in &self.counts {
            for (gram, &count) in counts {
                // Nothing is followed by the beginning of a sentence.
                let Some((last, history)) = gram.split_last() else { continue };
                if Some(*last) == start || count == 0 {
                    continue;
                }
                let entry = followers.entry(history).or_default();
                entry.tokens += f64::from(count);
                entry.types += 1.0;
            }
        }
        let size = self.words.len().saturating_sub(1).max(1);
        let uniform = 1.0 / f64::from(u32::try_from(size).unwrap_or(u32::MAX));
        Probabilities { counts: &self.counts, followers, start, uniform }
    }
}

/// Probabilities read off counts.
struct Probabilities<'a> {
    /// As in [`Trigrams`].
    counts: &'a [HashMap<Vec<u32>, u32>; ORDER],
    /// The words that followed, by history.
    followers: HashMap<&'a [u32], Followers>,
    /// Number of the beginning.
    start: Option<u32>,
    /// Of a word nothing is known about.
    uniform: f64,
}

impl Probabilities<'_> {
    /// P(last word | the words before it).
    fn of(&self, gram: &[u32]) -> f64 {
        let Some((last, history)) = gram.split_last() else { return self.uniform };
        if Some(*last) == self.start {
            return 0.0;
        }
        let shorter = gram.get(1..).filter(|_| !history.is_empty());
        let lower = shorter.map_or(self.uniform, |shorter| self.of(shorter));
        let counts = self.counts.get(history.len());
        let count = counts.and_then(|counts| counts.get(gram)).copied().unwrap_or_default();
        match self.followers.get(history) {
            Some(seen) => (f64::from(count) + seen.types * lower) / (seen.tokens + seen.types),
            None => lower,
        }
    }

    /// What is left for words never seen after `history`.
    fn back_off(&self, history: &[u32]) -> f64 {
        self.followers.get(history).map_or(1.0, |seen| seen.types / (seen.tokens + seen.types))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(sentences: &[&str]) -> Trigrams {
        let mut model = Trigrams::default();
        sentences.iter().for_each(|sentence| model.add(sentence));
        model
    }

    #[test]
    fn what_may_follow_adds_up_to_one() {
        let model =
            model(&["roll a d six", "roll two d six", "roll two d eight plus two", "hello"]);
        let probabilities = model.probabilities();
        let id = |word: &str| model.words[word];
        for history in
            [vec![], vec![id("roll")], vec![id("two"), id("d")], vec![id("six"), id("a")]]
        {
            let followed_by = |last: &u32| {
                let gram: Vec<u32> = history.iter().chain([last]).copied().collect();
                probabilities.of(&gram)
            };
            let sum: f64 = model.words.values().map(followed_by).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{history:?}: {sum}");
        }
    }

    #[test]
    fn what_was_seen_is_likelier() {
        let model = model(&["roll two d six", "roll two d eight", "hello there"]);
        let probabilities = model.probabilities();
        let of = |words: [&str; 3]| probabilities.of(&words.map(|word| model.words[word]));
        assert!(of(["two", "d", "six"]) > 5.0 * of(["two", "d", "there"]));
    }

    #[test]
    fn the_text_is_arpa() {
        let text = model(&["hello there"]).to_arpa();
        assert!(text.starts_with("\\data\\\nngram 1=4\nngram 2=3\nngram 3=2\n"), "{text}");
        assert!(text.contains("\n\\1-grams:\n-99.0000\t<s>\t"), "{text}");
        assert!(text.contains("\thello there </s>\n"), "{text}");
        assert!(text.ends_with("\\end\\\n"));
    }

    #[test]
    fn an_empty_sentence_is_nothing() {
        assert!(model(&["", "  "]).vocabulary().next().is_none());
    }
}
