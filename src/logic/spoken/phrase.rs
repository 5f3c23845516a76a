//! Parses tokens to a roll: a term ("two d six"), then additions, selections, repeats.

use std::{cell::OnceCell, collections::HashSet, iter, ops::Range};

use super::super::language::{DiceTalk, List, is_any, is_dice_talk};
use super::advantage::{Advantage, advantage_of, with_advantage};
use super::german;
use super::numbers::{self, Tongue};
use super::tokens::Token;
use super::work::note;

/// Dice in shops; a "d" without a count must be one of them.
pub(super) const STANDARD: [i64; 8] = [4, 6, 8, 10, 12, 20, 30, 100];

struct Part {
    /// In dice syntax.
    text: String,
    next: usize,
    is_dice: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Elsewhere {
    None,
    One(Advantage),
    /// Both, which cancel out.
    Both,
}

pub(super) struct SpokenRoll {
    /// Unchecked dice syntax; `None`: invalid.
    pub text: Option<String>,
    pub range: Range<usize>,
}

/// The first roll in `tokens` from `from` on.
pub(super) fn find(tokens: &[Token], from: usize) -> Option<SpokenRoll> {
    Phrase::of(tokens).find(from)
}

/// The rolls in `tokens`, in order.
pub(super) fn find_all(tokens: &[Token]) -> impl Iterator<Item = SpokenRoll> {
    let phrase = Phrase::of(tokens);
    iter::successors(phrase.find(0), move |before| phrase.find(before.range.end))
}

/// True for dice of a number that is not known: "a few d6".
pub(super) fn is_vague(tokens: &[Token]) -> bool {
    let mut pairs = tokens.iter().zip(tokens.iter().skip(1));
    pairs.any(|(before, die)| before.is(|it| it.vague) && die.is_dice())
}

pub(super) fn advantage(tokens: &[Token]) -> Elsewhere {
    Phrase::of(tokens).advantage_elsewhere()
}

struct Phrase<'a> {
    tokens: &'a [Token],
    has_cue: OnceCell<bool>,
    elsewhere: OnceCell<Elsewhere>,
}

impl<'a> Phrase<'a> {
    fn of(tokens: &'a [Token]) -> Self {
        Self { tokens, has_cue: OnceCell::new(), elsewhere: OnceCell::new() }
    }

    fn find(&self, from: usize) -> Option<SpokenRoll> {
        let mut barren = HashSet::new();
        (from..self.tokens.len()).find_map(|start| {
            let (text, end) = self.roll(start, &mut barren)?;
            Some(SpokenRoll { text, range: start..end })
        })
    }

    fn word(&self, at: usize) -> Option<&str> {
        note(1);
        self.tokens.get(at)?.word()
    }

    fn number(&self, at: usize, tongue: Tongue) -> Option<(i64, usize)> {
        note(1);
        let (number, used) = numbers::read(self.tokens.get(at..)?, tongue)?;
        Some((number, at + used))
    }

    /// The roll at `start`, and the index after it. One without a text is invalid and must not be
    /// taken for a smaller one. `barren`: places where earlier sums went on and met no dice.
    fn roll(&self, start: usize, barren: &mut HashSet<usize>) -> Option<(Option<String>, usize)> {
        let Part { mut text, next: mut at, is_dice: mut has_dice } = self.operand(start)?;
        let mut has_check = is_check(&text);
        let (mut advantage, mut repeats) = (None, None);
        loop {
            // Before any dice, what follows depends on the place alone.
            if !has_dice && !barren.insert(at) {
                return None;
            }
            if let Some((number, next)) = self.repeats(at).filter(|_| has_dice) {
                (repeats, at) = (Some(number), next);
            } else if let Some((word, next)) = self.advantage(at).filter(|_| has_dice) {
                (advantage, at) = (Some(word), next);
            } else if let Some((sign, part)) = self.operation(at, has_dice, has_check)
                // "three times a d six" rolls three times.
                && (has_dice || sign != '*')
            {
                text.push(sign);
                text.push_str(&part.text);
                has_check |= is_check(&part.text);
                (at, has_dice) = (part.next, has_dice || part.is_dice);
            } else {
                break;
            }
        }
        if !has_dice {
            return None;
        }
        let text = match (advantage, self.advantage_elsewhere()) {
            (_, Elsewhere::Both) | (None, Elsewhere::None) => text,
            (None, Elsewhere::One(advantage)) => with_advantage(&text, advantage).unwrap_or(text),
            (Some(advantage), _) => match with_advantage(&text, advantage) {
                Some(text) => text,
                None => return Some((None, at)),
            },
        };
        if !text.contains(['k', 'p']) && self.keeps_some(at) {
            return Some((None, at));
        }
        let text = match repeats.or_else(|| self.repeats_before(start)) {
            Some(repeats) => format!("{repeats}#{text}"),
            None => text,
        };
        Some((Some(text), at))
    }

