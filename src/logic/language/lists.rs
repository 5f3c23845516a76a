//! The lists of one language.
//!
//! Entry type: [`Language`].

use std::{collections::HashSet, sync::LazyLock};

use super::{
    requests::{CardTalk, MoreTalk},
    vocabulary::Vocabulary,
};
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
    /// All its words.
    pub vocabulary: &'static Vocabulary,
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
    /// Names of a kind of thing: in prompts first (where they are written in this language),
    /// then in topics; folded.
    pub kind: fn(EntityKind) -> List,
    /// Utterances of these words alone are no answer to anybody.
    pub fillers: List,
    /// Words before a name at the end that make it the matter, not the person spoken to.
    pub objects: List,
    /// Words that join names called together.
    pub joining: List,
    /// Words that may come before the name of an addressee.
    pub openers: List,
    /// Words that may come after the name of an addressee.
    pub tails: List,
    /// Openers that call an addressee even without a comma.
    pub calls: List,
    /// Phrases before the speaker's own name, as written: "my name is".
    pub introducing: List,
    /// Greetings, folded.
    pub greetings: List,
    /// Words that never stand for a name.
    pub function_words: List,
    /// Titles, callings and epithets many people share.
    pub roles: List,
    /// Words of at most three letters that may stand before a colon, beside `ordinary`; `vocabulary` has only
    /// longer ones.
    pub short_words: List,
    /// Words in names that identify no one on their own ("the", "old").
    pub name_fillers: List,
    /// Words that may stand before a spoken command.
    pub before_command: List,
    /// Words that may stand after one.
    pub after_command: List,
    /// Whole utterances and what they order; `@` stands for an NPC's name, `*` for any words.
    pub commands: &'static [(&'static str, Order)],
    /// Verbs of going on, which end an X-card; of one word or several.
    pub go_on: List,
    /// Words that may stand beside them.
    pub beside_go_on: List,
    /// Beginnings of a question whether to go on.
    pub asks_to_go_on: List,
    /// Words that stop an NPC, at the start of an utterance or as all of it; where one begins
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
    /// Phrases that mean the session before.
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
    /// Words before a noun that everyone knows, folded.
    pub definite: List,
    /// Every noun is written with a capital letter, not names alone.
    pub nouns_have_capitals: bool,
    /// Words at the end of a finished or unfinished utterance.
    pub endings: &'static Endings,
    /// Words that decide the claims of a line, and their worth.
    pub wording: &'static Wording,
    /// Words that decide the addressee.
    pub turning: &'static Turning,
    /// Phrases at the beginning of answers.
    pub opening: &'static Beginnings,
    /// Words that look like actions by their ending and are none.
    pub no_actions: List,
    /// Verbs of acting and ways of speaking whose ending says too little.
    pub actions: List,
    /// Words that are a direction only where at most one more follows.
    pub short_actions: List,
    /// Pronouns of an actor.
    pub actors: List,
    /// Phrases about dice that roll none.
    pub dice: &'static DiceTalk,
    /// Words of wishes about music.
    pub music: &'static MusicTalk,
    /// Words around the X-card.
    pub card: &'static CardTalk,
    /// Words of requests for more of the same.
    pub more: &'static MoreTalk,
    /// Short forms of speech, folded, and the words they are short for: "haste", "hast du".
    pub short_forms: &'static [(&'static str, &'static str)],
    /// Words that make a lone "d six" a roll.
    pub dice_cues: List,
    /// Words behind which "d" names something else: "vitamin d six".
    pub lettered: List,
    /// Transcriptions of the "d" of dice.
    pub like_d: List,
}

/// Words of wishes about the music of a table; folded.
#[derive(Debug)]
pub struct MusicTalk {
    /// Names for music.
    pub nouns: List,
    /// Words that want it softer.
    pub softer: List,
    /// Words that want it louder.
    pub louder: List,
    /// Those of `softer` and `louder` that mean music without naming it, while it plays.
    pub alone: List,
    /// Verbs that mean it with a pronoun: "turn it down".
    pub turning: List,
    /// Words for loud music, which may be too much.
    pub loud: List,
    /// Words for soft music, which may be too little.
    pub soft: List,
    /// Words that want another track.
    pub next: List,
    /// Words that want none.
    pub stop: List,
    /// Verbs of playing.
    pub play: List,
    /// Those of `play` that mean only music or games.
    pub performing: List,
    /// Words of listeners who are tired of a track.
    pub weary: List,
    /// First words of questions.
    pub asking: List,
    /// Verbs for music that plays.
    pub running: List,
    /// Words before `loud` or `soft` that make it a complaint: "too".
    pub excess: List,
    /// Words for what sounds, in a complaint that names no music: "it".
    pub meant: List,
    /// Verbs of `next` that change to a track that is named: "switch".
    pub changing: List,
    /// Words beside the mood of a track that is wanted: "something".
    pub choosing: List,
    /// Verbs of needing, which end music with a negation.
    pub needing: List,
    /// Words that begin another request behind a wish: "and".
    pub apart: List,
    /// Further words that a wish may have.
    pub beside: List,
}

