//! The word lists of one language.
//!
//! Entry type: [`Language`].

use std::{collections::HashSet, sync::LazyLock};

use super::vocabulary::{CardTalk, ListenerTalk, MoreTalk, TurningAway, Vocabulary};
use crate::{
    domain::EntityKind,
    logic::{command::order::Order, words::fold},
};

/// Words or phrases, folded ([`fold`]) where they are compared with folded text.
pub type List = &'static [&'static str];

#[derive(Debug)]
pub struct Language {
    /// ISO 639-1.
    pub code: &'static str,
    /// Common words, folded.
    pub ordinary: &'static LazyLock<HashSet<String>>,
    /// Further words that identify the language, folded; a shared word is in both lists.
    pub telling: &'static LazyLock<HashSet<String>>,
    pub vocabulary: &'static Vocabulary,
    pub word_endings: List,
    pub letters: &'static str,
    /// The letter of dice, if unique to the language: "w" of "2w6".
    pub die: &'static str,
    pub small_numbers: &'static [&'static str; 20],
    pub tens: &'static [&'static str; 8],
    /// Names of a kind of thing, folded; the first is for prompts, the others for topics.
    pub kind: fn(EntityKind) -> List,
    /// An utterance of these words alone addresses no NPC.
    pub fillers: List,
    /// Words before a name at the end that make it the subject rather than the addressee.
    pub objects: List,
    pub joining: List,
    /// Words before the name of an addressee.
    pub openers: List,
    /// Words after the name of an addressee.
    pub tails: List,
    pub calls: List,
    /// Phrases before the speaker's own name, unfolded: "my name is".
    pub introducing: List,
    pub greetings: List,
    /// Words that are never a misheard name.
    pub function_words: List,
    /// Titles, callings and epithets shared by many people.
    pub roles: List,
    /// Words of up to three letters before a colon, which `vocabulary` omits.
    pub short_words: List,
    pub name_fillers: List,
    pub before_command: List,
    pub after_command: List,
    /// Spoken commands; `@` is an NPC's name, `*` any words.
    pub commands: &'static [(&'static str, Order)],
    /// Words and phrases for continuing, which end an X-card.
    pub go_on: List,
    pub beside_go_on: List,
    /// Beginnings of a question whether to go on.
    pub asks_to_go_on: List,
    /// Words that stop an NPC, longer phrases first.
    pub stops: List,
    /// Words beside stop words that leave them stop words.
    pub beside_stop: List,
    /// Listening noises and laughter.
    pub backchannels: List,
    /// Words that mean nothing alone; recognisers hear them in a listening noise.
    pub little: List,
    /// Words of every question; words under three letters never count.
    pub plain: List,
    /// Words of every request, which distinguish no tools; folded.
    pub in_every_request: List,
    /// Words without meaning in a question about rules; folded.
    pub in_every_rule_question: List,
    /// Ordinary words of questions and of play, which say little about the rule that is meant; folded.
    pub in_any_question: List,
    /// Words of the table, folded, with their English names in tools' descriptions.
    pub in_english: &'static [(&'static str, &'static str)],
    pub last_session: List,
    /// Words in topics and names that match everything.
    pub connecting: List,
    pub everything: &'static str,
    /// Abbreviations before a name or number, which end no sentence.
    pub titles: List,
    /// Abbreviations inside a sentence or at its end; the next word decides.
    pub either: List,
    /// Dotted abbreviations that end no sentence.
    pub dotted: List,
    pub before_ordinal: List,
    pub ordinal_months: List,
    /// Words before an initial that is no name ("plan B.").
    pub before_initial: List,
    pub shows: List,
    /// Phrases that ask for a deep turn. `word(s)` means with and without the ending.
    pub deep: List,
    /// Phrases that ask for a standard turn, with the same notation.
    pub standard: List,
    /// Words between those of a phrase: "generate an image".
    pub between: List,
    /// Articles of names, folded.
    pub articles: List,
    /// Words before a noun that everyone knows, folded.
    pub definite: List,
    pub nouns_have_capitals: bool,
    pub endings: &'static Endings,
    pub wording: &'static Wording,
    pub turning: &'static Turning,
    pub opening: &'static Beginnings,
    /// Words that are no actions despite their ending.
    pub no_actions: List,
    /// Actions and ways of speaking that the ending does not show.
    pub actions: List,
    /// Words that are a stage direction with at most one more word.
    pub short_actions: List,
    pub actors: List,
    pub dice: &'static DiceTalk,
    pub music: &'static MusicTalk,
    /// Words around the X-card.
    pub card: &'static CardTalk,
    /// Words of requests for more of the same.
    pub more: &'static MoreTalk,
    pub turning_away: &'static TurningAway,
    /// Short forms of speech, folded, and the words they are short for: "haste", "hast du".
    pub short_forms: &'static [(&'static str, &'static str)],
    /// Words that make a lone "d six" a roll.
    pub dice_cues: List,
    /// Words before a "d" that is no die: "vitamin d six".
    pub lettered: List,
    /// Transcriptions of the "d" of dice.
    pub like_d: List,
}