    fn operand(&self, at: usize) -> Option<Part> {
        self.term(at).or_else(|| {
            let (number, next) = self.number(at, Tongue::English)?;
            Some(Part { text: number.to_string(), next, is_dice: false })
        })
    }

    /// Dice: "two d six", "a twenty sided die", "percentile dice", "four fate dice", or typed.
    fn term(&self, start: usize) -> Option<Part> {
        if let Some(Token::Typed(text)) = self.tokens.get(start) {
            return Some(Part { text: text.clone(), next: start + 1, is_dice: true });
        }
        let (text, next) = self
            .spoken_dice(start)
            .or_else(|| self.sided(start))
            .or_else(|| german::sided(self.tokens, start))
            .or_else(|| self.special(start))?;
        let kept = self.keep(next).or_else(|| german::kept(self.tokens, next));
        let (kept, next) = kept.unwrap_or((String::new(), next));
        Some(Part { text: text + &kept, next, is_dice: true })
    }

    /// "two d six", "d twenty", "zwei w sechs".
    fn spoken_dice(&self, start: usize) -> Option<(String, usize)> {
        let die = (start..self.tokens.len().min(start + 8))
            .find(|at| matches!(self.tokens.get(*at), Some(Token::Die { .. })))?;
        let Some(Token::Die { german, glued }) = self.tokens.get(die) else { return None };
        let tongue = if *german { Tongue::German } else { Tongue::English };
        let count = if die == start { None } else { Some(self.count(start, die, tongue, *glued)?) };
        let (sides, next) = self.sides(die + 1, tongue, count.is_some() && !glued)?;
        // "a few d6"
        let before = start.checked_sub(1).and_then(|at| self.word(at));
        if count.is_none() && before.is_some_and(|word| is_any(|it| it.dice.vague, word)) {
            return None;
        }
        let is_bare = count.is_none() && !glued;
        if sides < 1 || (!glued && sides < 2) || (is_bare && !self.is_meant(start, sides)) {
            return None;
        }
        if *german && is_bare && !matches!(self.tokens.get(die + 1), Some(Token::Word(_))) {
            return None;
        }
        Some((format!("{}d{sides}", count.unwrap_or(1)), next))
    }

    /// The number of dice in `start..end`; homophones count where speech was recognised.
    fn count(&self, start: usize, end: usize, tongue: Tongue, glued: bool) -> Option<i64> {
        if let Some((number, next)) = self.number(start, tongue)
            && next == end
        {
            return Some(number);
        }
        let skip = usize::from(self.word(start + 1) == Some("single"));
        let word = self.word(start).filter(|_| start + 1 + skip == end)?;
        match word {
            "a" | "an" | "one" => Some(1),
            "to" | "too" if !glued || self.is_behind_roll(start) => Some(2),
            "for" | "fore" if !glued => Some(4),
            "ate" if !glued => Some(8),
            _ => None,
        }
    }

