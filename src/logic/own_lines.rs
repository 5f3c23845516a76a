//! Cuts a model's text to the NPC's own part, when it goes on to write the lines of others.
//!
//! Entry type: [`OwnLines`], for the deltas of one answer in order. The answer ends at the label of
//! another speaker (`Wren:`, `**Wren** (quietly):`, `[Wren]`, `<Wren>`, `WREN` alone in a line)
//! that begins a line or sentence. Once the NPC has said something, a stranger's label ends it too:
//! one to three capitalised words, a colon and speech, if a word is in no language's lists or the
//! last is a role ("Smith"). Words of a language ("Price: Two coppers.", "Wren: Yes.") are a label
//! only in brackets, or at the beginning of a line before quoted speech. Text is held back only
//! while it may be such a label.
//! **Never**: takes a name inside a sentence for a label, or drops the NPC's own label (`speakable`
//! does).

use super::{
    language::{is_any, is_unlikely_name, is_word},
    words::fold,
};

/// Labels that models use for any speaker.
const ANYBODY: [&str; 18] = [
    "player",
    "user",
    "human",
    "you",
    "dm",
    "gm",
    "game master",
    "dungeon master",
    "narrator",
    "system",
    "spieler",
    "spielerin",
    "du",
    "sl",
    "spielleiter",
    "spielleitung",
    "erzähler",
    "nutzer",
];
const ITSELF: [&str; 2] = ["assistant", "npc"];
/// Longest stage direction after a name, in characters: "(from behind the counter)".
const LONGEST_DIRECTION: usize = 60;

/// Longest name of a stranger, in words, and longest label, in bytes.
const STRANGER_WORDS: usize = 3;
const STRANGER_BYTES: usize = 120;

/// Labels at a table, in lower case.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    others: Vec<String>,
    own: Vec<String>,
    /// First words of others' names, folded: a label that is one of them is not a stranger's.
    firsts: Vec<String>,
}

impl Labels {
    /// Labels of `others` and of any speaker, and those of an NPC with its `own` names.
    pub fn new<'n>(
        others: impl IntoIterator<Item = &'n str>,
        own: impl IntoIterator<Item = &'n str>,
    ) -> Self {
        let folded = |name: &str| name.trim().to_lowercase();
        let own: Vec<String> = own.into_iter().chain(ITSELF).map(folded).collect();
        let others: Vec<&str> = others.into_iter().collect();
        let is_own = |name: &str| own.contains(&folded(name));
        let firsts = others.iter().filter(|name| !is_own(name)).filter_map(|name| {
            let first = fold(name.trim().split_once(' ')?.0);
            (!is_unlikely_name(&first) && !is_any(|it| it.roles, &first)).then_some(first)
        });
        let firsts = firsts.collect();
        let others = others.into_iter().chain(ANYBODY).map(folded);
        let others = others.filter(|name| !name.is_empty() && !own.contains(name)).collect();
        Self { others, own, firsts }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beginning {
    Other,
    Own,
    Text,
    Open,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At the beginning of a line or sentence.
    AtStart {
        of_line: bool,
    },
    /// Within one; `has_ended`: the last character may end it.
    Within {
        has_ended: bool,
    },
    Skipping,
    Over,
}

/// Filters the NPC's own part of one answer.
#[derive(Clone, Debug)]
pub struct OwnLines<'l> {
    labels: &'l Labels,
    state: State,
    held: String,
    has_said: bool,
}

impl<'l> OwnLines<'l> {
    pub const fn new(labels: &'l Labels) -> Self {
        Self {
            labels,
            state: State::AtStart { of_line: true },
            held: String::new(),
            has_said: false,
        }
    }

    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// Takes in `delta`; returns the NPC's own part of it and of the text held back.
    pub fn push(&mut self, delta: &str) -> String {
        let mut own = String::with_capacity(self.held.len() + delta.len());
        for c in delta.chars() {
            self.take(c, &mut own);
        }
        own
    }

    /// Text held back as a possible label.
    pub fn held(&self) -> &str {
        &self.held
    }

    /// Ends the answer; returns the text held back.
    pub fn finish(&mut self) -> String {
        if self.state == State::Over { String::new() } else { std::mem::take(&mut self.held) }
    }

