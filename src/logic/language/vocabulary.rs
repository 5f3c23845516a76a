//! A language's vocabulary: [`Vocabulary`].
//!
//! The lists in `assets/words/` (made by `make.py` there) have no names and no words under four
//! letters. They are searched as text, since sets would take megabytes.

use std::cmp::Ordering;

#[derive(Debug)]
pub struct Vocabulary {
    /// One word a line, sorted by bytes.
    lines: &'static str,
}

impl Vocabulary {
    pub(super) const fn new(lines: &'static str) -> Self {
        Self { lines }
    }

    pub fn has(&self, word: &str) -> bool {
        let mut rest = self.lines;
        while !rest.is_empty() {
            let (before, behind) = rest.split_at(rest.floor_char_boundary(rest.len() / 2));
            let start = before.rfind('\n').map_or(0, |at| at + 1);
            let end = behind.find('\n').map_or(rest.len(), |at| before.len() + at);
            match rest.get(start..end).unwrap_or_default().cmp(word) {
                Ordering::Equal => return true,
                Ordering::Less => rest = rest.get(end + 1..).unwrap_or_default(),
                Ordering::Greater => rest = rest.get(..start).unwrap_or_default(),
            }
        }
        false
    }
}

/// Words or phrases.
type List = &'static [&'static str];

/// Words beside the X-card that tell whether it is played or only spoken of; folded.
#[derive(Debug)]
pub struct CardTalk {
    /// Verbs of playing it, or needing it.
    pub using: List,
    /// Further words between such a verb, a negation and the card.
    pub beside: List,
    /// Words that deny it: "not".
    pub denying: List,
    /// Of these, those that deny it as the last word of a clause: "nicht".
    pub denying_last: List,
    /// Of these, those that may be an outcry with the card right behind: "no, X card".
    pub outcries: List,
    /// First words of questions about it, beside those of every question.
    pub asking: List,
    /// Words of explaining it or asking about it: "rule".
    pub about: List,
    /// Articles before the card.
    pub articles: List,
    /// Phrases that tell others that they may play it.
    pub allowing: List,
    /// Words with which the speaker wishes to play it.
    pub wishes: List,
}

/// Words of requests for more of what was asked for before: "another one", "the same for everyone"; folded.
#[derive(Debug)]
pub struct MoreTalk {
    /// Phrases that make such a request.
    pub phrases: List,
    /// Further words of it.
    pub beside: List,
}

/// Words that turn away from a person before another is asked; folded, without short forms.
#[derive(Debug)]
pub struct TurningAway {
    /// Beginnings of a sentence that is only about that person: "not you".
    pub beginnings: List,
    /// Phrases in a clause that is only about that person: "nothing to do with".
    pub phrases: List,
    /// Words of a question about turning away: "why".
    pub asking: List,
}

/// Words of listeners to the music that plays; folded.
#[derive(Debug)]
pub struct ListenerTalk {
    /// Verbs that end a track before its time: "skip".
    pub skipping: List,
    /// Words that point at the track, beside such a verb: "this one".
    pub pointing: List,
    /// Words for what too much sound does: "headache".
    pub pains: List,
    /// Verbs of pain, and what hurts.
    pub hurting: List,
    pub hurt: List,
    /// Further words of such a complaint.
    pub beside_pain: List,
    /// First words of a reason behind a wish: "I can barely hear the fire".
    pub reasons: List,
    /// Verbs of hearing.
    pub hearing: List,
    /// Words for hearing little, beside negations: "barely".
    pub little: List,
    /// Further words of such a reason.
    pub beside_reason: List,
}

#[cfg(test)]
mod tests {
    use super::{super::ALL, *};

    #[test]
    fn vocabulary_has_its_words_alone() {
        let few = Vocabulary::new("able\nbake\ncake\ndear\n");
        for word in ["able", "bake", "cake", "dear"] {
            assert!(few.has(word), "{word}");
        }
        for word in ["", "abl", "ables", "bare", "zoo", "\n", "cake\ndear"] {
            assert!(!few.has(word), "{word}");
        }
        assert!(!Vocabulary::new("").has("able"));
    }

    #[test]
    fn lists_of_words_are_sorted() {
        for language in ALL {
            let lines = language.vocabulary.lines;
            let words: Vec<&str> = lines.lines().collect();
            assert!(words.len() > 40_000 && words.is_sorted(), "{}", language.code);
            for word in words.iter().step_by(997).chain(words.first()).chain(words.last()) {
                assert!(language.vocabulary.has(word), "{word}");
            }
        }
    }
}
