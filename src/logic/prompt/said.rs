//! People's words as data: one line, no square brackets, bounded length.
//!
//! Entry types: [`SideLine`] lines and [`Recalled`] memories.

use crate::domain::{PersonId, is_framed};

/// Longest description of an entity, in characters.
pub(super) const LONGEST_FACT: usize = 400;
/// Longest text of one person, and of all overheard lines together, in characters.
pub(super) const LONGEST_TEXT: usize = 2_000;
pub(super) const LONGEST_NAME: usize = 64;

/// Replaces the utterance when a late result makes the NPC speak.
pub const FOLLOW_UP: &str = "[What you called earlier has ended. Tell the table what came of it.]";
/// Follows what the NPC has said of an answer that another model is to finish.
pub const GO_ON: &str = "[You have said this much aloud, and stopped in the middle. Go on from there, \
     and repeat nothing of it.]";
/// Asks for the opening sentence of an answer that another model continues.
pub const OPEN: &str = "[Say only the first sentence of your answer, a short one of at most fifteen \
     words; the rest follows later. State no number in it, and no result of a roll, of a look-up or of \
     anything else that would have to be found out first. If nothing more needs to be said after it, \
     write ## behind it.]";
/// Follows an opening sentence that needs no more.
pub const NOTHING_MORE: &str = "##";
/// Replaces words that the model hears itself.
pub const HEARD_ITSELF: &str = "(you hear the words themselves)";

/// A line that an NPC heard without being asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideLine {
    /// Name that NPCs use for the speaker.
    pub speaker: String,
    /// The speaker or, for an NPC's line, the person it answered.
    pub by: Option<PersonId>,
    pub text: String,
    /// Addressed to the NPC, whose answer was not audible.
    pub unanswered: bool,
}

impl SideLine {
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.speaker, &self.by, &self.text) == (&other.speaker, &other.by, &other.text)
    }

    /// True if it includes words from outside, which may contain instructions.
    pub fn is_from_outside(&self) -> bool {
        is_framed(&self.text)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recalled {
    /// Relations to others ("owes Mira").
    pub relations: Vec<String>,
    /// Knowledge of things named ("Mira (person): a thief").
    pub named: Vec<String>,
    /// Earlier lines ("Wren to Bartok, 3 days ago: I promise").
    pub said: Vec<String>,
    pub last_session: Vec<String>,
    /// Some of it is not for everyone's ears.
    pub is_gated: bool,
}

impl Recalled {
    pub fn len(&self) -> usize {
        self.relations.len() + self.named.len() + self.said.len() + self.last_session.len()
    }

    /// All lines, in the order of the turn's message.
    pub fn all(&self) -> impl Iterator<Item = &String> {
        let Self { relations, named, last_session, said, .. } = self;
        relations.iter().chain(named).chain(last_session).chain(said)
    }

    /// Lines for a turn's message that contains `side_lines`.
    pub(super) fn lines(&self, side_lines: &[SideLine]) -> Vec<String> {
        let is_new = |line: &&String| !side_lines.iter().any(|it| line.ends_with(&it.text));
        let parts = [
            ("[You stand to others so:]", &self.relations),
            ("[What you know of what is spoken of:]", &self.named),
            ("[Of the last session you remember:]", &self.last_session),
            ("[Said in your hearing before; use it only if it matters now:]", &self.said),
        ];
        let mut lines = Vec::new();
        for (title, told) in parts {
            let told = told.iter().filter(is_new);
            let told = told.map(|line| format!("- {}", said(line, LONGEST_FACT)));
            let before = lines.len();
            lines.push(title.to_owned());
            lines.extend(told);
            if lines.len() == before + 1 {
                lines.pop();
            }
        }
        lines
    }
}

/// A person's text as data: on one line, without square brackets.
pub(super) fn said(text: &str, most: usize) -> String {
    let plain = |c| match c {
        '[' | '【' | '［' => '(',
        ']' | '】' | '］' => ')',
        other => other,
    };
    capped(&one_line(&text.chars().map(plain).collect::<String>()), most)
}

/// `text` on one line, without control characters and bidirectional marks.
pub(super) fn one_line(text: &str) -> String {
    let turns = |c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words = words.map(|word| word.replace(turns, "")).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// At most `most` characters of `text`; a cut ends in "…".
pub(super) fn capped(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

pub fn go_on_after(opener: &str) -> String {
    format!(
        "[You have begun your answer aloud with these words: {} Go on right after them. Repeat nothing \
         of them, do not greet, and do not ask the question again.]",
        said(opener, LONGEST_TEXT)
    )
}
