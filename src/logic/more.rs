//! Requests for more of an earlier request: "got another one?", "das Gleiche noch mal für alle".
//!
//! Entry functions: [`asks_for_more`], and [`says_something`] for utterances that can be repeated. Each word of
//! such a request repeats, is a name, or is a filler, so "another ale" is not one.
//! **Never**: knows the earlier request.

use super::{
    language::{all, is_any},
    words::Words,
};

/// True if the whole of `text` asks for more; `is_name` knows words of the listener's names, folded.
pub fn asks_for_more(text: &str, is_name: impl Fn(&str) -> bool) -> bool {
    let words = Words::of(text);
    let (mut at, mut repeats) = (0, false);
    while at < words.len() {
        match words.longest_phrase_at(at, all(|it| it.more.phrases)) {
            Some(count) => {
                repeats = true;
                at += count;
            }
            None if words.get(at).is_some_and(|word| is_beside(word, &is_name)) => at += 1,
            None => return false,
        }
    }
    repeats
}

/// True if `text` has a word that is no filler of such requests, no opener and no name.
pub fn says_something(text: &str, is_name: impl Fn(&str) -> bool) -> bool {
    let is_small = |word: &str| {
        is_beside(word, &is_name) || is_any(|it| it.openers, word) || is_any(|it| it.fillers, word)
    };
    Words::of(text).iter().any(|word| !is_small(word))
}

fn is_beside(word: &str, is_name: impl Fn(&str) -> bool) -> bool {
    is_name(word) || is_any(|it| it.more.beside, word) || is_any(|it| it.roles, word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_for_more_name_nothing() {
        let asks = |text: &str| asks_for_more(text, |word| word == "bartok");
        for text in [
            "Got another one?",
            "another one please, Bartok",
            "same again for the whole table",
            "the same for everyone",
            "do you know any others?",
            "Bartok, one more!",
            "noch mal das gleiche für alle",
            "Kennst du noch einen?",
            "hast du noch einen auf Lager",
            "Bartok, noch eins bitte",
            "dasselbe nochmal für uns, Wirt",
            "Der war schlecht. Kennst du noch einen?",
            "Puh, echt mies, hast du noch einen besseren?",
            "That was terrible. Got another one?",
            "Ha, that was awful! Do you know a better one?",
        ] {
            assert!(asks(text), "{text}");
        }
        for text in [
            "another ale please",
            "one more question",
            "the same to you",
            "it is all the same to me",
            "not the same",
            "you again",
            "again",
            "noch ein Bier",
            "noch eine Frage",
            "das ist das gleiche",
            "the soup was bad, another bowl please",
            "That was a terrible night",
            "Der Eintopf war schlecht, bring einen anderen Teller",
            "Das war echt mies von dir",
            "nochmal",
            "Bartok",
            "",
        ] {
            assert!(!asks(text), "{text}");
        }
    }

    #[test]
    fn praise_and_thanks_say_nothing_to_repeat() {
        let says = |text: &str| says_something(text, |word| word == "bartok");
        for text in
            ["haha great", "thank you, Bartok", "hello", "der war gut, danke", "ja", "that was bad"]
        {
            assert!(!says(text), "{text}");
        }
        for text in ["tell me a joke", "one ale please", "ein Bier bitte", "any news?"] {
            assert!(says(text), "{text}");
        }
    }
}
