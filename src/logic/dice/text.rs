//! Text of a roll for people: `4d6kh3 (5, ~~1~~, 3, 4) + 2 = 14`, with a note where tables read a
//! spelling differently.

use std::fmt::{self, Write as _};

use super::outcome::Natural;
use super::roll::{Die, Face, Part, Rolled};
use super::tree::{Kind, Node, Ops, Pick, Verb};

pub(super) fn line(text: &mut String, rolled: &Rolled<'_>, total: i64, natural: Option<Natural>) {
    let natural = match natural {
        Some(Natural::Twenty) => " (natural 20)",
        Some(Natural::One) => " (natural 1)",
        None => "",
    };
    // Writing to a string cannot fail.
    let _ = write!(text, "{} = {total}{natural}", Shown { rolled, in_dropped: false });
}

/// Writes the reading chosen where tables differ, and the comment.
pub(super) fn remarks(text: &mut String, root: &Node, comment: Option<&str>) {
    for (verb, what) in [(Verb::Keep, ("k", "kept", "kh")), (Verb::Drop, ("p", "dropped", "pl"))] {
        let number = std::cell::Cell::new(None);
        root.any_op(&|op| {
            let exact = op.selectors.iter().find(|s| s.pick == Pick::Exactly);
            number.set(exact.filter(|_| op.verb == verb).map(|s| s.number));
            number.get().is_some()
        });
        if let Some(number) = number.get() {
            let (letter, done, other) = what;
            let height = if verb == Verb::Keep { "highest" } else { "lowest" };
            let _ = write!(
                text,
                " ({letter}{number} {done} what equals {number}; {other}{number} is the {height} {number})"
            );
        }
    }
    if has_comparison(root) {
        text.push_str(" (sums are compared: 1 is yes, 0 is no)");
    }
    if let Some(comment) = comment {
        let _ = write!(text, " # {comment}");
    }
}

fn has_comparison(node: &Node) -> bool {
    let own = match &node.kind {
        Kind::Chain(_, rest) => rest.iter().any(|link| link.op.is_comparison()),
        _ => false,
    };
    own || node.children().into_iter().any(has_comparison)
}

/// Displays a rolled value; strikes out dropped parts once, at the outermost.
struct Shown<'a> {
    rolled: &'a Rolled<'a>,
    /// True if an enclosing value is struck out already.
    in_dropped: bool,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strike = !self.rolled.kept && !self.in_dropped;
        let in_dropped = self.in_dropped || strike;
        let shown = |rolled| Shown { rolled, in_dropped };
        f.write_str(if strike { "~~" } else { "" })?;
        match &self.rolled.part {
            Part::Number(number) => write!(f, "{number}")?,
            Part::Dice(term, dice) => {
                write!(f, "{term} (")?;
                for (at, die) in dice.iter().enumerate() {
                    f.write_str(if at > 0 { ", " } else { "" })?;
                    write_die(f, die, in_dropped)?;
                }
                f.write_str(")")?;
            }
            Part::Group(inner, ops) => write!(f, "({}){}", shown(inner), Ops(ops))?,
            Part::Set(items, ops) => {
                f.write_str("(")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{}", if at > 0 { ", " } else { "" }, shown(item))?;
                }
                write!(f, "{}){}", if items.len() == 1 { "," } else { "" }, Ops(ops))?;
            }
            Part::Sign(sign, inner) => write!(f, "{sign}{}", shown(inner))?,
            Part::Chain(first, rest) => {
                write!(f, "{}", shown(first))?;
                for (op, _, right) in rest {
                    write!(f, " {op} {}", shown(right))?;
                }
            }
        }
        self.rolled.node.labels.iter().try_for_each(|label| write!(f, " [{label}]"))?;
        f.write_str(if strike { "~~" } else { "" })
    }
}

/// Writes one die; earlier faces are struck out.
fn write_die(f: &mut fmt::Formatter<'_>, die: &Die, in_dropped: bool) -> fmt::Result {
    for face in &die.earlier {
        write_face(f, *face, !in_dropped)?;
        f.write_str(", ")?;
    }
    write_face(f, die.face, !die.kept && !in_dropped)
}

/// Writes a face, struck out (`~~1~~`) if it does not count.
fn write_face(f: &mut fmt::Formatter<'_>, face: Face, strike: bool) -> fmt::Result {
    let strike = if strike { "~~" } else { "" };
    write!(f, "{strike}{}", face.thrown)?;
    if face.counts != face.thrown {
        write!(f, " -> {}", face.counts)?;
    }
    write!(f, "{}{strike}", if face.exploded { "!" } else { "" })
}
