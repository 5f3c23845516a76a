//! Meaning of an utterance about dice.
//!
//! Entry type: [`DiceRequest`]. **Never**: rolls dice that are only mentioned.

use super::{
    condition, death_save, implied, misheard, more_dice, numbers,
    phrase::{self, Elsewhere, SpokenRoll},
    tokens::{self, Token},
    utterance::Spoken,
};
use crate::logic::{
    dice,
    language::{all, is_any, is_ordinary},
    words::Words,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiceRequest {
    /// No dice were mentioned, or it is unclear which.
    Nothing,
    /// Rolling was mentioned but not requested: a question, a "don't", a story. Or requested, but part of it
    /// cannot be read.
    Talk,
    /// Repeat the last roll with these changes, in dice syntax: "", "+2 adv".
    Again(String),
    /// Rolls in canonical spelling; at least one.
    Rolls(Vec<String>),
    /// Requested dice that the roller refuses: "5000d6".
    Refused(String),
    /// An earlier result: 0 for the last, 1 for the one before.
    Last(u8),
    /// The odds of a roll, perhaps compared ("2d6+3 >= 10"); `None`: of an unnamed roll.
    Odds(Option<String>),
}

/// Prefix of a repeated roll, before its changes: "again+2 adv".
pub const AGAIN: &str = "again";
pub const APART: &str = "; ";
const MOST: usize = 8;

impl DiceRequest {
    pub fn of(utterance: &str) -> Self {
        let sequence = condition::as_sequence(utterance);
        let utterance = sequence.as_str();
        let tokens = misheard::corrected(utterance);
        let words = Spoken::of(utterance);
        let asks = asks_about_dice(utterance);
        let is_vague = phrase::is_vague(&tokens);
        let names_dice = is_vague || phrase::find(&tokens, 0).is_some();
        if words.asks_for_chances(names_dice) {
            return Self::Odds(odds(&tokens, &words));
        }
        let repeats = !asks && words.repeats();
        if !repeats && (words.asks_for_the_last(names_dice) || asks && words.asks_for_their_own()) {
            return Self::Last(u8::from(words.has(|it| it.before)));
        }
        if asks || words.only_speaks(&tokens) || only_asks(utterance) {
            let is_talk = names_dice || words.has(|it| it.rolling) || words.has(|it| it.throws);
            return if is_talk { Self::Talk } else { Self::Nothing };
        }
        if is_vague || repeats && more_dice::changes_the_number(&tokens) {
            return Self::Talk;
        }
        let is_another_check = implied::names_a_check(&tokens) && implied::roll(&tokens).is_some();
        if repeats && !names_dice && !is_another_check {
            return Self::Again(implied::changes(&tokens));
        }
        let mut rolls = rolls(&tokens);
        if rolls.is_empty() && !names_dice {
            rolls.extend(death_save::asked(utterance));
        }
        if rolls.is_empty() { unrolled(&tokens) } else { Self::Rolls(rolls) }
    }

    /// The rolls as [`super::read_dice`] accepts them ("3d6; 1d20"), or [`AGAIN`] with its changes.
    pub fn rolls(&self) -> Option<String> {
        match self {
            Self::Rolls(rolls) => Some(rolls.join(APART)),
            Self::Again(changes) => Some(format!("{AGAIN}{changes}")),
            Self::Nothing | Self::Talk | Self::Refused(_) | Self::Last(_) | Self::Odds(_) => None,
        }
    }

    /// Requested dice that cannot be rolled.
    pub fn refused(self) -> Option<String> {
        match self {
            Self::Refused(dice) => Some(dice),
            _ => None,
        }
    }

    pub fn odds(&self) -> Option<String> {
        match self {
            Self::Odds(odds) => odds.clone(),
            _ => None,
        }
    }

    /// The earlier roll requested: 0 for the last.
    pub fn last(&self) -> Option<u8> {
        match self {
            Self::Last(back) => Some(*back),
            _ => None,
        }
    }

    /// True if no dice may be rolled, even by an NPC's scripted line.
    pub fn withholds(&self) -> bool {
        matches!(self, Self::Talk | Self::Last(_) | Self::Odds(_))
    }
}

impl Spoken {
    /// "what are my odds", "chance of ten on 2d6".
    fn asks_for_chances(&self, names_dice: bool) -> bool {
        let of = |chance: &str| {
            let of_what = all(|language| language.dice.of_what);
            of_what.map(|of| format!("{chance} {of}")).any(|phrase| self.says(&phrase))
        };
        self.has(|it| it.chances)
            && (self.has(|it| it.wondering)
                || names_dice && all(|language| language.dice.chances).any(of))
    }

    /// "roll the same again".
    fn repeats(&self) -> bool {
        self.has(|it| it.again)
            && (self.has(|it| it.meant) || self.has(|it| it.throws))
            && !self.has(|it| it.telling)
    }

    /// "what was my roll", in a question.
    fn asks_for_their_own(&self) -> bool {
        let is_theirs = ["my roll", "my throw", "mein wurf", "meinen wurf", "meinem wurf"];
        self.has(|it| it.rolled) && is_theirs.iter().any(|it| self.says(it))
    }

    /// "what did i just roll", "what was my last roll".
    fn asks_for_the_last(&self, names_dice: bool) -> bool {
        if self.has(|it| it.last) && !self.has(|it| it.over) {
            return true;
        }
        let is_rolled = self.has(|it| it.rolling)
            || self.has(|it| it.rolled) && !self.says("did i")
            || names_dice;
        // "was hatte ich da gewürfelt"; "war" alone is no roll of dice.
        let had = self.says("hatte ich") && (self.says("gewürfelt") || self.says("geworfen"));
        let asks = self.has(|it| it.wondering);
        asks && (had || self.has(|it| it.did) && is_rolled)
    }

    fn only_speaks(&self, tokens: &[Token]) -> bool {
        let rolling = self.has(|it| it.rolling);
        self.has(|it| it.withheld)
            || self.has(|it| it.asking)
            || self.has(|it| it.over)
            || !rolling && self.has(|it| it.rolled)
            || !rolling && self.has(|it| it.handled) && has_whose(tokens) && !has_advantage(tokens)
            || !rolling && begins_with_a_die_that_acts(tokens)
    }
}

/// "Is that a d10?": true for a question that requests nothing. A statement in any intonation, or
/// dice without a verb, is none.
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

fn has_whose(tokens: &[Token]) -> bool {
    let is_die = |at: usize| tokens.get(at).is_some_and(Token::is_dice);
    let is_whose = |word: &str| is_any(|language| language.dice.whose, word);
    // "my d20", "my new 2d6".
    let is_owned = |at: usize| {
        let before = tokens.get(at.saturating_sub(3)..at).unwrap_or_default();
        before.iter().filter_map(Token::word).any(is_whose)
    };
    (1..tokens.len()).any(|at| is_die(at) && is_owned(at))
}

/// True if advantage is mentioned, which dice as things cannot have: "a d20, and I have advantage".
fn has_advantage(tokens: &[Token]) -> bool {
    !matches!(phrase::advantage(tokens), Elsewhere::None)
}

/// "Dein w20 rollt unter den Schrank", with at most one word between.
fn begins_with_a_die_that_acts(tokens: &[Token]) -> bool {
    let is_subject = |word: &str| is_any(|language| language.dice.subjects, word);
    let is_die = |at: usize| matches!(tokens.get(at), Some(Token::Die { .. }));
    tokens.first().and_then(Token::word).is_some_and(is_subject) && (is_die(1) || is_die(2))
}

/// True if every clause about dice begins with a question word: "what was the roll before that".
/// Recognisers omit question marks, so none is needed.
fn asks_about_dice(utterance: &str) -> bool {
    let speaks = |clause: &&str| {
        let words = Spoken::of(clause);
        let tokens = tokens::tokens(clause);
        words.has(|it| it.rolling)
            || words.has(|it| it.throws)
            || phrase::find(&tokens, 0).is_some()
    };
    let clauses = utterance.split(['.', '!', '?', ';', ':', ',']);
    let mut of_dice = clauses.filter(speaks).peekable();
    of_dice.peek().is_some() && of_dice.all(begins_with_a_question_word)
}

/// "what", "und wie", "Bartok what"; not "how about".
fn begins_with_a_question_word(clause: &str) -> bool {
    let words = Words::of(clause);
    let is_before = |word: &str| {
        is_any(|it| it.openers, word)
            || !is_ordinary(word) && !word.chars().any(|c| c.is_ascii_digit())
    };
    let is_asking = |word: &str| is_any(|it| it.endings.asking, word);
    let first = words.iter().position(|word| is_asking(word) || !is_before(word));
    let first = first.unwrap_or_default();
    let asks = words.get(first).is_some_and(is_asking);
    asks && first <= 2 && !Spoken::of(clause).has(|it| it.suggesting)
}

/// The rolls in `tokens`; a correction replaces the roll before it. A separate bonus belongs to the
/// dice before it, to a d20 after it, or to a d20 of its own.
fn rolls(tokens: &[Token]) -> Vec<String> {
    let found: Vec<SpokenRoll> = phrase::find_all(tokens).take(MOST).collect();
    let Some(first) = found.first() else {
        return implied::roll(tokens).as_deref().and_then(canonical).into_iter().collect();
    };
    let mut rolls = Vec::new();
    let mut lead = tokens.get(..first.range.start).unwrap_or_default();
    for (at, roll) in found.iter().enumerate() {
        let end = found.get(at + 1).map_or(tokens.len(), |next| next.range.start);
        let tail = tokens.get(roll.range.end..end).unwrap_or_default();
        if at > 0 && corrects(lead) {
            rolls.pop();
        }
        // Invalid dice must not become fewer rolls.
        let Some(text) = &roll.text else { return Vec::new() };
        let around = if at == 0 { with_lead(lead, text) } else { vec![text.clone()] };
        let is_last = at + 1 == found.len();
        for text in with_tail(around, tail, is_last) {
            let Some(roll) = canonical(&text) else { return Vec::new() };
            rolls.push(roll);
        }
        lead = tail;
    }
    rolls.truncate(MOST);
    rolls
}

/// A request of which nothing is rolled. Its dice must not become others, such as an NPC's own.
fn unrolled(tokens: &[Token]) -> DiceRequest {
    let texts: Option<Vec<String>> =
        phrase::find_all(tokens).map(|it| it.text).take(MOST).collect();
    match texts {
        Some(texts) if texts.is_empty() => DiceRequest::Nothing,
        Some(texts) => {
            let refused = texts.into_iter().find(|text| canonical(text).is_none());
            refused.map_or(DiceRequest::Talk, DiceRequest::Refused)
        }
        None => DiceRequest::Talk,
    }
}

/// `text` with the bonus in `lead`, or after the roll that `lead` requests.
fn with_lead(lead: &[Token], text: &str) -> Vec<String> {
    if let Some(roll) = implied::before_added_dice(lead, text) {
        return vec![roll];
    }
    let bonus = implied::added(lead);
    if !bonus.is_empty() && text.contains("d20") {
        return vec![format!("{text}{bonus}")];
    }
    let own = if bonus.is_empty() { None } else { implied::roll(lead) };
    own.into_iter().chain([text.to_owned()]).collect()
}

/// `rolls` with the bonus in `tail`: added to the last, or as a roll of its own. A `tail` without a
/// bonus, or with a correction, belongs to the next roll.
fn with_tail(mut rolls: Vec<String>, tail: &[Token], is_last: bool) -> Vec<String> {
    let bonus = implied::added(tail);
    let Some(last) = rolls.last_mut().filter(|_| !bonus.is_empty() && !corrects(tail)) else {
        return rolls;
    };
    let is_compared = last.contains(['<', '>', '=']);
    if is_last && !last.contains("d20") && implied::is_another(tail) {
        rolls.extend(implied::roll(tail));
    } else if !is_compared {
        last.push_str(&bonus);
    }
    rolls
}

/// True if the words between two rolls replace the first by the second.
fn corrects(between: &[Token]) -> bool {
    let said: Vec<&str> = between.iter().filter_map(Token::word).collect();
    Spoken::of(&said.join(" ")).has(|it| it.instead)
}

fn canonical(text: &str) -> Option<String> {
    let expression = dice::parse(text).ok()?;
    expression.has_dice().then(|| expression.to_string())
}

fn odds(tokens: &[Token], words: &Spoken) -> Option<String> {
    let found = phrase::find(tokens, 0)?;
    let roll = canonical(found.text.as_deref()?)?;
    if words.has(|it| it.doubles) {
        // The second die equals the first as often as one die shows a 1.
        return roll
            .strip_prefix("2d")
            .filter(|sides| !sides.is_empty() && sides.bytes().all(|b| b.is_ascii_digit()))
            .map(|sides| format!("1d{sides} == 1"));
    }
    let outside = |at: &usize| !found.range.contains(at);
    let goal =
        (0..tokens.len()).filter(outside).find_map(|at| numbers::read_either(tokens.get(at..)?));
    let Some((goal, _)) = goal else { return Some(roll) };
    let compared = match () {
        () if words.has(|it| it.at_most) => "<=",
        () if words.has(|it| it.more) => ">",
        () if words.has(|it| it.less) => "<",
        () if words.has(|it| it.exactly) => "==",
        () => ">=",
    };
    Some(format!("{roll} {compared} {goal}"))
}
