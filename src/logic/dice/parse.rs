//! Parses text to an [`Expression`]: recursive descent over characters, loosest precedence first:
//! comparison, `+ -`, `* / // %`, sign, then numbers, dice and sets with operators and labels.
//!
//! Characters rather than tokens, because a letter's meaning depends on its position: `d` begins
//! dice, `dl` is an operator behind dice, `drops the sword` is a comment.

use super::comment;
use super::cursor::{Fault, Parsed, Parser};
use super::expression::Expression;
use super::operators::{advantage, operator_word};
use super::tree::{Dice, Kind, Link, Node, Op, Sides, Sign, Verb};
use super::{
    arithmetic::Binary,
    outcome::{MAX_CHARS, MAX_DICE, MAX_NUMBER, MAX_SIDES},
};

pub(super) fn expression(chars: &[char]) -> Parsed<Expression> {
    let mut parser = Parser { chars, at: 0, depth: 0 };
    if chars.len() > MAX_CHARS {
        return Err(Fault {
            at: MAX_CHARS,
            len: 0,
            message: format!("the roll is longer than {MAX_CHARS} characters"),
            hint: Some("split it into several rolls".to_owned()),
        });
    }
    parser.blanks();
    if parser.at == chars.len() {
        return Err(parser.missing("no dice given", Some("write for example 2d6+3")));
    }
    let (repeats, mut root) = match parser.repeat_call()? {
        Some((repeats, root)) => (Some(repeats), root),
        None => (parser.repeat_prefix()?, parser.level(0)?),
    };
    let comment = comment::trailing(&mut parser, &mut root)?;
    Ok(Expression { repeats, root, comment })
}

