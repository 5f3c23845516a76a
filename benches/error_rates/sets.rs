//! Sentences to be spoken, in sets.

/// Sentences of one kind.
pub struct Set {
    /// Name in the figures.
    pub name: &'static str,
    /// One sentence a line, behind a bar the dice that are meant; lines with a number sign are
    /// comments.
    text: &'static str,
}

/// A sentence.
#[derive(Clone, Copy)]
pub struct Sentence {
    /// Spoken text.
    pub said: &'static str,
    /// The dice it wants rolled, where that is written down.
    pub dice: Option<&'static str>,
}

/// Sets of English sentences; prompts and vocabularies were tuned to the first three, to the others
/// nothing was.
pub const ENGLISH: [Set; 7] = [
    Set { name: "table talk", text: include_str!("../../tests/data/hearing_table_talk.txt") },
    Set { name: "off topic", text: include_str!("../../tests/data/hearing_off_topic.txt") },
    Set { name: "dice", text: include_str!("../../tests/data/hearing_dice.txt") },
    Set {
        name: "fresh table talk",
        text: concat!(
            include_str!("../../tests/data/hearing_fresh_table_talk.txt"),
            include_str!("../../tests/data/hearing_new_table_talk.txt"),
            include_str!("../../tests/data/hearing_last_table_talk.txt")
        ),
    },
    Set {
        name: "fresh off topic",
        text: concat!(
            include_str!("../../tests/data/hearing_fresh_off_topic.txt"),
            include_str!("../../tests/data/hearing_new_off_topic.txt"),
            include_str!("../../tests/data/hearing_last_off_topic.txt")
        ),
    },
    Set { name: "held-out dice", text: include_str!("../../tests/data/hearing_held_out_dice.txt") },
    Set {
        name: "held-out names",
        text: include_str!("../../tests/data/hearing_held_out_names.txt"),
    },
];
/// Sentences that are made worse, too.
pub const WORSE: Set = Set {
    name: "last table talk",
    text: include_str!("../../tests/data/hearing_last_table_talk.txt"),
};
/// German sentences.
pub const GERMAN: Set =
    Set { name: "german", text: include_str!("../../tests/data/hearing_german.txt") };
/// Made-up names in those sentences.
pub const NAMES: [&str; 17] = [
    "bartok",
    "greymantle",
    "mira",
    "quickfingers",
    "hale",
    "vesper",
    "elara",
    "thorin",
    "ravenford",
    "rodric",
    "sibyl",
    "marrow",
    "tamsin",
    "pell",
    "dunn",
    "nessa",
    "ashdown",
];

impl Set {
    /// Its sentences.
    pub fn sentences(&self) -> impl Iterator<Item = Sentence> {
        let lines = self.text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        lines.map(|line| match line.split_once(" | ") {
            Some((said, dice)) => Sentence { said, dice: Some(dice) },
            None => Sentence { said: line, dice: None },
        })
    }
}