/// Phrases about dice that roll none; small, without apostrophes, words apart by a blank.
#[derive(Debug)]
pub struct DiceTalk {
    /// Verbs of rolling, now.
    pub rolling: List,
    /// Verbs of rolling, of what is over.
    pub rolled: List,
    /// Words against doing it: "do not".
    pub withheld: List,
    /// Times that are over: "yesterday".
    pub over: List,
    /// Words of a question about dice: "how many".
    pub asking: List,
    /// Words that choose a die: "my".
    pub whose: List,
    /// Of these, those with which a die begins a sentence only as an actor ("dein w20 rollt").
    pub subjects: List,
    /// Actions on dice as things: "lost".
    pub handled: List,
    /// Verbs of questions that want something done: "can"; folded.
    pub requests: List,
    /// Words that correct a roll just spoken: "i mean".
    pub instead: List,
    /// Words for chances: "odds".
    pub chances: List,
    /// Words that make a sentence with one of them a question.
    pub wondering: List,
    /// The last roll: "last roll".
    pub last: List,
    /// Questions about one's own roll: "did i".
    pub did: List,
    /// Words that allow a number and all below it: "or less".
    pub at_most: List,
    /// Verbs of rolling that mean dice even where none are named: "roll"; not "throw".
    pub meant: List,
    /// Words for a roll, made or to be made.
    pub throws: List,
    /// Phrases that repeat a roll: "the same".
    pub again: List,
    /// Phrases that repeat what was before, whatever it was: "one more".
    pub another: List,
    /// Further words of requests with [`Self::again`] or [`Self::another`]: "do that".
    pub beside_repeating: List,
    /// First words of questions about what dice showed.
    pub asking_shown: List,
    /// Words for a result, and verbs of getting one: "total".
    pub shown: List,
    /// Verbs that ask for a result again: "remind".
    pub telling_again: List,
    /// Further words of such questions.
    pub beside_shown: List,
    /// Words that ask for what dice showed, beside [`Self::throws`]: "tell".
    pub telling: List,
    /// Phrases for the roll before the last: "before that".
    pub before: List,
    /// Phrases that begin as a question and ask for a roll: "how about".
    pub suggesting: List,
    /// Words for dice that show the same: "doubles".
    pub doubles: List,
    /// Words behind "chance" or "odds": "of".
    pub of_what: List,
    /// Signs as words: "plus".
    pub adds: List,
    /// Their opposites: "minus".
    pub takes: List,
    /// Nouns for what is added to a roll: "bonus".
    pub bonuses: List,
    /// Their opposites: "penalty".
    pub penalties: List,
    /// Words between such a word and its number: "of".
    pub beside_bonus: List,
    /// Further words of an utterance that only tells a bonus: "I have".
    pub beside_told: List,
    /// Those of `beside_told` for the speaker: "my".
    pub own: List,
    /// Words between a bonus and its purpose or source: "for".
    pub sources: List,
    /// Checks and what they are made with, for which a d20 is rolled: "save", "perception".
    pub checks: List,
    /// Like [`Self::checks`], where advantage alone says too little: "attack".
    pub attacks: List,
    /// Words before "advantage" that make it something else: "the".
    pub no_advantage: List,
    /// Words that allow only numbers above: "more than".
    pub more: List,
    /// Words that allow only numbers below: "less than".
    pub less: List,
    /// Words that allow one number alone: "exactly".
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

/// Words that decide if an utterance is finished; folded.
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
    /// Words beside a called name without a message.
    pub calling: List,
    /// First words of questions: "what".
    pub asking: List,
    /// Verbs that begin questions: "can".
    pub verbs: List,
    /// Pronouns of an actor. Behind one of [`Self::asking`] they make it a clause: "what I do".
    pub subjects: List,
    /// First words of clauses that another one follows.
    pub leading: List,
    /// Words that begin a thing of a list.
    pub articles: List,
    /// Last words of a finished utterance.
    pub closing: List,
}

