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
    /// Further words of it, folded, that tell it from others; words that it shares with another
    /// language stand with both.
    pub telling: &'static LazyLock<HashSet<String>>,
    /// Endings of words that tell it from others, folded.
    pub word_endings: List,
    /// Letters that tell it from others.
    pub letters: &'static str,
    /// The letter of dice, where no other language writes it so: "w" of "2w6".
    pub die: &'static str,
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
    /// Phrases that ask to be shown something.
    pub shows: List,
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
    /// What tells whether somebody has finished.
    pub endings: &'static Endings,
    /// What tells what a line proves, and what is worth keeping.
    pub wording: &'static Wording,
    /// What tells to whom somebody turns.
    pub turning: &'static Turning,
    /// Phrases at the beginning of answers.
    pub opening: &'static Beginnings,
    /// Words that look like actions by their ending and are none.
    pub no_actions: List,
    /// Verbs of acting and ways of speaking whose ending says too little.
    pub actions: List,
    /// Words that are a direction only where at most one more follows.
    pub short_actions: List,
    /// Somebody who acts.
    pub actors: List,
    /// How players speak of dice without rolling them.
    pub dice: &'static DiceTalk,
    /// Words that make a lone "d six" a roll.
    pub dice_cues: List,
    /// Words behind which "d" names something else: "vitamin d six".
    pub lettered: List,
    /// What recognisers write for the "d" of dice.
    pub like_d: List,
}

/// How players speak of dice without rolling them; small, without apostrophes, words apart by a blank.
#[derive(Debug)]
pub struct DiceTalk {
    /// Verbs of rolling, now.
    pub rolling: List,
    /// Verbs of rolling, of what is over.
    pub rolled: List,
    /// That it is not to be done: "do not".
    pub withheld: List,
    /// Times that are over: "yesterday".
    pub over: List,
    /// What makes it a question about dice: "how many".
    pub asking: List,
    /// Whose or which die it is: "my".
    pub whose: List,
    /// Of these, those with which a die begins a sentence only as somebody who acts ("dein w20 rollt").
    pub subjects: List,
    /// What is done with dice that are things: "lost".
    pub handled: List,
    /// Verbs of questions that want something done: "can"; folded.
    pub requests: List,
    /// What corrects a roll that was just said: "i mean".
    pub instead: List,
    /// Words for chances: "odds".
    pub chances: List,
    /// What makes a sentence with one of them a question.
    pub wondering: List,
    /// The last roll: "last roll".
    pub last: List,
    /// That somebody asks what they have rolled: "did i".
    pub did: List,
    /// What allows a number and all below it: "or less".
    pub at_most: List,
    /// What allows only what is above a number: "more than".
    pub more: List,
    /// What allows only what is below it: "less than".
    pub less: List,
    /// What allows one number alone: "exactly".
    pub exactly: List,
}

/// Phrases at the beginning of answers, and talk that is answered in a sentence; folded.
#[derive(Debug)]
pub struct Beginnings {
    /// Sounds before the first word that means something.
    pub interjections: List,
    /// Greetings.
    pub greetings: List,
    /// Farewells.
    pub farewells: List,
    /// Words that may stand beside both: "there", "my", "friend".
    pub beside: List,
    /// Beginnings of an answer that takes back what was said.
    pub starting_over: List,
    /// Phrases around a question that is asked again before it is answered: "you ask".
    pub asking_back: List,
    /// Words of quantity that tell no question from another, beside those of every request.
    pub quantities: List,
    /// Words that say no.
    pub no: List,
}

/// Words that tell whether somebody has finished; folded.
#[derive(Debug)]
pub struct Endings {
    /// Last words after which more is to come.
    pub unfinished: List,
    /// Last words after which more is to come, but in a question ("what for").
    pub prepositions: List,
    /// Last words that leave open whether more is to come.
    pub open: List,
    /// Of these, those that belong to a verb and end a question: "are we still on".
    pub particles: List,
    /// What may stand beside a name that is called and not yet told anything.
    pub calling: List,
    /// First words of questions: "what".
    pub asking: List,
    /// Verbs that begin questions: "can".
    pub verbs: List,
    /// Who acts, in a word. Behind one of [`Self::asking`] they make it a clause: "what I do".
    pub subjects: List,
    /// First words of clauses that another one follows.
    pub leading: List,
    /// Words that begin a thing of a list.
    pub articles: List,
    /// Last words of somebody who has said all.
    pub closing: List,
}