impl Parser<'_> {
    /// `N#`, or the `N` of `6 4d6`, at the beginning.
    fn repeat_prefix(&mut self) -> Parsed<Option<u32>> {
        let digits = self.digits_at(self.at);
        if digits.is_empty() {
            return Ok(None);
        }
        let end = self.at + digits.len();
        let next = self.after_blanks(end);
        let dice_digits = self.digits_at(next).len();
        let is_set = next > end
            && dice_digits > 0
            && self.peek_at(next + dice_digits) == Some('d')
            && self.dice_ahead(next + dice_digits);
        if self.peek_at(next) != Some('#') && !is_set {
            return Ok(None);
        }
        let repeats = self.repeats(&digits)?;
        self.at = if is_set { next } else { next + 1 };
        Ok(Some(repeats))
    }

    /// `repeat(expression, N)`.
    fn repeat_call(&mut self) -> Parsed<Option<(u32, Node)>> {
        let open = self.after_blanks(self.at + 6);
        if self.word_at(self.at) != "repeat" || self.peek_at(open) != Some('(') {
            return Ok(None);
        }
        self.at = open + 1;
        let root = self.level(0)?;
        if self.peek() != Some(',') {
            return Err(self.fault(1, "repeat needs a number of times", Some("repeat(4d6, 6)")));
        }
        self.at += 1;
        self.blanks();
        let digits = self.digits_at(self.at);
        let repeats = self.repeats(&digits)?;
        self.at += digits.len();
        self.blanks();
        self.close()?;
        Ok(Some((repeats, root)))
    }

    fn repeats(&self, digits: &str) -> Parsed<u32> {
        digits.parse().ok().filter(|n| (1..=MAX_DICE).contains(n)).ok_or_else(|| {
            let message = format!("cannot repeat \"{digits}\" times");
            let hint = format!("1 to {MAX_DICE}, as in 6#4d6");
            self.fault(digits.len(), message, Some(&hint))
        })
    }

    /// A chain of operators of one precedence; 0 is the loosest.
    fn level(&mut self, level: u8) -> Parsed<Node> {
        if level == 3 {
            return self.sign();
        }
        let first = self.level(level + 1)?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let Some((op, len)) = self.operator(level) else { break };
            let column = self.at + 1;
            self.at += len;
            rest.push(Link { op, column, node: self.level(level + 1)? });
        }
        Ok(if rest.is_empty() { first } else { Node::new(Kind::Chain(Box::new(first), rest)) })
    }

    /// The next operator, if it has this precedence, and its length.
    fn operator(&self, level: u8) -> Option<(Binary, usize)> {
        let next = self.peek_at(self.at + 1);
        Some(match (level, self.peek()?) {
            (0, '=') if next == Some('=') => (Binary::Equal, 2),
            (0, '!') if next == Some('=') => (Binary::NotEqual, 2),
            (0, '<') if next == Some('=') => (Binary::AtMost, 2),
            (0, '>') if next == Some('=') => (Binary::AtLeast, 2),
            (0, '<') => (Binary::Less, 1),
            (0, '>') => (Binary::More, 1),
            (0, '≠') => (Binary::NotEqual, 1),
            (0, '≤') => (Binary::AtMost, 1),
            (0, '≥') => (Binary::AtLeast, 1),
            (1, '+') => (Binary::Add, 1),
            (1, '-') => (Binary::Sub, 1),
            (2, '*') => (Binary::Mul, 1),
            (2, '/') if next == Some('/') => (Binary::FloorDiv, 2),
            (2, '/') => (Binary::Div, 1),
            (2, '%') => (Binary::Rem, 1),
            _ => return None,
        })
    }

    /// Signs, then a value with its labels.
    fn sign(&mut self) -> Parsed<Node> {
        self.blanks();
        let sign = match self.peek() {
            Some('+') => Sign::Plus,
            Some('-') => Sign::Minus,
            _ => return self.labelled(),
        };
        self.enter()?;
        self.at += 1;
        let inner = self.sign()?;
        self.depth -= 1;
        Ok(Node::new(Kind::Sign(sign, Box::new(inner))))
    }

    /// A value and the `[labels]` behind it.
    fn labelled(&mut self) -> Parsed<Node> {
        let mut node = self.value()?;
        loop {
            let open = self.after_blanks(self.at);
            if self.peek_at(open) != Some('[') {
                return Ok(node);
            }
            self.at = open;
            let text: String =
                self.chars.iter().skip(open + 1).take_while(|c| **c != ']').collect();
            let close = open + 1 + text.chars().count();
            if close >= self.chars.len() {
                return Err(self.fault(1, "the label is not closed", Some("end it with \"]\"")));
            }
            node.labels.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
            self.at = close + 1;
        }
    }

    fn value(&mut self) -> Parsed<Node> {
        match self.peek() {
            None => Err(self.missing("a number or dice is missing at the end", None)),
            Some('(') => self.bracket(),
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some('d') if self.dice_ahead(self.at) => self.dice(1, self.at),
            Some(c) if c.is_alphabetic() => {
                let word = self.word_at(self.at);
                let Some(pick) = advantage(&word) else {
                    return Err(self.unknown_value(&word));
                };
                let column = self.at + 1;
                self.at += word.chars().count();
                let ops = vec![Op::new(Verb::Keep, pick, 1)];
                let mut dice = Dice { count: 2, sides: Sides::Faces(20), ops, column };
                self.dice_ops(&mut dice)?;
                Ok(Node::new(Kind::Dice(dice)))
            }
            Some(c) => {
                let hint = match c {
                    '[' => Some("a label stands behind its number or dice, as in 2d6[fire]"),
                    '*' => Some("there are no powers; write the product out"),
                    _ => None,
                };
                let found = self.chars.get(self.at).copied().unwrap_or(c);
                Err(self.fault(1, format!("a number or dice must stand before \"{found}\""), hint))
            }
        }
    }

    fn unknown_value(&self, word: &str) -> Fault {
        let len = word.chars().count();
        if word == "d" {
            let hint = "d must be followed by a number of sides, as in d20";
            return self.fault(len, "the number of sides is missing", Some(hint));
        }
        let hint = if self.peek_at(self.at + len) == Some('(') {
            "there are no functions; to keep the higher of two write (1d6, 1d8)kh1"
        } else {
            "write digits and d, as in 2d6+3"
        };
        self.fault(len, format!("\"{word}\" is neither a number nor dice"), Some(hint))
    }

    fn number(&mut self) -> Parsed<Node> {
        let start = self.at;
        let whole = self.digits_at(self.at);
        self.at += whole.len();
        if self.peek() == Some('.') {
            let part = self.digits_at(self.at + 1);
            if whole.is_empty() && part.is_empty() {
                return Err(self.fault(1, "\".\" is not a number", None));
            }
            self.at += 1 + part.len();
            let number = self.literal(start)?;
            if self.peek() == Some('d') && self.dice_ahead(self.at) {
                self.at = start;
                let len = whole.len() + 1 + part.len();
                return Err(self.fault(len, "the number of dice must be whole", None));
            }
            return Ok(number);
        }
        let next = self.after_blanks(self.at);
        if self.peek_at(next) == Some('d') && self.dice_ahead(next) {
            let count = whole.parse().ok().filter(|n| *n <= MAX_DICE).ok_or_else(|| {
                let message = format!("\"{whole}\" dice are too many");
                let hint = format!("a roll may throw {MAX_DICE} dice");
                Fault { at: start, len: whole.len(), message, hint: Some(hint) }
            })?;
            self.at = next;
            return self.dice(count, start);
        }
        if self.word_at(next) == "d" {
            self.at = next;
            return Err(self.unknown_value("d"));
        }
        self.literal(start)
    }

    fn literal(&self, start: usize) -> Parsed<Node> {
        let text: String = self.chars.iter().take(self.at).skip(start).collect();
        match text.parse::<f64>() {
            Ok(number) if number <= MAX_NUMBER => Ok(Node::new(Kind::Number(number))),
            _ => Err(Fault {
                at: start,
                len: self.at - start,
                message: "the number is too large to be exact".to_owned(),
                hint: Some("numbers may reach 9007199254740991".to_owned()),
            }),
        }
    }

    /// True if the `d` at `at` begins dice: a number, `%` or `F` follows.
    fn dice_ahead(&self, at: usize) -> bool {
        let sides = self.peek_at(self.after_blanks(at + 1));
        matches!(sides, Some('0'..='9' | '%')) || self.fate_ahead(at)
    }

    /// True if the `d` at `at` begins fate dice, perhaps with an operator directly behind.
    fn fate_ahead(&self, at: usize) -> bool {
        let word = self.word_at(at);
        word.strip_prefix("df").is_some_and(|rest| {
            rest.is_empty() || operator_word(rest).is_some() || advantage(rest).is_some()
        })
    }

    /// Dice from their `d` on, with their operators. `start` is the position of their count.
    fn dice(&mut self, count: u32, start: usize) -> Parsed<Node> {
        let sides = if self.fate_ahead(self.at) {
            self.at += 2;
            Sides::Fate
        } else {
            self.at += 1;
            self.blanks();
            Sides::Faces(self.sides()?)
        };
        let mut dice = Dice { count, sides, ops: Vec::new(), column: start + 1 };
        self.dice_ops(&mut dice)?;
        Ok(Node::new(Kind::Dice(dice)))
    }

    fn sides(&mut self) -> Parsed<i32> {
        if self.peek() == Some('%') {
            self.at += 1;
            return Ok(100);
        }
        let digits = self.digits_at(self.at);
        let sides = digits.parse().ok().filter(|n| (1..=MAX_SIDES).contains(n));
        let sides = sides.ok_or_else(|| {
            let message = format!("invalid die with \"{digits}\" sides");
            self.fault(digits.len(), message, Some(&format!("1 to {MAX_SIDES}")))
        })?;
        self.at += digits.len();
        Ok(sides)
    }

    /// `(x)`, `()`, `(a,)` or `(a, b)`, with set operators.
    fn bracket(&mut self) -> Parsed<Node> {
        self.enter()?;
        self.at += 1;
        self.blanks();
        let mut items = Vec::new();
        let mut is_set = self.peek() == Some(')');
        while self.peek() != Some(')') {
            items.push(self.level(0)?);
            if self.peek() != Some(',') {
                break;
            }
            is_set = true;
            self.at += 1;
            self.blanks();
        }
        self.close()?;
        self.depth -= 1;
        let ops = self.set_ops()?;
        Ok(Node::new(match (is_set, items.pop()) {
            (false, Some(inner)) => Kind::Group(Box::new(inner), ops),
            (_, last) => {
                items.extend(last);
                Kind::Set(items, ops)
            }
        }))
    }

    fn close(&mut self) -> Parsed<()> {
        match self.peek() {
            Some(')') => {
                self.at += 1;
                Ok(())
            }
            None => Err(self.missing("\")\" is missing", None)),
            Some(_) => Err(comment::unexpected(self)),
        }
    }
}