    fn take(&mut self, c: char, own: &mut String) {
        match self.state {
            State::Over => {}
            State::Skipping if c == '\n' => self.state = State::AtStart { of_line: true },
            State::Skipping => {}
            State::Within { has_ended } => {
                own.push(c);
                self.has_said |= c.is_alphanumeric();
                self.state = match c {
                    '\n' => State::AtStart { of_line: true },
                    c if c.is_whitespace() && has_ended => State::AtStart { of_line: false },
                    '.' | '!' | '?' | '…' => State::Within { has_ended: true },
                    '"' | '”' | '»' | '*' | '_' | ')' | ']' => State::Within { has_ended },
                    _ => State::Within { has_ended: false },
                };
            }
            State::AtStart { of_line } => {
                self.held.push(c);
                match self.labels.beginning(&self.held, self.has_said, of_line) {
                    Beginning::Open => {}
                    Beginning::Other if self.has_said => {
                        self.held.clear();
                        self.state = State::Over;
                    }
                    Beginning::Other => {
                        self.held.clear();
                        self.state = State::Skipping;
                    }
                    Beginning::Own => {
                        own.push_str(&std::mem::take(&mut self.held));
                        self.state = State::Within { has_ended: false };
                    }
                    Beginning::Text => self.release(own),
                }
            }
        }
    }

    /// Passes on the held text character by character: another line may begin within it.
    fn release(&mut self, own: &mut String) {
        let held = std::mem::take(&mut self.held);
        self.state = State::Within { has_ended: false };
        for c in held.chars() {
            self.take(c, own);
        }
    }
}

impl Labels {
    /// How `text` begins; strangers' labels count only once `has_said`.
    fn beginning(&self, text: &str, has_said: bool, of_line: bool) -> Beginning {
        let is_mark = |c: char| c.is_whitespace() || "*_#>-•~`[<({\"“„".contains(c);
        let name = text.trim_start_matches(is_mark);
        if name.is_empty() {
            return Beginning::Open;
        }
        let before = text.get(..text.len() - name.len()).unwrap_or_default();
        let opened = before.trim_end().chars().next_back();
        let is_open = |labels: &[String], yes: Beginning| {
            let found = labels.iter().map(|label| behind(name, label, opened));
            found.fold(Beginning::Text, |best, found| match (best, found) {
                (Beginning::Text, Behind::Label) => yes,
                (Beginning::Text, Behind::Open) => Beginning::Open,
                (Beginning::Open, Behind::Label) => yes,
                _ => best,
            })
        };
        match is_open(&self.own, Beginning::Own) {
            Beginning::Text => match is_open(&self.others, Beginning::Other) {
                Beginning::Text if has_said => {
                    self.stranger(name, opened, of_line || before.contains('\n'))
                }
                found => found,
            },
            found => found,
        }
    }

    /// How `text` begins after the mark `opened`, without a known label.
    fn stranger(&self, text: &str, opened: Option<char>, of_line: bool) -> Beginning {
        let is_name = |c: char| c.is_alphabetic() || matches!(c, ' ' | '-' | '\'' | '’');
        let rest = text.trim_start_matches(is_name);
        let name = text.get(..text.len() - rest.len()).unwrap_or_default();
        let words: Vec<&str> = name.split(' ').filter(|word| !word.is_empty()).collect();
        let is_capital = |word: &&str| word.starts_with(char::is_uppercase);
        if words.is_empty()
            || words.len() > STRANGER_WORDS
            || text.len() > STRANGER_BYTES
            || !words.iter().all(is_capital)
        {
            return Beginning::Text;
        }
        let naming = if rest.is_empty() { Naming::Name } else { self.naming(name) };
        let Some((before, speech)) = rest.split_once([':', '：']) else {
            return match after_name(rest, false) {
                Behind::Open if naming != Naming::Ordinary => Beginning::Open,
                _ => Beginning::Text,
            };
        };
        if naming == Naming::Ordinary || after_name(before, false) == Behind::Text {
            return Beginning::Text;
        }
        if opened == Some('[') && before.starts_with(']') {
            return Beginning::Other;
        }
        let is_sure = naming == Naming::Name;
        let speech = speech.trim_start_matches([' ', '*', '_', '\r']);
        let first = speech.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        let is_begun = first.len() == speech.len();
        match speech.chars().next() {
            None => Beginning::Open,
            // Text in the first person is speech.
            Some(_) if !is_begun && matches!(first, "I" | "Ich") => Beginning::Other,
            Some('I') if is_begun && !is_sure && "Ich".starts_with(first) => Beginning::Open,
            Some(c) if "\"“„«»".contains(c) && (is_sure || of_line) => Beginning::Other,
            Some(c) if is_sure && (c.is_uppercase() || "(\n".contains(c)) => Beginning::Other,
            Some(_) => Beginning::Text,
        }
    }

    /// How surely `name` names a stranger.
    fn naming(&self, name: &str) -> Naming {
        let words: Vec<String> =
            name.split([' ', '-']).filter(|word| !word.is_empty()).map(fold).collect();
        let is_name = |word: &String| {
            let is_known =
                is_unlikely_name(word) || is_word(word) || is_any(|it| it.short_words, word);
            !is_known || self.firsts.contains(word)
        };
        let is_role = words.last().is_some_and(|word| is_any(|it| it.roles, word));
        if is_role || words.iter().any(is_name) {
            Naming::Name
        } else if words.iter().all(|word| is_unlikely_name(word)) {
            Naming::Ordinary
        } else {
            Naming::Word
        }
    }
}

