//! Meaning of an utterance that speaks of dice.
//!
//! Entry type: [`Heard`]. **Never**: rolls what was only spoken of.

use super::{
    misheard,
    numbers::{self, Tongue},
    phrase,
    tokens::{self, Token},
};
use crate::logic::{
    dice,
    language::{DiceTalk, List, all, is_any},
    words::Words,
};

/// Request about dice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Nothing, whatever was said of them.
    Nothing,
    /// These rolls, in their canonical spelling; at least one.
    Rolls(Vec<String>),
    /// To know what they rolled last.
    Last,
    /// To know how likely something is, as a roll that is compared ("2d6+3 >= 10") or not; `None`: it is
    /// not said of what.
    Odds(Option<String>),
}

/// Between several rolls.
pub const APART: &str = "; ";
/// Most rolls that are made of one utterance.
const MOST: usize = 8;

impl Heard {
    /// Meaning of `utterance`.
    pub fn of(utterance: &str) -> Self {
        let mut tokens = tokens::tokens(utterance);
        misheard::put_right(&mut tokens);
        let words = Spoken::of(utterance);
        if words.has(|it| it.chances) && words.has(|it| it.wondering) {
            return Self::Odds(odds(&tokens, &words));
        }
        if words.asks_for_the_last(&tokens) {
            return Self::Last;
        }
        let only_speaks = words.only_speaks(&tokens) || only_asks(utterance);
        let rolls = if only_speaks { Vec::new() } else { rolls(&tokens, &words) };
        if rolls.is_empty() { Self::Nothing } else { Self::Rolls(rolls) }
    }

    /// The rolls that are wanted, as [`super::read_dice`] accepts them: "3d6; 1d20".
    pub fn rolls(&self) -> Option<String> {
        match self {
            Self::Rolls(rolls) => Some(rolls.join(APART)),
            Self::Nothing | Self::Last | Self::Odds(_) => None,
        }
    }

    /// The roll whose odds are asked for, with what it is to reach: "2d6+3 >= 10".
    pub fn odds(&self) -> Option<String> {
        match self {
            Self::Odds(odds) => odds.clone(),
            Self::Nothing | Self::Last | Self::Rolls(_) => None,
        }
    }
}

/// An utterance as words between blanks, small, without apostrophes and marks.
struct Spoken(String);

impl Spoken {
    fn of(utterance: &str) -> Self {
        let small = utterance.to_lowercase().replace(['\'', '\u{2019}'], "");
        let plain = |c: char| if c.is_alphanumeric() { c } else { ' ' };
        let plain: String = small.chars().map(plain).collect();
        Self(format!(" {} ", plain.split_whitespace().collect::<Vec<_>>().join(" ")))
    }

