//! Operators behind dice and brackets: `kh3`, `rr<3`, `!>4`, advantage.

use super::tree::{Dice, Op, Pick, Sides, Verb};
use super::{
    cursor::{Parsed, Parser},
    outcome::MAX_SIDES,
};

pub(super) const BEHIND_DIE: &str = "put adv right behind its die, as in d20adv+1d4";

impl Parser<'_> {
    /// Everything behind dice: operators, `!`, and advantage directly behind a die.
    pub fn dice_ops(&mut self, dice: &mut Dice) -> Parsed<()> {
        loop {
            let next = self.after_blanks(self.at);
            let glued = next == self.at;
            if self.peek_at(next) == Some('!') && self.peek_at(next + 1) != Some('=') {
                self.at = next;
                let op = self.bang(dice.sides)?;
                push_op(&mut dice.ops, op);
            } else if let Some(op) = self.op()? {
                push_op(&mut dice.ops, op);
            } else if let Some((pick, word)) = advantage_at(self, next)
                && (glued || dice.sides == Sides::Faces(20))
            {
                self.at = word;
                take_advantage(self, dice, pick)?;
            } else {
                return Ok(());
            }
        }
    }

    /// `!`, `!5`, `!>4`, `!<2`: explodes. `>` and `<` include their number, as in Roll20.
    fn bang(&mut self, sides: Sides) -> Parsed<Op> {
        let start = self.at;
        self.at += 1;
        let pick = match self.peek() {
            Some('!') => {
                self.at = start;
                let hint = "compounding dice are not known; ! adds the new die as its own";
                return Err(self.fault(2, "\"!!\" is no operator", Some(hint)));
            }
            Some('p') if self.word_at(self.at) == "p" => {
                self.at = start;
                let hint = "penetrating dice are not known; to drop put a blank before p";
                return Err(self.fault(2, "\"!p\" is no operator", Some(hint)));
            }
            Some('>') => Pick::Above,
            Some('<') => Pick::Below,
            Some('0'..='9') => Pick::Exactly,
            _ => {
                let top = match sides {
                    Sides::Faces(sides) => sides,
                    Sides::Fate => 1,
                };
                return Ok(Op::new(Verb::Explode, Pick::Exactly, top));
            }
        };
        if pick != Pick::Exactly {
            self.at += 1;
            if self.peek() == Some('=') {
                self.at += 1;
            }
        }
        let number = self.selector_number("!")?;
        if pick == Pick::Above && matches!(sides, Sides::Faces(sides) if sides < number) {
            let hint = "to compare the sum put a blank behind !";
            let len = self.at - start;
            self.at = start;
            return Err(self.fault(len, format!("no die shows {number} or more"), Some(hint)));
        }
        let number = match pick {
            Pick::Above => (number - 1).max(0),
            Pick::Below => number + 1,
            _ => number,
        };
        Ok(Op::new(Verb::Explode, pick, number))
    }

    /// An operator with its selector, perhaps after blanks; `None` if there is no operator.
    fn op(&mut self) -> Parsed<Option<Op>> {
        let next = self.after_blanks(self.at);
        let word = self.word_at(next);
        let Some((verb, pick)) = operator_word(&word) else { return Ok(None) };
        let start = next;
        self.at = self.after_blanks(next + word.chars().count());
        let pick = match (pick, self.peek()) {
            (Pick::Exactly, Some(sign @ ('<' | '>'))) => {
                self.at = self.after_blanks(self.at + 1);
                if sign == '<' { Pick::Below } else { Pick::Above }
            }
            (pick, _) => pick,
        };
        if !self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at = start;
            return Err(self.fault(word.len(), format!("\"{word}\" needs a number"), None));
        }
        if matches!(verb, Verb::Minimum | Verb::Maximum) && pick != Pick::Exactly {
            let plain = if verb == Verb::Minimum { "mi2" } else { "ma5" };
            self.at = start;
            let message = format!("\"{word}\" takes a plain number only");
            return Err(self.fault(word.len(), message, Some(&format!("as in {plain}"))));
        }
        let number = self.selector_number(&word)?;
        Ok(Some(Op::new(verb, pick, number)))
    }

    fn selector_number(&mut self, operator: &str) -> Parsed<i32> {
        let digits = self.digits_at(self.at);
        if digits.is_empty() {
            return Err(self.missing(&format!("\"{operator}\" needs a number"), None));
        }
        let number = digits.parse().ok().filter(|n| *n <= MAX_SIDES).ok_or_else(|| {
            let hint = format!("0 to {MAX_SIDES}");
            self.fault(digits.len(), format!("\"{digits}\" is too large here"), Some(&hint))
        })?;
        self.at += digits.len();
        Ok(number)
    }

    /// Keep and drop behind a bracket.
    pub fn set_ops(&mut self) -> Parsed<Vec<Op>> {
        let mut ops = Vec::new();
        loop {
            let before = self.after_blanks(self.at);
            let Some(op) = self.op()? else { return Ok(ops) };
            if !matches!(op.verb, Verb::Keep | Verb::Drop) {
                let len = self.at - before;
                self.at = before;
                let hint = "write it inside the bracket, behind the dice";
                return Err(self.fault(len, "a bracket can only keep or drop", Some(hint)));
            }
            push_op(&mut ops, op);
        }
    }
}

