//! The X-card in what is said or typed: [`is_x_card`], [`x_card_in`], [`typed_x_card_in`].
//!
//! In speech every mention counts, since a recogniser may have lost the words around it. Typed text is what
//! was meant: questions about the card ("what does the X card do?") and its denial ("no X card needed") are
//! left out. A mention that is neither plays it: stopping once too often does less harm.

use std::ops::Range;

use crate::logic::{
    language::{self, CardTalk, List, all, is_any, is_turning},
    words::Words,
};

/// Most words before the first word of a question: a name, and openers.
const LEAD: usize = 3;
/// Most words between "about" and the card.
const ABOUT_WITHIN: usize = 4;
/// Most words on either side of the card that say how it is meant: the work stays linear in the text.
const AROUND: usize = 50;
/// Forms with which the speaker plays the card: "I play the X card".
const PLAYS: [&str; 8] = ["play", "playing", "use", "using", "spiele", "nehme", "ziehe", "benutze"];

/// Position of an X-card within a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardWords {
    /// Words before it.
    pub before: u32,
    /// Words of the whole sentence.
    pub all: u32,
}

/// True if the whole of `text` is the X-card.
pub fn is_x_card(text: &str) -> bool {
    let words = Words::of(text);
    names_x_card(words.joined(0..words.len()))
}

/// The first X-card in spoken `text`, alone or among other words.
pub fn x_card_in(text: &str) -> Option<CardWords> {
    let words = Words::of(text);
    let card = cards(&words).next()?;
    Some(CardWords::of(&card, &words))
}

/// The first X-card that typed `text` plays, alone or among other words.
pub fn typed_x_card_in(text: &str) -> Option<CardWords> {
    let words = Words::of(text);
    let is_played = |card: &Range<usize>| {
        let mention = Mention { text, words: &words, card: card.clone() };
        !mention.is_denied() && !mention.is_asked_about()
    };
    let card = cards(&words).find(is_played)?;
    Some(CardWords::of(&card, &words))
}

/// The words of each X-card, in order.
fn cards(words: &Words) -> impl Iterator<Item = Range<usize>> {
    (0..words.len()).filter_map(move |at| {
        let mut ends = [at + 1, at + 2].into_iter();
        ends.find(|end| names_x_card(words.joined(at..*end))).map(|end| at..end)
    })
}

/// True if these words, written as one, are the X-card as recognisers hear it.
fn names_x_card(joined: &str) -> bool {
    matches!(joined, "xcard" | "excard" | "xkarte")
}

impl CardWords {
    fn of(card: &Range<usize>, words: &Words) -> Self {
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self { before: count(card.start), all: count(words.len()) }
    }
}

/// An X-card and the words around it.
struct Mention<'t> {
    text: &'t str,
    words: &'t Words,
    card: Range<usize>,
}