    /// True if a list of any language has something that was said.
    fn has(&self, list: impl Fn(&'static DiceTalk) -> List) -> bool {
        all(|language| list(language.dice)).any(|phrase| self.says(phrase))
    }

    /// True if these whole words stand in it.
    fn says(&self, phrase: &str) -> bool {
        self.0.match_indices(phrase).any(|(at, _)| {
            let before = self.0.get(..at).unwrap_or_default();
            let behind = self.0.get(at + phrase.len()..).unwrap_or_default();
            before.ends_with(' ') && behind.starts_with(' ')
        })
    }

    /// "what did i just roll", "what was my last roll".
    fn asks_for_the_last(&self, tokens: &[Token]) -> bool {
        if self.has(|it| it.last) && !self.has(|it| it.over) {
            return true;
        }
        let is_rolled = self.has(|it| it.rolling)
            || self.has(|it| it.rolled) && !self.says("did i")
            || phrase::find(tokens, 0).is_some();
        let asks = self.has(|it| it.wondering);
        asks && self.has(|it| it.did) && is_rolled
    }

    /// True if dice are spoken of and not to be rolled now.
    fn only_speaks(&self, tokens: &[Token]) -> bool {
        let rolling = self.has(|it| it.rolling);
        self.has(|it| it.withheld)
            || self.has(|it| it.asking)
            || self.has(|it| it.over)
            || !rolling && self.has(|it| it.rolled)
            || !rolling && self.has(|it| it.handled) && has_whose(tokens)
            || !rolling && begins_with_a_die_that_acts(tokens)
    }
}

/// "Is that a d10?": whether a question of `utterance` wants nothing done. A statement, however it is
/// said, and a call of dice without a verb are none.
fn only_asks(utterance: &str) -> bool {
    let Some(asked) = utterance.trim_end().strip_suffix('?') else { return false };
    let sentence = asked.rsplit(['.', '!', '?', ';', ':']).next().unwrap_or_default();
    sentence.split(',').any(|clause| {
        let clause = Words::of(clause);
        let Some(first) = clause.get(0) else { return false };
        let begins = is_any(|it| it.endings.asking, first) || is_any(|it| it.endings.verbs, first);
        // "brauche ich"
        let inverted = clause.get(1).is_some_and(|it| is_any(|it| it.endings.subjects, it));
        (begins || inverted) && !is_any(|it| it.dice.requests, first)
    })
}

/// True if it is somebody's die, or this one: a thing.
fn has_whose(tokens: &[Token]) -> bool {
    let is_die = |at: usize| matches!(tokens.get(at), Some(Token::Die { .. } | Token::Typed(_)));
    let is_whose = |word: &str| is_any(|language| language.dice.whose, word);
    // "my d20", "my new 2d6".
    let is_owned = |at: usize| {
        let before = tokens.get(at.saturating_sub(3)..at).unwrap_or_default();
        before.iter().filter_map(Token::word).any(is_whose)
    };
    (1..tokens.len()).any(|at| is_die(at) && is_owned(at))
}

/// "Dein w20 rollt unter den Schrank", with at most a word between.
fn begins_with_a_die_that_acts(tokens: &[Token]) -> bool {
    let is_subject = |word: &str| is_any(|language| language.dice.subjects, word);
    let is_die = |at: usize| matches!(tokens.get(at), Some(Token::Die { .. }));
    tokens.first().and_then(Token::word).is_some_and(is_subject) && (is_die(1) || is_die(2))
}

/// The rolls in `tokens`; one that corrects another takes its place.
fn rolls(tokens: &[Token], words: &Spoken) -> Vec<String> {
    let (mut rolls, mut from) = (Vec::new(), 0);
    while let Some(found) = phrase::find(tokens, from).filter(|_| rolls.len() < MOST) {
        let between = tokens.get(from..found.range.start).unwrap_or_default();
        if from > 0 && corrects(between) {
            rolls.pop();
        }
        match found.text.as_deref().and_then(canonical) {
            Some(roll) => rolls.push(roll),
            // Dice that make no sense are not taken for fewer rolls.
            None => return Vec::new(),
        }
        from = found.range.end;
    }
    if rolls.is_empty() && words.has(|it| it.rolling) {
        rolls.extend(phrase::understood(tokens).as_deref().and_then(canonical));
    }
    rolls
}

/// True if words between two rolls say that the second was meant.
fn corrects(between: &[Token]) -> bool {
    let said: Vec<&str> = between.iter().filter_map(Token::word).collect();
    Spoken::of(&said.join(" ")).has(|it| it.instead)
}

/// The canonical spelling of `text` by [`dice::parse()`], if it has dice.
fn canonical(text: &str) -> Option<String> {
    let expression = dice::parse(text).ok()?;
    expression.has_dice().then(|| expression.to_string())
}

/// The roll whose odds are wanted, with what it is to reach.
fn odds(tokens: &[Token], words: &Spoken) -> Option<String> {
    let found = phrase::find(tokens, 0)?;
    let roll = canonical(found.text.as_deref()?)?;
    let outside = |at: &usize| !found.range.contains(at);
    let goal = (0..tokens.len()).filter(outside).find_map(|at| number(tokens.get(at..)?));
    let Some(goal) = goal else { return Some(roll) };
    let compared = match () {
        () if words.has(|it| it.at_most) => "<=",
        () if words.has(|it| it.more) => ">",
        () if words.has(|it| it.less) => "<",
        () if words.has(|it| it.exactly) => "==",
        () => ">=",
    };
    Some(format!("{roll} {compared} {goal}"))
}

/// The number that stands first.
fn number(tokens: &[Token]) -> Option<i64> {
    let mut tongues = [Tongue::English, Tongue::German].into_iter();
    tongues.find_map(|tongue| numbers::read(tokens, tongue)).map(|(number, _)| number)
}