/// Words that tell what a line proves, and what of it is worth keeping; folded.
#[derive(Debug)]
pub struct Wording {
    /// What turns a sentence into its opposite.
    pub negations: List,
    /// What makes of something that is something that might be.
    pub hedges: List,
    /// What makes of something that is something to come.
    pub coming: List,
    /// Verbs of saying.
    pub reporting: List,
    /// Of these, those of asking.
    pub asking: List,
    /// Whoever speaks.
    pub me: List,
    /// Whoever is spoken to.
    pub you: List,
    /// Somebody else, who was named before.
    pub others: List,
    /// Endings of words that leave their meaning.
    pub endings: List,
    /// Forms of "to be", which also make of doing something that is done to somebody.
    pub being: List,
    /// Words before whoever did what was done, or before whom it was taken from.
    pub turning: List,
    /// Words with which another clause begins.
    pub clauses: List,
    /// Answers that say that it is so.
    pub yes: List,
    /// Money and what is owed.
    pub rewards: List,
    /// Words of promising.
    pub promises: List,
    /// Forms of one word that share no beginning, or too short a one: "give", "gave".
    pub forms: &'static [List],
    /// Whoever speaks, with others.
    pub us: List,
    /// What those who play are called together.
    pub party: List,
    /// Several who were named before.
    pub they: List,
    /// How words end that mean several.
    pub several: List,
    /// What sets a clause against the one before it.
    pub but: List,
    /// Before the name of somebody who was described.
    pub called: List,
    /// Answers that say that it is not so.
    pub no: List,
    /// Before what somebody does not have.
    pub lacking: List,
    /// Before what there is none of.
    pub none_of: List,
    /// What a clause begins with that gives the reason of the one before it.
    pub reasons: List,
    /// What a question begins with that has its verb before whoever does it.
    pub turned: List,
    /// What a clause begins with that says what is at a place.
    pub places: List,
    /// Who did something, as a question begins.
    pub askers: List,
    /// Verbs that a question begins with, and that stand for what was asked in its answer.
    pub helping: List,
    /// Before whoever did what was done.
    pub by: List,
    /// Before whomever something is given.
    pub to: List,
    /// What a sentence may begin with before its verb and whoever does it.
    pub fronts: List,
    /// When something is, which may be said anywhere in a sentence.
    pub times: List,
    /// Words beside which the verb of what is done stands last.
    pub verb_last: List,
}

/// Words of turning to somebody, and of speaking of somebody; folded.
#[derive(Debug)]
pub struct Turning {
    /// Verbs of the present with whoever is spoken to right behind them: "ask".
    pub direct: List,
    /// Verbs of the present with a word of [`Self::towards`] between: "talk to".
    pub towards_somebody: List,
    /// What stands between such a verb and a name.
    pub towards: List,
    /// Verbs with a word between that is theirs alone: "bedanke bei".
    pub with_their_own: List,
    /// What may stand beside a verb: "call over".
    pub particles: List,
    /// What may stand between a verb of being and whom it is about: "where is now".
    pub adverbs: List,
    /// Players, of themselves.
    pub doers: List,
    /// What players call whom they play: "my character".
    pub characters: List,
    /// What may stand between the one who acts and the verb: "want to".
    pub lead_in: List,
    /// What goes on with a sentence's subject: "and".
    pub going_on: List,
    /// What may stand for the subject: "let me".
    pub allowing: List,
    /// Verbs of wanting, where another verb ends the sentence.
    pub wishes: List,
    /// Verbs of turning at the end of a sentence.
    pub behind: List,
    /// What may stand before a name or a role: "the".
    pub before_name: List,
    /// Words that make it no act of now: negations, conditions, the past.
    pub spoils: List,
    /// Of these, those that may come behind the name.
    pub spoils_behind: List,
    /// People at the table who are no NPCs.
    pub fellows: List,
    /// Phrases of what is said outside the game.
    pub asides: List,
    /// Words before a name at the end that make it the matter, beside [`Language::objects`].
    pub mentions: List,
    /// Verbs whose object behind "I" is the matter, unless somebody is spoken to.
    pub acted_on: List,
    /// Whoever is spoken to.
    pub listeners: List,
    /// Verbs behind a name at the start that tell of whoever has it.
    pub told_of: List,
    /// Verbs that do so too, unless a word of [`Self::asked`] follows: "is".
    pub being: List,
    /// Words behind such a verb with which a question begins: "there".
    pub asked: List,
}

/// The words of a list of words, folded.
pub(super) fn folded(text: &str) -> HashSet<String> {
    text.split_whitespace().map(fold).collect()
}