/// Words of wishes about the table's music; folded.
#[derive(Debug)]
pub struct MusicTalk {
    pub nouns: List,
    pub softer: List,
    pub louder: List,
    /// Words of `softer` and `louder` that mean the playing music without naming it.
    pub alone: List,
    /// Verbs that mean music with a pronoun: "turn it down".
    pub turning: List,
    pub loud: List,
    pub soft: List,
    /// Words for another track.
    pub next: List,
    pub stop: List,
    pub play: List,
    /// Verbs of `play` that mean only music or games.
    pub performing: List,
    /// Words of listeners tired of a track.
    pub weary: List,
    pub asking: List,
    /// Verbs of music that plays.
    pub running: List,
    /// Words before `loud` or `soft` that complain: "too".
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
    pub beside: List,
    pub listener: ListenerTalk,
}

/// Phrases about dice in talk; lower case, without apostrophes, words separated by a blank.
#[derive(Debug)]
pub struct DiceTalk {
    pub rolling: List,
    pub rolled: List,
    /// Negations: "do not".
    pub withheld: List,
    pub over: List,
    /// Words of a question about dice: "how many".
    pub asking: List,
    /// Words that choose a die: "my".
    pub whose: List,
    /// Words of `whose` with which a die begins a sentence only as an actor ("dein w20 rollt").
    pub subjects: List,
    /// Actions on dice as things: "lost".
    pub handled: List,
    pub requests: List,
    /// Words that correct a roll just spoken: "i mean".
    pub instead: List,
    pub chances: List,
    /// Words that, with one of `chances`, make a sentence a question.
    pub wondering: List,
    pub last: List,
    /// Questions about one's own roll: "did i".
    pub did: List,
    /// Upper bounds: "or less".
    pub at_most: List,
    /// Verbs that mean dice even without naming them: "roll"; not "throw".
    pub meant: List,
    /// Nouns for a roll.
    pub throws: List,
    /// Names of a death save, which is a plain d20.
    pub death_saves: List,
    /// Words of a request for one.
    pub beside_death_save: List,
    /// Conditions of hitting: "if i hit".
    pub if_it_hits: List,
    /// Words for another number of dice: "more".
    pub increase: List,
    /// Words that add a die only directly before one: "another".
    pub another_die: List,
    pub dice_nouns: List,
    /// Words behind "one more" for another roll: "time".
    pub turns: List,
    /// Words before a verb of [`Self::keeping`]: "and then".
    pub before_keeping: List,
    /// Words that keep or drop dice: "keep".
    pub keeping: List,
    /// Words that choose dice by their height: "lowest".
    pub heights: List,
    /// Words for a number of dice that is not known: "few".
    pub vague: List,
    /// Phrases that repeat a roll: "the same".
    pub again: List,
    /// Phrases that repeat anything: "one more".
    pub another: List,
    /// Other words beside [`Self::again`] or [`Self::another`]: "do that".
    pub beside_repeating: List,
    pub asking_shown: List,
    /// Words for a result or getting one: "total".
    pub shown: List,
    /// Verbs that ask for a result again: "remind".
    pub telling_again: List,
    /// Other words of such questions.
    pub beside_shown: List,
    /// Words that ask for a result, beside [`Self::throws`]: "tell".
    pub telling: List,
    /// Phrases for the roll before the last: "before that".
    pub before: List,
    /// Phrases that ask for a roll in the form of a question: "how about".
    pub suggesting: List,
    pub doubles: List,
    /// Words after "chance" or "odds": "of".
    pub of_what: List,
    /// Signs as words: "plus".
    pub adds: List,
    pub takes: List,
    /// Words before a number that comes on top: "kommen".
    pub coming: List,
    /// Nouns for an addend: "bonus".
    pub bonuses: List,
    pub penalties: List,
    /// Words between such a noun and its number: "of".
    pub beside_bonus: List,
    /// Other words of an utterance that only states a bonus: "I have".
    pub beside_told: List,
    /// Words of `beside_told` for the speaker: "my".
    pub own: List,
    /// Words between a bonus and its purpose or source: "for".
    pub sources: List,
    /// Checks, saves and skills, which need a d20: "save", "perception".
    pub checks: List,
    /// Like [`Self::checks`], but needing more than advantage: "attack".
    pub attacks: List,
    /// Words before another kind of "advantage": "the".
    pub no_advantage: List,
    pub more: List,
    /// Strict upper bounds: "less than".
    pub less: List,
    pub exactly: List,
}

