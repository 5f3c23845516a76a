//! Text as folded whole words, the basis of every comparison of speech.
//!
//! Entry types: [`Words`], [`Phrases`]. Folding is Unicode case folding without accents (NFKD,
//! marks dropped; ß is ss, ø is o). An apostrophe inside a word is dropped ("don't" is `dont`), a
//! possessive `'s` is removed and recorded; other characters than letters and digits separate
//! words.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::domain::Fnv;

/// Words of one text, in one buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    folded: String,
    spans: Vec<Span>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    /// Range in the folded buffer.
    folded: Range<usize>,
    /// Range in the source text.
    source: Range<usize>,
    possessive: bool,
}

impl Words {
    pub fn of(text: &str) -> Self {
        let mut words = Self {
            folded: String::with_capacity(text.len()),
            spans: Vec::with_capacity(text.len() / 5 + 1),
        };
        let mut chars = text.char_indices().peekable();
        while let Some(&(start, c)) = chars.peek() {
            if !is_word_char(c) {
                chars.next();
                continue;
            }
            let mut span = words.read_word(text, start);
            while chars.next_if(|&(at, _)| at < span.source.end).is_some() {}
            words.cut_possessive(text, &mut span);
            if span.folded.is_empty() {
                words.folded.truncate(span.folded.start);
            } else {
                words.spans.push(span);
            }
        }
        words
    }

    pub fn len(&self) -> usize {
        self.spans.len()
    }

    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    pub fn get(&self, index: usize) -> Option<&str> {
        self.spans.get(index).and_then(|span| self.folded.get(span.folded.clone()))
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.spans.iter().filter_map(|span| self.folded.get(span.folded.clone()))
    }

    /// Byte range in the source text, without a possessive `'s`; empty and past the end if out of
    /// range.
    pub fn source(&self, index: usize) -> Range<usize> {
        self.spans.get(index).map_or(usize::MAX..usize::MAX, |span| span.source.clone())
    }

    pub fn is_possessive(&self, index: usize) -> bool {
        self.spans.get(index).is_some_and(|span| span.possessive)
    }

    /// The words of `range` joined ("grey mantle" is `greymantle`); empty when out of range.
    pub fn joined(&self, range: Range<usize>) -> &str {
        // Folded words are adjacent in the buffer, without possessives.
        let (Some(first), Some(last)) =
            (self.spans.get(range.start), self.spans.get(range.end.wrapping_sub(1)))
        else {
            return "";
        };
        self.folded.get(first.folded.start..last.folded.end).unwrap_or_default()
    }

    /// Length in words of `phrase` (folded) if it begins at `at`.
    pub fn phrase_at(&self, at: usize, phrase: &str) -> Option<usize> {
        let next =
            |count: usize, word: &str| (self.get(at + count) == Some(word)).then_some(count + 1);
        phrase.split(' ').try_fold(0, next)
    }

    /// Length in words of the longest of `phrases` (folded) that begins at `at`.
    pub fn longest_phrase_at<'p>(
        &self,
        at: usize,
        phrases: impl Iterator<Item = &'p str>,
    ) -> Option<usize> {
        phrases.filter_map(|phrase| self.phrase_at(at, phrase)).max()
    }

    fn read_word(&mut self, text: &str, start: usize) -> Span {
        let from = self.folded.len();
        let mut end = start;
        let mut chars = text.get(start..).unwrap_or_default().char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if is_word_char(c) {
                fold_into(&mut self.folded, c);
                end = start + at + c.len_utf8();
            } else if !(is_apostrophe(c)
                && chars.peek().is_some_and(|&(_, next)| is_word_char(next)))
            {
                break;
            }
        }
        Span { folded: from..self.folded.len(), source: start..end, possessive: false }
    }

    fn cut_possessive(&mut self, text: &str, span: &mut Span) {
        let word = text.get(span.source.clone()).unwrap_or_default();
        let Some(stem) = word.strip_suffix(['s', 'S']) else { return };
        let Some(stem) = stem.strip_suffix(is_apostrophe) else { return };
        self.folded.pop();
        span.folded.end = self.folded.len();
        span.source.end = span.source.start + stem.len();
        span.possessive = true;
    }
}

