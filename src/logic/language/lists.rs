//! The lists of one language.
//!
//! Entry type: [`Language`].

use std::{collections::HashSet, sync::LazyLock};

use crate::{
    domain::EntityKind,
    logic::{command::order::Order, words::fold},
};

/// Words or phrases; folded ([`fold`]) where what they are held against is.
pub type List = &'static [&'static str];

/// The words of one language.
#[derive(Debug)]
pub struct Language {
    /// The language's code of ISO 639-1.
    pub code: &'static str,
    /// Its common words, folded.
    pub ordinary: &'static LazyLock<HashSet<String>>,
    /// The numbers from zero to nineteen.
    pub small_numbers: &'static [&'static str; 20],
    /// The tens from twenty to ninety.
    pub tens: &'static [&'static str; 8],
    /// What a kind of thing is called: in prompts first (where they are written in this language),
    /// then in topics; folded.
    pub kind: fn(EntityKind) -> List,
    /// Utterances of these words alone are no answer to anybody.
    pub fillers: List,
    /// Words before a name at the end that make it the matter, not the person spoken to.
    pub objects: List,
    /// Words that join names called together.
    pub joining: List,
    /// Words that may come before the name of somebody spoken to.
    pub openers: List,
    /// Words that may come after the name of somebody spoken to.
    pub tails: List,
    /// Openers that call somebody even without a comma.
    pub calls: List,
    /// Words that never stand for a name.
    pub function_words: List,
    /// Titles, callings and epithets many people share.
    pub roles: List,
    /// Words in names that identify nobody on their own ("the", "old").
    pub name_fillers: List,
    /// Words that may stand before a spoken command.
    pub before_command: List,
    /// Words that may stand after one.
    pub after_command: List,
    /// Whole utterances and what they order; `@` stands for an NPC's name, `*` for any words.
    pub commands: &'static [(&'static str, Order)],
    /// What makes an NPC stop when an utterance begins with it or is nothing else; where one begins
    /// with another, the longer one comes first.
    pub stops: List,
    /// Words that may stand beside stop words without making them something else.
    pub beside_stop: List,
    /// Words that only say "I am listening", and laughter.
    pub backchannels: List,
    /// Words that mean nothing without others. They, and single letters, are what recognisers first
    /// take a listening noise for.
    pub little: List,
    /// Words that stand in every question; shorter ones than three letters never count.
    pub plain: List,
    /// Words of every request, which tell no tool from another; folded.
    pub in_every_request: List,
    /// Words that carry no meaning in a question about rules; folded.
    pub in_every_rule_question: List,
    /// Words of the table, folded, and what tools, which are mostly described in English, call the
    /// same.
    pub in_english: &'static [(&'static str, &'static str)],
    /// What somebody says who means the session before.
    pub last_session: List,
    /// Words of topics and names that fit everything.
    pub connecting: List,
    /// The topic of those who know of everything.
    pub everything: &'static str,
    /// Abbreviations before a name or number; a sentence does not end here.
    pub titles: List,
    /// Abbreviations inside a sentence or at its end; the next word tells.
    pub either: List,
    /// Dotted abbreviations that always go on.
    pub dotted: List,
    /// Words after which "3." is an ordinal, where ordinals are written so.
    pub before_ordinal: List,
    /// Months, where their day is an ordinal ("3. Mai").
    pub ordinal_months: List,
    /// Words after which a capital letter is an initial, not an answer ("plan B.").
    pub before_initial: List,
    /// Phrases that ask for a deep turn. `word(s)` stands for the word with and without the ending.
    pub deep: List,
    /// Phrases that ask for a standard turn, written likewise.
    pub standard: List,
    /// Words that may stand between those of a phrase: "generate an image".
    pub between: List,
    /// Articles that names are written with, folded.
    pub articles: List,
    /// What stands before a noun that is known to everybody, folded.
    pub definite: List,
    /// Every noun is written with a capital letter, not names alone.
    pub nouns_have_capitals: bool,
    /// Last words after which more is to come.
    pub unfinished: List,
    /// What may stand beside a name that is called and not yet told anything.
    pub calling: List,
    /// Words that look like actions by their ending and are none.
    pub no_actions: List,
    /// Verbs of acting and ways of speaking whose ending says too little.
    pub actions: List,
    /// Words that are a direction only where at most one more follows.
    pub short_actions: List,
    /// Somebody who acts.
    pub actors: List,
    /// Words that make a lone "d six" a roll.
    pub dice_cues: List,
    /// Words behind which "d" names something else: "vitamin d six".
    pub lettered: List,
}

/// The words of a list of words, folded.
pub(super) fn folded(text: &str) -> HashSet<String> {
    text.split_whitespace().map(fold).collect()
}