/// Phrases at the beginning of answers, and small talk; folded.
#[derive(Debug)]
pub struct Beginnings {
    /// Sounds before the first meaningful word.
    pub interjections: List,
    pub greetings: List,
    pub farewells: List,
    /// Words beside greetings and farewells: "there", "my", "friend".
    pub beside: List,
    /// Beginnings of an answer that takes back what was said.
    pub starting_over: List,
    /// Phrases around a question repeated before its answer: "you ask".
    pub asking_back: List,
    /// Words of quantity that distinguish no questions, beside those of every request.
    pub quantities: List,
    pub no: List,
}

/// Words that show whether an utterance is finished; folded.
#[derive(Debug)]
pub struct Endings {
    pub unfinished: List,
    /// Last words of an unfinished utterance, except in a question ("what for").
    pub prepositions: List,
    /// Last words that leave it open.
    pub open: List,
    /// Words of `open` that can end a question with their verb: "are we still on".
    pub particles: List,
    pub calling: List,
    pub asking: List,
    pub verbs: List,
    /// Pronouns of an actor. After one of [`Self::asking`] they begin a clause: "what I do".
    pub subjects: List,
    /// First words of clauses that need another.
    pub leading: List,
    pub articles: List,
    pub closing: List,
}

/// Words that decide what a line proves and whether it is worth keeping; folded.
#[derive(Debug)]
pub struct Wording {
    pub negations: List,
    pub hedges: List,
    pub coming: List,
    pub reporting: List,
    /// Words of `reporting` that ask.
    pub asking: List,
    pub me: List,
    pub you: List,
    /// A third person, named before.
    pub others: List,
    /// Word endings that keep the meaning.
    pub endings: List,
    pub being: List,
    /// Words before the actor of a passive, or the person a thing was taken from.
    pub turning: List,
    pub clauses: List,
    pub yes: List,
    pub rewards: List,
    pub promises: List,
    /// Forms of one word with different or very short beginnings: "give", "gave".
    pub forms: &'static [List],
    pub us: List,
    pub party: List,
    /// Several people or things, named before.
    pub they: List,
    pub several: List,
    pub but: List,
    /// Words between a person's description and name.
    pub called: List,
    pub no: List,
    /// Words before a thing that a person lacks.
    pub lacking: List,
    pub none_of: List,
    pub reasons: List,
    /// Words that begin a question whose verb precedes the actor.
    pub turned: List,
    /// Words that begin a clause about a place.
    pub places: List,
    /// Words that ask for the actor.
    pub askers: List,
    /// Verbs that begin a question and replace its verb in the answer.
    pub helping: List,
    pub by: List,
    /// Words before a recipient.
    pub to: List,
    pub fronts: List,
    /// Words for a time, allowed anywhere in a sentence.
    pub times: List,
    /// Words that put the main verb last.
    pub verb_last: List,
}

/// Words for addressing or mentioning a person; folded.
#[derive(Debug)]
pub struct Turning {
    /// Present verbs directly before the listener: "ask".
    pub direct: List,
    pub towards_somebody: List,
    /// Words between such a verb and a name.
    pub towards: List,
    /// Verbs with their own word between: "bedanke bei".
    pub with_their_own: List,
    /// Words after a verb: "call over".
    pub particles: List,
    /// Words between "to be" and its subject: "where is now".
    pub adverbs: List,
    /// Players, of themselves.
    pub doers: List,
    pub characters: List,
    /// Words between the actor and the verb: "want to".
    pub lead_in: List,
    /// Words that continue a sentence's subject: "and".
    pub going_on: List,
    /// Words in place of the subject: "let me".
    pub allowing: List,
    pub wishes: List,
    /// Verbs of turning at the end of a sentence.
    pub behind: List,
    /// Words before a name or a role: "the".
    pub before_name: List,
    /// Negations, conditions and the past, which rule out an act of now.
    pub spoils: List,
    /// Words of `spoils` allowed behind the name.
    pub spoils_behind: List,
    pub fellows: List,
    pub asides: List,
    pub whispers: List,
    /// Words before a name at the end that make it the subject, beside [`Language::objects`].
    pub mentions: List,
    /// Verbs behind "I" whose object is the subject of talk, unless a person is addressed.
    pub acted_on: List,
    pub listeners: List,
    /// Pronouns for the listener alone.
    pub addressed: List,
    /// The "not" of "not you".
    pub denying: List,
    /// Negated verbs beside the speaker and a verb of meaning: "didn't".
    pub denying_doers: List,
    pub meaning: List,
    /// Forms of `meaning` that need no speaker: "meant".
    pub meant: List,
    pub beside_meaning: List,
    /// Phrases that tell a person to wait, or end a talk: "not now".
    pub dismissing: List,
    /// Verbs behind a name at the start that describe its bearer.
    pub told_of: List,
    /// Like `told_of`, unless a word of [`Self::asked`] follows: "is".
    pub being: List,
    /// Words after such a verb that begin a question: "there".
    pub asked: List,
}

pub(super) fn folded(text: &str) -> HashSet<String> {
    text.split_whitespace().map(fold).collect()
}