impl Mention<'_> {
    /// "we don't need the X card", "die X-Karte brauchen wir nicht".
    fn is_denied(&self) -> bool {
        let clause = self.clause();
        let is_using = |at: usize| self.is(at, |it| it.using);
        let is_denying = |at: usize| self.is(at, |it| it.denying);
        let is_beside = |at: usize| is_using(at) || self.is(at, |it| it.beside);
        let is_used = clause.clone().any(is_using);
        let mut before = (clause.start..self.card.start).rev();
        let denies =
            before.find(|at| is_denying(*at) || !is_beside(*at)).filter(|at| is_denying(*at));
        // "no X card!" may have lost its comma.
        let is_outcry = |at: usize| at + 1 == self.card.start && self.is(at, |it| it.outcries);
        if denies.is_some_and(|at| is_used || !is_outcry(at)) {
            return true;
        }
        let mut behind = self.card.end..clause.end;
        let denies_behind = |at: usize| {
            let is_last = at + 1 == clause.end && is_used && self.is(at, |it| it.denying_last);
            is_denying(at) && (is_last || (at + 1..clause.end).any(is_using))
        };
        behind.clone().any(denies_behind) && behind.all(|at| is_denying(at) || is_beside(at))
    }

    /// "what does the X card do?", "does anyone need the X card?", "you can always play the X card".
    fn is_asked_about(&self) -> bool {
        let clause = self.clause();
        if self.is_wished(&clause) {
            return false;
        }
        let before = self.card.start.checked_sub(1).filter(|at| *at >= clause.start);
        let is_linked = before.is_some_and(|at| {
            let is_asked = self.asks(at) || self.is(at, |it| it.about);
            is_asked || self.is(at, |it| it.articles) || self.is_pointing(at)
        });
        if !is_linked {
            return false;
        }
        let from = self.card.start.saturating_sub(ABOUT_WITHIN).max(clause.start);
        let is_told = all(|it| it.card.allowing).any(|phrase| {
            (clause.start..self.card.start).any(|at| self.words.phrase_at(at, phrase).is_some())
        });
        is_told
            || (from..self.card.start).any(|at| self.is(at, |it| it.about))
            || self.is_question(&clause)
            || self.is_condition(&clause)
    }

    /// "I want to use the X card", "ist es okay, wenn ich die X-Karte spiele"
    fn is_wished(&self, clause: &Range<usize>) -> bool {
        let is_speaker = |at: usize| self.word_is(at, |it| it.turning.doers);
        let leads = |at: usize| self.leads(at);
        let speaker = (clause.start..self.card.start).rev().find(|at| is_speaker(*at));
        let Some(speaker) = speaker else { return false };
        let first = self.first(clause);
        let before = speaker.checked_sub(1).filter(|at| *at >= clause.start);
        // "is it okay if I use the X card", not "what happens if I use it"
        if before.is_some_and(leads) {
            return !self.sentence_asks() && !self.word_is(first, |it| it.endings.asking);
        }
        let is_turned = before.is_some_and(|at| self.asks(at));
        let is_using = |at: usize| self.is(at, |it| it.using);
        let wish = (speaker + 1..self.card.start).find(|at| self.is(*at, |it| it.wishes));
        let is_to_use = |wish: usize| {
            (wish + 1..self.card.start).chain(self.card.end..clause.end).any(is_using)
        };
        // "what the hell i play the x card", not "how we play the X card"
        let is_asked = before.is_some_and(|at| {
            self.word_is(at, |it| it.endings.asking) || self.is(at, |it| it.wishes)
        });
        let plays = |at: usize| self.words.get(at).is_some_and(|word| PLAYS.contains(&word));
        let is_played = !is_asked && (speaker + 1..self.card.start).any(plays);
        !is_turned && (is_played || wish.is_some_and(is_to_use))
    }

    /// True if the clause is a question, "what does the X card do" or "do we have an X card".
    fn is_question(&self, clause: &Range<usize>) -> bool {
        let first = self.first(clause);
        let is_asking =
            |at: usize| self.word_is(at, |it| it.endings.asking) || self.is(at, |it| it.asking);
        // "tell me what the X card is"
        let is_relative = self.card.start >= clause.start + 2 && is_asking(self.card.start - 2);
        (first..self.card.start.min(first + 2)).any(is_asking)
            || is_relative
            || self.asks(first) && !self.may(first)
    }

    /// "if anyone needs the X card", "what happens, when I play the X card?"
    fn is_condition(&self, clause: &Range<usize>) -> bool {
        let first = self.first(clause);
        self.leads(first)
            && (self.sentence_asks() || !self.word_is(first + 1, |it| it.turning.doers))
    }

    /// True if a clause of the sentence with the card begins with a question word.
    fn sentence_asks(&self) -> bool {
        let ends = |at: usize| self.gap(at).contains(['.', '!', '?', '\n']);
        let sentence = self.around(ends);
        sentence.clone().any(|at| {
            let begins = at == sentence.start || self.breaks(at);
            begins && self.word_is(at, |it| it.endings.asking)
        })
    }

    /// The clause with the card.
    fn clause(&self) -> Range<usize> {
        self.around(|at| self.breaks(at))
    }

    /// The words around the card up to those that `parts` sets off, at most [`AROUND`] on either side.
    fn around(&self, parts: impl Fn(usize) -> bool) -> Range<usize> {
        let least = self.card.start.saturating_sub(AROUND);
        let most = self.words.len().min(self.card.end + AROUND);
        let start = (least.max(1)..=self.card.start).rev().find(|at| parts(*at)).unwrap_or(least);
        start..(self.card.end..most).find(|at| parts(*at)).unwrap_or(most)
    }

    /// The first word of `clause` that may begin a question, behind a name and openers.
    fn first(&self, clause: &Range<usize>) -> usize {
        let most = self.card.start.min(clause.start + LEAD);
        let is_opener = |at: usize| self.word_is(at, |it| it.openers);
        let behind = (clause.start..most).find(|at| !is_opener(*at)).unwrap_or(clause.start);
        // "Bartok, do we", not "I am"
        let is_named = !self.words.get(behind).is_some_and(language::is_everyday)
            && !self.word_is(behind, |it| it.turning.doers);
        let begins = |at: &usize| {
            let is_verb = self.asks(*at) && (is_named || *at == behind);
            is_verb || self.word_is(*at, |it| it.endings.asking) || self.leads(*at)
        };
        (behind..most.min(behind + 2)).find(begins).unwrap_or(behind)
    }

    /// "is", "does", "hat": a verb that begins a question.
    fn asks(&self, at: usize) -> bool {
        self.word_is(at, |it| it.endings.verbs) || self.is(at, |it| it.asking)
    }

    /// "can we", "darf ich": the card is asked for, not about.
    fn may(&self, at: usize) -> bool {
        const MAY: [&str; 14] = [
            "can", "could", "may", "would", "will", "shall", "should", "kann", "konnen", "konnten",
            "darf", "durfen", "soll", "sollen",
        ];
        self.words.get(at).is_some_and(|word| MAY.contains(&word))
    }

    fn leads(&self, at: usize) -> bool {
        self.word_is(at, |it| it.endings.leading)
    }

    /// "this X card"
    fn is_pointing(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| is_turning(|it| it.before_name, word))
    }

    fn breaks(&self, at: usize) -> bool {
        let gap = self.gap(at);
        gap.contains(['.', '!', '?', ';', ',', ':', '…', '–', '—', '(', ')', '\n'])
            || gap.contains(" - ")
    }

    /// The text before a word, up to the word before it.
    fn gap(&self, at: usize) -> &str {
        if at == 0 || at >= self.words.len() {
            return "";
        }
        let gap = self.words.source(at - 1).end..self.words.source(at).start;
        self.text.get(gap).unwrap_or_default()
    }

    fn is(&self, at: usize, list: impl Fn(&'static CardTalk) -> List) -> bool {
        self.word_is(at, |language| list(language.card))
    }

    fn word_is(&self, at: usize, list: impl Fn(&'static language::Language) -> List) -> bool {
        self.words.get(at).is_some_and(|word| is_any(list, word))
    }
}
