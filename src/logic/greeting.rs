//! Removes greetings from utterances, so that the rest can be understood separately.
//!
//! Entry function: [`without_greetings`]. A greeting begins the utterance, or follows punctuation
//! or another greeting.

use super::{language::all, words::Words};

/// `text` without its greetings; `None` if it has none, or nothing else.
pub fn without_greetings(text: &str) -> Option<String> {
    let words = Words::of(text);
    let mut left = String::with_capacity(text.len());
    let (mut at, mut from, mut found) = (0, 0, false);
    while at < words.len() {
        let length = if begins(text, &words, at, from) { greeting(&words, at) } else { 0 };
        if length == 0 {
            at += 1;
            continue;
        }
        let greeting = words.source(at).start..words.source(at + length - 1).end;
        left.push_str(text.get(from..greeting.start)?);
        (at, from, found) = (at + length, greeting.end, true);
    }
    left.push_str(text.get(from..)?);
    let left = left.trim_matches(|c: char| c.is_whitespace() || ",;:.!".contains(c));
    (found && left.contains(char::is_alphanumeric)).then(|| left.to_owned())
}

/// True if the word `at` begins the text or a clause, or follows a greeting that ends at `from`.
fn begins(text: &str, words: &Words, at: usize, from: usize) -> bool {
    let start = words.source(at).start;
    let before = at.checked_sub(1).map_or(0, |before| words.source(before).end).max(from);
    let gap = text.get(before..start).unwrap_or_default();
    at == 0 || before == from && from > 0 || gap.contains(['.', '!', '?', ',', ';', ':', '…'])
}

/// Length in words of the longest greeting at word `at`; 0 for none.
fn greeting(words: &Words, at: usize) -> usize {
    words.longest_phrase_at(at, all(|language| language.greetings)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greeting_is_taken_from_what_is_said() {
        for (text, left) in [
            ("Good evening, Bartok, an ale please", Some("Bartok, an ale please")),
            ("hello bartok two beers for us", Some("bartok two beers for us")),
            ("Hey, good evening! What's new?", Some("What's new?")),
            ("An ale, please. Good evening!", Some("An ale, please")),
            ("Guten Abend Wirt ein Bier bitte", Some("Wirt ein Bier bitte")),
            ("Grüß dich, was kostet ein Zimmer?", Some("was kostet ein Zimmer?")),
            ("Good evening!", None),
            ("hallo", None),
            ("We leave this evening", None),
            ("I said hello to him", None),
            ("", None),
        ] {
            assert_eq!(without_greetings(text).as_deref(), left, "{text}");
        }
    }
}