/// `text` folded, words separated by one space.
pub fn fold(text: &str) -> String {
    let words = Words::of(text);
    let mut folded = String::with_capacity(text.len());
    for word in words.iter() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && is_combining_mark(c))
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | 'ʼ' | '‘' | '`' | '´')
}

/// À to Þ and à to ÿ, folded, which covers most accented text. × and ÷ are no letters.
const LATIN: [&str; 32] = [
    "a", "a", "a", "a", "a", "a", "ae", "c", "e", "e", "e", "e", "i", "i", "i", "i", "d", "n", "o",
    "o", "o", "o", "o", "", "o", "u", "u", "u", "u", "y", "th", "y",
];

fn fold_into(out: &mut String, c: char) {
    if c.is_ascii() {
        out.push(c.to_ascii_lowercase());
        return;
    }
    if let Some(letter) = u32::from(c).checked_sub(0xc0).and_then(|i| usize::try_from(i).ok())
        && let Some(plain) = LATIN.get(letter % 32).filter(|_| letter < 64)
    {
        // ÿ has the place of ß among the capitals.
        out.push_str(if c == 'ß' { "ss" } else { plain });
        return;
    }
    for part in c.nfkd().filter(|&part| !is_combining_mark(part)) {
        for lower in part.to_lowercase() {
            match lower {
                'ß' => out.push_str("ss"),
                'œ' => out.push_str("oe"),
                'ł' => out.push('l'),
                'đ' => out.push('d'),
                'ı' => out.push('i'),
                'ς' => out.push('σ'),
                other if other.is_alphanumeric() => out.push(other),
                _ => {}
            }
        }
    }
}

/// Phrases found as whole words in one pass; a tree keyed by word.
#[derive(Clone, Debug)]
pub struct Phrases<T> {
    nodes: Vec<Node<T>>,
}

#[derive(Clone, Debug)]
struct Node<T> {
    next: HashMap<Box<str>, usize, BuildHasherDefault<Fnv>>,
    values: Vec<T>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhraseMatch<'p, T> {
    pub start: usize,
    pub end: usize,
    pub value: &'p T,
}

impl<T> Default for Node<T> {
    fn default() -> Self {
        Self { next: HashMap::default(), values: Vec::new() }
    }
}

impl<T> Default for Phrases<T> {
    fn default() -> Self {
        Self { nodes: vec![Node::default()] }
    }
}

impl<T> Phrases<T> {
    /// Ignores a phrase without words.
    pub fn insert(&mut self, phrase: &str, value: T) {
        let words = Words::of(phrase);
        let mut at = 0;
        for word in words.iter() {
            let fresh = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { return };
            at = *node.next.entry(word.into()).or_insert(fresh);
            if at == fresh {
                self.nodes.push(Node::default());
            }
        }
        if let Some(node) = self.nodes.get_mut(at).filter(|_| at > 0) {
            node.values.push(value);
        }
    }

    /// The phrases at word `start`, longest first. Allocates only for matches.
    pub fn at(&self, words: &Words, start: usize) -> impl Iterator<Item = PhraseMatch<'_, T>> {
        let mut found = Vec::new();
        let (mut node, mut end) = (self.nodes.first(), start);
        while let Some(next) = words.get(end).zip(node).and_then(|(word, n)| n.next.get(word)) {
            node = self.nodes.get(*next);
            end += 1;
            let values = node.into_iter().flat_map(|node| node.values.iter().rev());
            found.extend(values.map(|value| PhraseMatch { start, end, value }));
        }
        found.into_iter().rev()
    }

    /// The first phrase found, the longest of those with the same first word. Before each further
    /// word, up to `most` words that satisfy `is_between` are allowed.
    pub fn first_loose(
        &self,
        words: &Words,
        most: usize,
        is_between: impl Fn(&str) -> bool,
    ) -> Option<&T> {
        let root = self.nodes.first()?;
        (0..words.len()).find_map(|start| {
            let (mut node, mut at, mut skipped, mut found) = (root, start, 0, None);
            while let Some(word) = words.get(at) {
                if let Some(next) = node.next.get(word).and_then(|next| self.nodes.get(*next)) {
                    node = next;
                    found = node.values.last().or(found);
                    skipped = 0;
                } else if at > start && skipped < most && is_between(word) {
                    skipped += 1;
                } else {
                    break;
                }
                at += 1;
            }
            found
        })
    }

    /// All phrases of the text by position, longest first.
    pub fn all<'p>(&'p self, words: &'p Words) -> impl Iterator<Item = PhraseMatch<'p, T>> + 'p {
        (0..words.len()).flat_map(move |start| self.at(words, start))
    }
}

