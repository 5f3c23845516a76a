//! Text to words as GPT-2's tokenizer cuts it: contractions, then runs of letters, digits or other signs, each with
//! a blank before it, then blanks.
//!
//! Source: the pattern in `encoder.py` of openai/gpt-2,
//! `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.

/// Longest word in bytes that is merged as one; merging takes quadratic time.
const LONGEST: usize = 128;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blank,
    Letter,
    Digit,
    Sign,
}

impl Kind {
    fn of(c: char) -> Self {
        match c {
            _ if c.is_whitespace() => Self::Blank,
            _ if c.is_alphabetic() => Self::Letter,
            _ if c.is_numeric() => Self::Digit,
            _ => Self::Sign,
        }
    }
}

/// The words of a text; joined they give the text.
pub(super) fn words(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let length = text.floor_char_boundary(first(text)?.min(LONGEST));
        let (word, rest) = text.split_at(length);
        text = rest;
        Some(word)
    })
}

fn first(text: &str) -> Option<usize> {
    let contractions = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"];
    if let Some(contraction) = contractions.iter().find(|c| text.starts_with(**c)) {
        return Some(contraction.len());
    }
    let follows = |body: &&str| body.chars().next().is_some_and(|c| Kind::of(c) != Kind::Blank);
    let body = text.strip_prefix(' ').filter(follows).unwrap_or(text);
    let kind = Kind::of(body.chars().next()?);
    let end = body.find(|c| Kind::of(c) != kind);
    let length = text.len() - body.len() + end.unwrap_or(body.len());
    if kind != Kind::Blank || end.is_none() {
        return Some(length);
    }
    // the last of several blanks belongs to the next word
    let last = text[..length].chars().next_back().map_or(0, char::len_utf8);
    Some(if last < length { length - last } else { length })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_as_the_pattern_cuts_them() {
        let cut = |text| words(text).collect::<Vec<_>>();
        assert_eq!(cut(" Names: Thorin, Elara"), [" Names", ":", " Thorin", ",", " Elara"]);
        assert_eq!(cut("I'll roll 2d6+3."), ["I", "'ll", " roll", " 2", "d", "6", "+", "3", "."]);
        assert_eq!(cut("a  b\n\nc "), ["a", " ", " b", "\n", "\n", "c", " "]);
        assert_eq!(cut("grün – ja"), ["grün", " –", " ja"]);
        assert_eq!(cut(""), [""; 0]);
    }

    #[test]
    fn endless_words_are_cut_between_characters() {
        let long = "ü".repeat(1000);
        assert!(words(&long).all(|word| !word.is_empty() && word.len() <= LONGEST));
        assert_eq!(words(&long).collect::<String>(), long);
    }
}