/// How surely the words before a colon name a stranger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Naming {
    /// One is in no language, or the last is a role ("Schmied: Halt!").
    Name,
    /// Words of a language that may be names: "Price", "Wren".
    Word,
    Ordinary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behind {
    Label,
    /// The name is plain text or part of another name.
    Text,
    Open,
}

/// Looks for `label` as a speaker's name at the beginning of `text`, after the mark `opened`.
fn behind(text: &str, label: &str, opened: Option<char>) -> Behind {
    let mut rest = text.chars();
    for expected in label.chars() {
        match rest.next() {
            None => return Behind::Open,
            Some(c) if c.to_lowercase().eq([expected]) => {}
            Some(_) => return Behind::Text,
        }
    }
    let name = text.get(..text.len() - rest.as_str().len()).unwrap_or_default();
    let is_loud =
        name.chars().filter(|c| c.is_alphabetic()).count() > 2 && *name == name.to_uppercase();
    let closes = match opened {
        Some('[') => Some(']'),
        Some('<') => Some('>'),
        _ => None,
    };
    let is_marked = is_loud || matches!(opened, Some('*' | '_' | '#' | '[' | '<'));
    let rest = rest.as_str();
    if closes.is_some_and(|closing| rest.starts_with(closing)) {
        return Behind::Label;
    }
    after_name(rest, is_marked)
}