/// Meaning of an operator's letters, without the number's sign.
pub(super) fn operator_word(word: &str) -> Option<(Verb, Pick)> {
    let (verb, pick) = match word {
        // `dl` and `dh` are Roll20's and Foundry's names of `pl` and `ph`; `min` and `max` are
        // Foundry's.
        "dl" => return Some((Verb::Drop, Pick::Lowest)),
        "dh" => return Some((Verb::Drop, Pick::Highest)),
        "min" => return Some((Verb::Minimum, Pick::Exactly)),
        "max" => return Some((Verb::Maximum, Pick::Exactly)),
        _ => match word.strip_suffix('h') {
            Some(verb) => (verb, Pick::Highest),
            None => match word.strip_suffix('l') {
                Some(verb) => (verb, Pick::Lowest),
                None => (word, Pick::Exactly),
            },
        },
    };
    let verb = match verb {
        "k" => Verb::Keep,
        "p" => Verb::Drop,
        "rr" => Verb::RerollUntil,
        "ro" => Verb::RerollOnce,
        "ra" => Verb::ExplodeOne,
        "e" => Verb::Explode,
        "mi" => Verb::Minimum,
        "ma" => Verb::Maximum,
        _ => return None,
    };
    Some((verb, pick))
}

/// Adds an operation. Consecutive ones with the same verb merge, as in Avrae: `rr1rr2` rerolls
/// both. Drops selectors that another contains, which bounds the work of a reroll loop; not for
/// `ra`, which takes the first die of its first matching selector.
fn push_op(ops: &mut Vec<Op>, op: Op) {
    let immediate = matches!(op.verb, Verb::Minimum | Verb::Maximum);
    let Some(last) = ops.last_mut().filter(|last| last.verb == op.verb && !immediate) else {
        ops.push(op);
        return;
    };
    for new in op.selectors {
        let same = last.selectors.iter_mut().find(|old| {
            let alike = old.pick == new.pick && new.pick != Pick::Exactly;
            **old == new || (alike && op.verb != Verb::ExplodeOne)
        });
        match (same, new.pick) {
            (None, _) => last.selectors.push(new),
            (Some(old), Pick::Above) => old.number = old.number.min(new.number),
            (Some(old), _) => old.number = old.number.max(new.number),
        }
    }
}

pub(super) fn advantage(word: &str) -> Option<Pick> {
    match word {
        "adv" | "advantage" => Some(Pick::Highest),
        "dis" | "disadv" | "disadvantage" => Some(Pick::Lowest),
        _ => None,
    }
}

/// Advantage at `at`, perhaps behind "with": what it keeps, and the position of its word.
pub(super) fn advantage_at(parser: &Parser<'_>, at: usize) -> Option<(Pick, usize)> {
    let word = parser.word_at(at);
    if let Some(pick) = advantage(&word) {
        return Some((pick, at));
    }
    let next = parser.after_blanks(at + word.chars().count());
    let is_link = matches!(word.as_str(), "with" | "at" | "has");
    advantage(&parser.word_at(next)).filter(|_| is_link).map(|pick| (pick, next))
}

/// Doubles a single die and keeps one of the two, before any other operation (as Avrae). Moves the
/// parser past the advantage word.
pub(super) fn take_advantage(parser: &mut Parser<'_>, dice: &mut Dice, pick: Pick) -> Parsed<()> {
    let word = parser.word_at(parser.at);
    let len = word.chars().count();
    if parser.peek_at(parser.at + len).is_some_and(|c| c.is_ascii_digit()) {
        let hint = format!("to add to the roll write {word}+");
        let message = format!("\"{word}\" takes no number");
        return Err(parser.fault(len, message, Some(&hint)));
    }
    if dice.count != 1 || dice.ops.iter().any(|op| op.verb == Verb::Keep) {
        let letter = if pick == Pick::Highest { 'h' } else { 'l' };
        let hint = format!("1d20 {word}, or keep one of several: 2d20k{letter}1");
        let message = format!("\"{word}\" needs a single die");
        return Err(parser.fault(len, message, Some(&hint)));
    }
    dice.count = 2;
    dice.ops.insert(0, Op::new(Verb::Keep, pick, 1));
    parser.at += len;
    Ok(())
}

/// True if `word` is an advantage word with a letter doubled or two swapped.
pub(super) fn is_near_advantage(word: &str) -> bool {
    let slips =
        ["addv", "aadv", "avd", "advn", "advt", "dsi", "ids", "diss", "ddis", "diis", "disa"];
    let starts = word.starts_with("advv") || word.starts_with("advan") || word.starts_with("disad");
    starts && !word.starts_with("advanc")
        || slips.contains(&word)
        || word.starts_with("advent") && word.ends_with("age")
}