/// Words that tell what a line proves, and what of it is worth keeping; folded.
#[derive(Debug)]
pub struct Wording {
    /// Words that negate a sentence.
    pub negations: List,
    /// Words that turn a fact into a possibility.
    pub hedges: List,
    /// Words that turn a fact into a future one.
    pub coming: List,
    /// Verbs of saying.
    pub reporting: List,
    /// Of these, those of asking.
    pub asking: List,
    /// The speaker.
    pub me: List,
    /// The listener.
    pub you: List,
    /// A third person who was named before.
    pub others: List,
    /// Endings of words that leave their meaning.
    pub endings: List,
    /// Forms of "to be", which also form the passive.
    pub being: List,
    /// Words before the actor of a passive, or before the person something was taken from.
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
    /// The speaker with others.
    pub us: List,
    /// Names for the players as a group.
    pub party: List,
    /// Several who were named before.
    pub they: List,
    /// Endings of plurals.
    pub several: List,
    /// Words that set a clause against the one before it.
    pub but: List,
    /// Words before the name of a person who was described.
    pub called: List,
    /// Answers that say that it is not so.
    pub no: List,
    /// Words before a thing that a person does not have.
    pub lacking: List,
    /// Words before a thing that does not exist.
    pub none_of: List,
    /// Words that begin a clause with the reason of the one before it.
    pub reasons: List,
    /// Words that begin a question with its verb before the actor.
    pub turned: List,
    /// Words that begin a clause about the things at a place.
    pub places: List,
    /// Words that begin a question about the actor.
    pub askers: List,
    /// Verbs that a question begins with, and that stand for what was asked in its answer.
    pub helping: List,
    /// Words before the actor of a passive.
    pub by: List,
    /// Words before the receiver of a thing.
    pub to: List,
    /// Words that may begin a sentence before its verb and the actor.
    pub fronts: List,
    /// Words for the time of something, which may be said anywhere in a sentence.
    pub times: List,
    /// Words beside which the verb of what is done stands last.
    pub verb_last: List,
}

/// Words for addressing a person, and for speaking of one; folded.
#[derive(Debug)]
pub struct Turning {
    /// Verbs of the present with the listener right behind them: "ask".
    pub direct: List,
    /// Verbs of the present with a word of [`Self::towards`] between: "talk to".
    pub towards_somebody: List,
    /// Words between such a verb and a name.
    pub towards: List,
    /// Verbs with a word between that is theirs alone: "bedanke bei".
    pub with_their_own: List,
    /// Words that may follow a verb: "call over".
    pub particles: List,
    /// Words that may come between a verb of being and its subject: "where is now".
    pub adverbs: List,
    /// Players, of themselves.
    pub doers: List,
    /// Names for the players' characters: "my character".
    pub characters: List,
    /// Words that may come between the actor and the verb: "want to".
    pub lead_in: List,
    /// Words that continue a sentence's subject: "and".
    pub going_on: List,
    /// Words that may replace the subject: "let me".
    pub allowing: List,
    /// Verbs of wanting, where another verb ends the sentence.
    pub wishes: List,
    /// Verbs of turning at the end of a sentence.
    pub behind: List,
    /// Words that may precede a name or a role: "the".
    pub before_name: List,
    /// Words that make it no act of now: negations, conditions, the past.
    pub spoils: List,
    /// Of these, those that may come behind the name.
    pub spoils_behind: List,
    /// People at the table who are no NPCs.
    pub fellows: List,
    /// Phrases of what is said outside the game.
    pub asides: List,
    /// Verbs of whispering, as the speaker's own act.
    pub whispers: List,
    /// Words before a name at the end that make it the matter, beside [`Language::objects`].
    pub mentions: List,
    /// Verbs whose object behind "I" is the matter, unless a person is addressed.
    pub acted_on: List,
    /// Pronouns of the listener.
    pub listeners: List,
    /// Pronouns for the listener alone.
    pub addressed: List,
    /// Words that deny: the "not" of "not you".
    pub denying: List,
    /// Negated verbs beside the speaker and a verb of meaning: "didn't".
    pub denying_doers: List,
    /// Verbs of meaning, asking or talking to a person.
    pub meaning: List,
    /// Forms of them that need no speaker: "meant".
    pub meant: List,
    /// Words beside such a verb: "talking to".
    pub beside_meaning: List,
    /// Phrases that tell a person to wait, or end a talk: "not now".
    pub dismissing: List,
    /// Verbs behind a name at the start that describe its bearer.
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