/// `text` with its first letter capitalised; marks before it stay, a number stays unchanged.
pub fn capitalised(text: &str) -> String {
    let Some((at, first)) = text.char_indices().find(|(_, c)| c.is_alphanumeric()) else {
        return text.to_owned();
    };
    let (before, rest) = text.split_at(at);
    let rest = rest.strip_prefix(first).unwrap_or_default();
    format!("{before}{}{rest}", first.to_uppercase())
}

/// The first `most` characters of `text`, with an ellipsis if cut.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folded(text: &str) -> Vec<String> {
        Words::of(text).iter().map(str::to_owned).collect()
    }

    #[test]
    fn folds_case_accents_and_special_letters() {
        assert_eq!(folded("Überleg GUT, Élodie!"), ["uberleg", "gut", "elodie"]);
        assert_eq!(folded("STRAẞE Straße"), ["strasse", "strasse"]);
        assert_eq!(folded("ﬁnd İstanbul Ærwyn Łódź"), ["find", "istanbul", "aerwyn", "lodz"]);
        assert_eq!(folded("e\u{301}lan"), ["elan"]);
    }

    #[test]
    fn first_letter_becomes_a_capital() {
        for (text, capital) in [
            ("the mill", "The mill"),
            ("“ölig“", "“Ölig“"),
            ("ßen", "SSen"),
            ("3 coppers", "3 coppers"),
            ("Odo", "Odo"),
            ("…", "…"),
            ("", ""),
        ] {
            assert_eq!(capitalised(text), capital);
        }
    }

    #[test]
    fn splits_at_everything_but_letters_and_digits() {
        assert_eq!(folded("well-known (2d6+3) a_b"), ["well", "known", "2d6", "3", "a", "b"]);
        assert!(Words::of(" — … 🎲 ").is_empty());
    }

    #[test]
    fn apostrophes_vanish_and_possessives_are_cut() {
        let words = Words::of("Don't touch Bartok’s 'mug' D'Artagnan");
        let all: Vec<_> = words.iter().collect();
        assert_eq!(all, ["dont", "touch", "bartok", "mug", "dartagnan"]);
        assert!(words.is_possessive(2) && !words.is_possessive(0));
        let text = "Don't touch Bartok’s 'mug'";
        assert_eq!(text.get(words.source(2)), Some("Bartok"));
        assert_eq!(text.get(words.source(3)), Some("mug"));
        assert_eq!(words.joined(1..3), "touchbartok");
        assert_eq!(words.joined(4..9), "");
    }

    #[test]
    fn phrases_match_whole_words_longest_first() {
        let mut phrases = Phrases::default();
        phrases.insert("search", 1);
        phrases.insert("Search the Web", 2);
        phrases.insert("...", 3);
        let words = Words::of("please SEARCH the web, researcher");
        let found: Vec<_> = phrases.all(&words).map(|f| (f.start, f.end, *f.value)).collect();
        assert_eq!(found, [(1, 4, 2), (1, 2, 1)]);
    }

    proptest! {
        #[test]
        fn word_ranges_are_ordered_on_char_boundaries(text in "\\PC*") {
            let words = Words::of(&text);
            let mut last = 0;
            for index in 0..words.len() {
                let range = words.source(index);
                prop_assert!(range.start >= last && range.end > range.start);
                prop_assert!(text.get(range.clone()).is_some());
                prop_assert!(!words.get(index).unwrap().is_empty());
                last = range.end;
            }
            prop_assert_eq!(words.joined(0..words.len()), words.iter().collect::<String>());
        }

        #[test]
        fn folding_twice_changes_nothing(text in "[a-zA-ZäöüßÉéçñŁİſ '’]{0,40}") {
            prop_assert_eq!(fold(&fold(&text)), fold(&text));
        }
    }
}