/// Judges `rest`, the text after a name; a name with marks may be alone in its line.
fn after_name(rest: &str, is_marked: bool) -> Behind {
    let mut rest = rest.chars();
    while let Some(c) = rest.next() {
        match c {
            ':' | '：' => return Behind::Label,
            '\n' if is_marked => return Behind::Label,
            ' ' | '*' | '_' | '`' | ']' | '>' | '"' | '”' | '#' | '\r' => {}
            c if c.is_ascii_digit() => {}
            '(' | '[' => {
                let closing = if c == '(' { ')' } else { ']' };
                match rest.by_ref().take(LONGEST_DIRECTION).find(|c| *c == closing || *c == '\n') {
                    Some('\n') => return Behind::Text,
                    Some(_) => {}
                    None if rest.as_str().is_empty() => return Behind::Open,
                    None => return Behind::Text,
                }
            }
            _ => return Behind::Text,
        }
    }
    Behind::Open
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels() -> Labels {
        let others = ["Wren", "Mira Quickfingers", "Mira", "Captain Hale", "Jürgen", "Heron Vale"];
        Labels::new(others, ["Bartok the Barkeep", "Bartok"])
    }

    /// Filters `text` in deltas of `size` characters; also returns whether the answer is over.
    fn own(text: &str, size: usize) -> (String, bool) {
        let labels = labels();
        let mut lines = OwnLines::new(&labels);
        let chars: Vec<char> = text.chars().collect();
        let mut said: String =
            chars.chunks(size).map(|delta| lines.push(&String::from_iter(delta))).collect();
        said.push_str(&lines.finish());
        (said.trim_end().to_owned(), lines.is_over())
    }

    #[test]
    fn answer_ends_at_anothers_label() {
        for (text, said) in [
            ("Have a seat.\nWren: I sit down.\nMira: Me too.", "Have a seat."),
            ("Have a seat. Wren: I sit down.", "Have a seat."),
            ("Have a seat.\n\n**Wren:** I sit.", "Have a seat."),
            ("Have a seat.\n**Wren**: I sit.", "Have a seat."),
            ("Have a seat.\n**Mira Quickfingers** (grinning): Me too.", "Have a seat."),
            ("Have a seat.\n[Wren] I sit.", "Have a seat."),
            ("Have a seat.\n<wren> I sit.", "Have a seat."),
            ("Have a seat.\n### Wren\nI sit.", "Have a seat."),
            ("Have a seat.\nWREN\nI sit.", "Have a seat."),
            ("Have a seat.\n> Wren: I sit.", "Have a seat."),
            ("Have a seat.\n- Captain Hale [sternly]: Sit.", "Have a seat."),
            (
                "*wipes the counter* Have a seat.\nJÜRGEN: Danke.",
                "*wipes the counter* Have a seat.",
            ),
            ("Have a seat!\nPlayer: I sit.", "Have a seat!"),
            ("Have a seat!\nPlayer 1: I sit.", "Have a seat!"),
            ("\"Have a seat.\" DM: He sits.", "\"Have a seat.\""),
            ("Setz dich.\nSpielleiter: Er setzt sich.", "Setz dich."),
            ("Have a seat.\nYou: thanks\nBartok: More?", "Have a seat."),
            (
                "Bartok: Have a seat.\nBartok: Ale?\nWren: Yes.",
                "Bartok: Have a seat.\nBartok: Ale?",
            ),
        ] {
            for size in [1, 3, 1_000] {
                assert_eq!(own(text, size), (said.to_owned(), true), "{text}");
            }
        }
    }

    #[test]
    fn anothers_line_before_it_is_passed_over() {
        for (text, said) in [
            ("Wren: What news?\nBartok: None.", "Bartok: None."),
            ("Player: hello\nassistant: Aye.", "assistant: Aye."),
            ("Wren: What news?", ""),
        ] {
            for size in [1, 4, 1_000] {
                assert_eq!(own(text, size), (said.to_owned(), false), "{text}");
            }
        }
    }

    #[test]
    fn names_in_what_it_says_itself_stay() {
        for text in [
            "Wren, have a seat.",
            "Ask Wren: she knows. I told Mira: no.",
            "Mira? Mira took it. Wren saw her.\nCaptain Hale did not.",
            "Wren (the tall one) owes me. Mira's debt is older.",
            "Two things: ale and stew.",
            "Miracles: none today. Players come and go.",
            "*Wren* is a bird. [Wren sits down] Aye.",
            "You there! Sit.\nUser fees are 2 gold.",
            "Hm. W",
            "Aye. Wren",
            "1. Wren\n2. Mira",
        ] {
            for size in [1, 2, 1_000] {
                assert_eq!(own(text, size), (text.trim_end().to_owned(), false), "{text}");
            }
        }
    }

    #[test]
    fn strangers_label_ends_an_answer() {
        for (text, said) in [
            ("Have a seat. Odo: I sit down.", "Have a seat."),
            ("Have a seat.\nOld Nessa (quietly): Me too.", "Have a seat."),
            ("Have a seat. [Odo]: hm?", "Have a seat."),
            ("Have a seat.\n**Odo:** I sit.", "Have a seat."),
            ("Setz dich. Ödi Groß: „Danke.“", "Setz dich."),
            ("Setz dich. Schmied: Guten Abend.", "Setz dich."),
            ("Have a seat. Old Smith: I sit.", "Have a seat."),
            ("Have a seat. Heron: I sit.", "Have a seat."),
            ("Have a seat.\nWillow: “I sit.”", "Have a seat."),
            ("Have a seat. \nWillow: \"I sit.\"", "Have a seat."),
            ("Have a seat. [Willow]: hm?", "Have a seat."),
            ("Have a seat. Willow: I sit down.", "Have a seat."),
            ("Setz dich. Amsel: Ich stehe lieber.", "Setz dich."),
            ("Setz dich.\nAmsel: „Danke.“", "Setz dich."),
            ("Setz dich. [Amsel]: Danke.", "Setz dich."),
        ] {
            for size in [1, 3, 1_000] {
                assert_eq!(own(text, size), (said.to_owned(), true), "{text}");
            }
        }
        for text in [
            "Odo: I sit down.",
            "Aye. Odo: the ferryman.",
            "Aye. Remember: No fire. Listen: He comes. Yes: Go.",
            "Aye. Crow Black: two coppers. Then: Sleep.",
            "Aye. [Nods] Take it. At 12:30 He left.",
            "Aye. Odo said: Run! Odo",
            "Merkt euch. Also: Kein Wort. Nein: Niemals.",
            "Nun gut. Vorschlag: Wir gehen. Preis: Zwei Kupfer.",
            "Aye. Price: Two coppers. Warning: Wolves. Tip: Pay. Big News: None.",
            "Aye.\nRule: Never lend.\nAle: Two coppers.",
            "Aye. House Rule: Never lend. Self-Defence: Allowed.",
            "Aye. Willow: A tree. Willow: “Keep out.”",
            "Aye. Remember: “No fire.”",
            "Nun gut. Rat: Geht nicht. Mut: Habt ihr. Eid: Kein Wort.",
            "Nun gut.\nBedingung: Kein Wort.\nOrt: Die Mühle.",
        ] {
            for size in [1, 2, 1_000] {
                assert_eq!(own(text, size), (text.to_owned(), false), "{text}");
            }
        }
    }

    #[test]
    fn text_waits_only_while_it_may_be_a_label() {
        let labels = labels();
        let mut lines = OwnLines::new(&labels);
        assert_eq!(lines.push("Aye."), "Aye.");
        assert_eq!(lines.push(" Wr"), " ");
        assert_eq!(lines.push("en,"), "Wren,");
        assert_eq!(lines.push(" sit.\nMira "), " sit.\n");
        assert_eq!(lines.push("(softly"), "");
        assert_eq!(lines.push("): no. Mira"), "");
        assert!(lines.is_over() && lines.finish().is_empty());
    }
}
