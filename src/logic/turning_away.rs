//! Removes words about a person from whom the speaker turns away, so that the request beside them is
//! understood: "Not you, Greymantle. Bartok, an ale!", "I want nothing to do with Vesper. A brandy."
//!
//! Entry function: [`without_turning_away`]. **Never**: knows names, or decides who is addressed.

use super::{
    language::{all, is_any},
    words::Words,
};

/// Longest sentence that only turns away, in words.
const WORDS_MAX: usize = 12;

/// `text` without such sentences and clauses; `None` if it has none, nothing else, or a question about
/// them.
pub fn without_turning_away(text: &str) -> Option<String> {
    let mut left = String::with_capacity(text.len());
    let mut found = false;
    for sentence in text.split_inclusive(['.', '!', '?', ';']) {
        let is_question = sentence.trim_end().ends_with('?');
        if !is_question && turns_away(sentence) {
            found = true;
            continue;
        }
        for clause in sentence.split_inclusive(',') {
            let is_about = !is_question && is_about_turning_away(clause);
            found |= is_about;
            if !is_about {
                left.push_str(clause);
            }
        }
    }
    let left = left.trim_matches(|c: char| c.is_whitespace() || ",;:.".contains(c));
    let words = Words::of(left);
    let asks = words.iter().any(|word| is_any(|it| it.turning_away.asking, word));
    (found && !words.is_empty() && !asks).then(|| left.to_owned())
}

/// True if `sentence` begins with words such as "not you".
fn turns_away(sentence: &str) -> bool {
    let words = Words::of(sentence);
    let mut beginnings = all(|it| it.turning_away.beginnings);
    words.len() <= WORDS_MAX && beginnings.any(|phrase| words.phrase_at(0, phrase).is_some())
}

/// True if `clause` has words such as "nothing to do with".
fn is_about_turning_away(clause: &str) -> bool {
    let words = Words::of(clause);
    let mut phrases = all(|it| it.turning_away.phrases);
    phrases.any(|phrase| (0..words.len()).any(|at| words.phrase_at(at, phrase).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_is_left_beside_turning_away() {
        for (text, left) in [
            ("Nicht du, Greymantle. Bartok, ein Bier!", Some("Bartok, ein Bier!")),
            ("Not you, Greymantle. Bartok, an ale!", Some("Bartok, an ale!")),
            ("I wasn't talking to Mira. Two ales, Bartok.", Some("Two ales, Bartok")),
            (
                "Mit Vesper will ich nix zu tun haben, Bartok. Gib mir lieber einen Schnaps.",
                Some("Bartok. Gib mir lieber einen Schnaps"),
            ),
            ("I want nothing to do with Vesper, give me a brandy", Some("give me a brandy")),
            ("Ich rede nicht mit Hale. Was kostet ein Bier?", Some("Was kostet ein Bier?")),
            ("Nicht du, Greymantle.", None),
            ("I want nothing to do with Vesper", None),
            ("Mit Vesper will ich nichts zu tun haben. Warum fragst du?", None),
            ("Why do you want nothing to do with Vesper? Tell me.", None),
            ("Not your ale, Bartok. The stew.", None),
            ("It is not you. It is me.", None),
            ("Tell me about Greymantle. And an ale.", None),
            ("", None),
        ] {
            assert_eq!(without_turning_away(text).as_deref(), left, "{text}");
        }
    }
}