    /// "roll to d6": not written for "two".
    fn is_behind_roll(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.word(at));
        matches!(before, Some("roll" | "rolls" | "rolling" | "throw"))
    }

    fn sides(&self, at: usize, tongue: Tongue, heard: bool) -> Option<(i64, usize)> {
        match self.word(at) {
            Some("percent" | "percentile") => return Some((100, at + 1)),
            Some("for" | "fore") if heard => return Some((4, at + 1)),
            Some("ate") if heard => return Some((8, at + 1)),
            _ => {}
        }
        let (sides, next) = self.number(at, tongue)?;
        // "d twenty five times" is a d20.
        if self.word(next) == Some("times") && next == at + 2 && !STANDARD.contains(&sides) {
            return Some((sides - sides % 10, at + 1));
        }
        Some((sides, next))
    }

    /// True if "d six" without a count is a roll: not after a word it belongs to, and either a d20,
    /// the whole utterance, or beside another word of dice.
    fn is_meant(&self, at: usize, sides: i64) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.word(at));
        STANDARD.contains(&sides)
            && !before.is_some_and(|word| is_any(|it| it.lettered, word))
            && (sides == 20 || self.tokens.len() <= 4 || self.has_cue())
    }

    fn has_cue(&self) -> bool {
        let is_cue = |at: usize| {
            matches!(self.tokens.get(at), Some(Token::Plus | Token::Minus))
                || self.word(at).is_some_and(|word| is_any(|it| it.dice_cues, word))
        };
        *self.has_cue.get_or_init(|| (0..self.tokens.len()).any(is_cue))
    }

    /// "two six sided dice", "a twenty sided die".
    fn sided(&self, start: usize) -> Option<(String, usize)> {
        let tongue = Tongue::English;
        let sided = (start..self.tokens.len().min(start + 8))
            .find(|at| matches!(self.word(*at), Some("sided" | "sider" | "siders")))?;
        let (first, next) = self.number(start, tongue).unwrap_or((1, start + 1));
        let named = matches!(self.word(sided + 1), Some("die" | "dice" | "one" | "ones"));
        let end = sided + 1 + usize::from(named);
        let (count, sides) = if next == sided {
            // "twenty six sided dice" are 20 dice.
            let (tens, unit) = (first - first % 10, first % 10);
            let plural = self.word(sided + 1) == Some("dice") && next == start + 2;
            if plural && STANDARD.contains(&unit) { (tens, unit) } else { (1, first) }
        } else {
            let counted = self.number(start, tongue).is_some();
            if !counted && !matches!(self.word(start), Some("a" | "an" | "the")) {
                return None;
            }
            let (sides, next) = self.number(next, tongue)?;
            (next == sided).then_some(())?;
            (first, sides)
        };
        let counted = next != sided && self.number(start, tongue).is_some();
        ((named || (counted && STANDARD.contains(&sides))) && sides > 1)
            .then(|| (format!("{count}d{sides}"), end))
    }

    /// "percentile dice", "four fate dice".
    fn special(&self, start: usize) -> Option<(String, usize)> {
        let (count, at) = match self.number(start, Tongue::English) {
            Some((count, next)) => (Some(count), next),
            None if matches!(self.word(start), Some("a" | "the")) => (None, start + 1),
            None => (None, start),
        };
        let before = at.checked_sub(1).and_then(|at| self.word(at));
        let named = matches!(self.word(at + 1), Some("die" | "dice" | "roll"));
        match self.word(at)? {
            "percentile" | "percentiles"
                if named || matches!(before, Some("a" | "roll" | "rolls" | "throw")) =>
            {
                Some(("1d100".to_owned(), at + 1 + usize::from(named)))
            }
            "fate" | "fudge" if named => Some((format!("{}dF", count.unwrap_or(4)), at + 2)),
            _ => None,
        }
    }

    /// "keep the highest three", "drop the lowest".
    fn keep(&self, start: usize) -> Option<(String, usize)> {
        let mut at = start;
        while at < start + 3 && self.is_in(at, |it| it.before_keeping) {
            at += 1;
        }
        let verb = match self.word(at)? {
            "keep" | "keeping" | "take" | "taking" => 'k',
            "drop" | "dropping" | "discard" | "ignore" => 'p',
            _ => return None,
        };
        at += 1;
        while matches!(self.word(at), Some("the" | "only" | "just")) {
            at += 1;
        }
        let early = self.number(at, Tongue::English);
        at = early.map_or(at, |(_, next)| next);
        let height = match self.word(at)? {
            "highest" | "best" | "top" | "high" => 'h',
            "lowest" | "worst" | "bottom" | "low" => 'l',
            _ => return None,
        };
        at += 1;
        let late = self.number(at, Tongue::English);
        // "drop the lowest six times" rolls six times.
        let late = late.filter(|(_, next)| early.is_none() && self.word(*next) != Some("times"));
        at = late.map_or(at, |(_, next)| next);
        at += usize::from(matches!(self.word(at), Some("die" | "dice" | "one")));
        let number = early.or(late).map_or(1, |(number, _)| number);
        Some((format!("{verb}{height}{number}"), at))
    }

    /// True if the words behind the dice keep or drop some in a way that is not understood: "only the best".
    fn keeps_some(&self, start: usize) -> bool {
        let is_dice = |at: &usize| self.tokens.get(*at).is_some_and(Token::is_dice);
        let end = (start..self.tokens.len()).find(is_dice).unwrap_or(self.tokens.len());
        let has = |list: fn(&'static DiceTalk) -> List| (start..end).any(|at| self.is_in(at, list));
        has(|it| it.heights) && has(|it| it.keeping)
    }

    /// "plus three", "- 1", "and add two d four", "times two", "and a d six". Up to two words may
    /// precede a plus or minus ("two d six fire damage plus three"), but not an "and", which then
    /// begins another roll ("two d six for slashing and a d four for fire").
    fn operation(&self, start: usize, has_dice: bool, has_check: bool) -> Option<(char, Part)> {
        let skip = if has_dice { 2 } else { 0 };
        for at in start..=start + skip {
            let begins = at > start && self.is_and(at);
            let adds = matches!(self.word(at + 1), Some("add" | "plus" | "another"));
            if begins && !adds {
                return None;
            }
            if let Some(found) = self.operation_at(at, has_check) {
                return Some(found);
            }
            self.word(at)?;
        }
        None
    }

    /// An "and" that adds dice to dice.
    fn is_and(&self, at: usize) -> bool {
        matches!(self.word(at), Some("and" | "und"))
    }

    fn operation_at(&self, start: usize, has_check: bool) -> Option<(char, Part)> {
        let mut at = start;
        let linked = self.is_and(at) || self.word(at) == Some("with");
        at += usize::from(linked);
        at +=
            usize::from(linked && self.word(at) == Some("a") && self.word(at + 1) == Some("plus"));
        let (sign, next) = match self.tokens.get(at)? {
            Token::Plus => ('+', at + 1),
            Token::Minus => ('-', at + 1),
            Token::Word(word) => match word.as_str() {
                "plus" | "add" => ('+', at + 1),
                "minus" | "subtract" => ('-', at + 1),
                "times" => ('*', at + 1),
                "divided" if self.word(at + 1) == Some("by") => ('/', at + 2),
                _ if self.is_and(start) => ('+', at),
                _ => return None,
            },
            _ if self.is_and(start) => ('+', at),
            _ => return None,
        };
        let next = next + usize::from(self.word(next) == Some("another"));
        let part = self.term(next).or_else(|| {
            let (number, used) = numbers::read_addend(self.tokens.get(next..)?)?;
            Some(Part { text: number.to_string(), next: next + used, is_dice: false })
        })?;
        // "and" adds only dice, and no damage to a check.
        let joined = next == at;
        let fits = part.is_dice && !has_check && !is_check(&part.text);
        (!joined || fits).then_some((sign, part))
    }

    /// "six times", "twice".
    fn repeats(&self, at: usize) -> Option<(i64, usize)> {
        match self.word(at) {
            Some("twice") => return Some((2, at + 1)),
            Some("thrice") => return Some((3, at + 1)),
            Some(word) if german::times(word).is_some() => {
                return german::times(word).map(|number| (number, at + 1));
            }
            _ => {}
        }
        let (number, next) = self.number(at, Tongue::English)?;
        let is_product = self.number(next + 1, Tongue::English).is_some();
        (self.word(next) == Some("times") && !is_product).then_some((number, next + 1))
    }

    /// "roll twice a d six", "three times a d six".
    fn repeats_before(&self, start: usize) -> Option<i64> {
        let last = start.checked_sub(1)?;
        match self.word(last)? {
            "twice" => Some(2),
            "times" => {
                let number = last.checked_sub(1)?;
                self.number(number, Tongue::English).map(|(number, _)| number)
            }
            word => german::times(word),
        }
    }

    /// Advantage at `at`: "with advantage", "at disadvantage", "mit vorteil".
    fn advantage(&self, at: usize) -> Option<(Advantage, usize)> {
        let linked = matches!(self.word(at), Some("with" | "at" | "on" | "and" | "mit" | "im"));
        let at = at + usize::from(linked);
        Some((advantage_of(self.word(at)?)?, at + 1))
    }

    /// True if the advantage at `at` is alone ("perception, advantage, plus four") or the speaker
    /// has it ("advantage I have, too", "Vorteil hab ich auch, und plus vier").
    fn stands_alone(&self, at: usize) -> bool {
        if self.word(at + 1) == Some("of") {
            return false;
        }
        let is_told = |at: &usize| self.is_in(*at, |it| it.beside_told);
        let next = at + 1 + (at + 1..self.tokens.len()).take_while(is_told).count();
        // "hab +2 und Nachteil"
        let is_beside = |at: &usize| is_told(at) || self.is_of_a_sum(*at);
        let first = at - (0..at).rev().take_while(is_beside).count();
        let has = |at: usize| matches!(self.word(at), Some("hab" | "habe" | "have" | "got"));
        let is_own = (first..next).any(|at| has(at) || self.is_in(at, |it| it.own));
        let ends = match self.tokens.get(next) {
            None | Some(Token::Plus | Token::Minus) => true,
            Some(_) => {
                self.is_in(next, |it| it.adds)
                    || self.is_in(next, |it| it.takes)
                    || is_own && self.is_in(next, |it| it.sources)
            }
        };
        let is_free = match at.checked_sub(1) {
            None => is_own,
            Some(before) => !self.is_in(before, |it| it.no_advantage),
        };
        ends && is_free
    }

    fn is_of_a_sum(&self, at: usize) -> bool {
        matches!(self.tokens.get(at), Some(Token::Plus | Token::Minus))
            || self.is_in(at, |it| it.adds)
            || self.is_in(at, |it| it.takes)
            || self.tokens.get(at..).and_then(numbers::read_either).is_some()
    }

    fn is_in(&self, at: usize, list: impl Fn(&'static DiceTalk) -> List) -> bool {
        let plain = self.word(at).map(|word| word.replace(['\'', '\u{2019}'], ""));
        plain.is_some_and(|word| is_dice_talk(list, &word))
    }

    /// Advantage anywhere: "with advantage, roll a d twenty".
    fn advantage_elsewhere(&self) -> Elsewhere {
        *self.elsewhere.get_or_init(|| self.find_advantage())
    }

    fn find_advantage(&self) -> Elsewhere {
        let linked = |at: &usize| {
            let before = at.checked_sub(1).and_then(|at| self.word(at));
            // "disadvantage on a d twenty"
            let begins = before.is_none() && matches!(self.word(at + 1), Some("on" | "auf"));
            let is_said = matches!(
                before,
                Some("with" | "at" | "have" | "has" | "got" | "mit" | "im" | "habe")
            );
            begins || is_said || self.stands_alone(*at)
        };
        // Reads the words around a place only if advantage is said there.
        let said = (0..self.tokens.len()).filter_map(|at| Some((at, self.advantage(at)?.0)));
        said.filter(|(at, _)| linked(at)).fold(Elsewhere::None, |all, (_, one)| match all {
            Elsewhere::None => Elsewhere::One(one),
            Elsewhere::One(other) if other == one => all,
            _ => Elsewhere::Both,
        })
    }
}

/// A roll of a d20, which no damage is added to.
fn is_check(text: &str) -> bool {
    text.contains("d20")
}
