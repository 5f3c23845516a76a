//! The parsed form of a roll and its canonical print.
//!
//! Sums and products are flat chains, not pairs, so depth grows with brackets and signs alone.
//! **Never** rolls.

use std::fmt;

use super::arithmetic::Binary;

/// A value with the labels written behind it (`2d6[fire]`).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    /// The value without its labels.
    pub kind: Kind,
    /// Label texts without their brackets.
    pub labels: Vec<String>,
}

/// The kinds of value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// `3`, `.5`.
    Number(f64),
    /// `4d6kh3`.
    Dice(Dice),
    /// `(x)`: operators on it work on what is inside.
    Group(Box<Node>, Vec<Op>),
    /// `()`, `(a,)`, `(a, b)`.
    Set(Vec<Node>, Vec<Op>),
    /// `-x`, `+x`.
    Sign(Sign, Box<Node>),
    /// Operators of one precedence, applied from the left.
    Chain(Box<Node>, Vec<Link>),
}

/// A unary sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// `+`
    Plus,
    /// `-`
    Minus,
}

/// One term of dice.
#[derive(Debug, Clone)]
pub(super) struct Dice {
    /// Number of dice thrown at first.
    pub count: u32,
    /// The dice's faces.
    pub sides: Sides,
    /// Operations on them, in order.
    pub ops: Vec<Op>,
    /// Start of the term, from 1; for errors.
    pub column: usize,
}

impl PartialEq for Dice {
    /// Equal when they roll alike; where they were written does not matter.
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count && self.sides == other.sides && self.ops == other.ops
    }
}

/// Faces of one die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sides {
    /// 1 to this many.
    Faces(i32),
    /// -1, 0 or 1.
    Fate,
}

/// The right half of a binary operation.
#[derive(Debug, Clone)]
pub(super) struct Link {
    /// The operator.
    pub op: Binary,
    /// Position of the operator, from 1; for errors.
    pub column: usize,
    /// The right operand.
    pub node: Node,
}

impl PartialEq for Link {
    /// Equal when they compute alike; where they were written does not matter.
    fn eq(&self, other: &Self) -> bool {
        self.op == other.op && self.node == other.node
    }
}

/// An operation on dice or a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Op {
    /// The effect.
    pub verb: Verb,
    /// To which of them; never empty.
    pub selectors: Vec<Selector>,
}

impl Op {
    /// An operation with one selector.
    pub fn new(verb: Verb, pick: Pick, number: i32) -> Self {
        Self { verb, selectors: vec![Selector { pick, number }] }
    }

    /// True if it keeps or drops by height: dice with it have had their advantage.
    pub fn is_by_height(&self) -> bool {
        matches!(self.verb, Verb::Keep | Verb::Drop)
            && self.selectors.iter().any(|selector| selector.pick.is_by_height())
    }
}

/// Effect of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// `k`: the others are dropped.
    Keep,
    /// `p`
    Drop,
    /// `rr`: until none is left.
    RerollUntil,
    /// `ro`
    RerollOnce,
    /// `ra`: one more die for the first.
    ExplodeOne,
    /// `e`: one more die for each, and for those again.
    Explode,
    /// `mi`: lower faces count as this.
    Minimum,
    /// `ma`: higher faces count as this.
    Maximum,
}

/// Selection of the values that an operation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Selector {
    /// Meaning of `number`.
    pub pick: Pick,
    /// The number behind the operator.
    pub number: i32,
}

/// Meaning of a selector's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pick {
    /// `3`: values equal to it.
    Exactly,
    /// `h3`: that many, from the top.
    Highest,
    /// `l3`: that many, from the bottom.
    Lowest,
    /// `>3`
    Above,
    /// `<3`
    Below,
}

impl Pick {
    /// True if it takes values for how they compare with the others.
    pub fn is_by_height(self) -> bool {
        matches!(self, Self::Highest | Self::Lowest)
    }
}

impl Node {
    /// A value without labels.
    pub fn new(kind: Kind) -> Self {
        Self { kind, labels: Vec::new() }
    }

    /// The nodes right below.
    pub fn children(&self) -> Vec<&Self> {
        match &self.kind {
            Kind::Number(_) | Kind::Dice(_) => Vec::new(),
            Kind::Group(inner, _) | Kind::Sign(_, inner) => vec![inner],
            Kind::Set(items, _) => items.iter().collect(),
            Kind::Chain(first, rest) => {
                std::iter::once(&**first).chain(rest.iter().map(|link| &link.node)).collect()
            }
        }
    }

    /// True if anything below is rolled.
    pub fn has_dice(&self) -> bool {
        matches!(self.kind, Kind::Dice(_)) || self.children().into_iter().any(Self::has_dice)
    }

    /// True if `test` holds for any set of operations in it.
    pub fn any_op(&self, test: &impl Fn(&Op) -> bool) -> bool {
        let own = match &self.kind {
            Kind::Dice(dice) => dice.ops.iter().any(test),
            Kind::Group(_, ops) | Kind::Set(_, ops) => ops.iter().any(test),
            _ => false,
        };
        own || self.children().into_iter().any(|child| child.any_op(test))
    }

    /// The dice at the far left, if that is what stands there.
    pub fn leftmost_dice(&mut self) -> Option<&mut Dice> {
        match &mut self.kind {
            Kind::Number(_) => None,
            Kind::Dice(dice) => Some(dice),
            Kind::Group(inner, _) | Kind::Sign(_, inner) | Kind::Chain(inner, _) => {
                inner.leftmost_dice()
            }
            Kind::Set(items, _) => items.first_mut()?.leftmost_dice(),
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Number(number) => write!(f, "{number}")?,
            Kind::Dice(dice) => write!(f, "{dice}")?,
            Kind::Group(inner, ops) => write!(f, "({inner}){}", Ops(ops))?,
            Kind::Set(items, ops) => {
                f.write_str("(")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at > 0 { ", " } else { "" })?;
                }
                write!(f, "{}){}", if items.len() == 1 { "," } else { "" }, Ops(ops))?;
            }
            Kind::Sign(sign, inner) => write!(f, "{sign}{inner}")?,
            Kind::Chain(first, rest) => {
                write!(f, "{first}")?;
                for link in rest {
                    write!(f, "{}{}", link.op, link.node)?;
                }
            }
        }
        self.labels.iter().try_for_each(|label| write!(f, "[{label}]"))
    }
}

impl fmt::Display for Dice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sides {
            Sides::Faces(sides) => write!(f, "{}d{sides}", self.count)?,
            Sides::Fate => write!(f, "{}dF", self.count)?,
        }
        write!(f, "{}", Ops(&self.ops))
    }
}

/// Prints operations one behind the other.
pub(super) struct Ops<'a>(pub &'a [Op]);

impl fmt::Display for Ops<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for op in self.0 {
            let verb = match op.verb {
                Verb::Keep => "k",
                Verb::Drop => "p",
                Verb::RerollUntil => "rr",
                Verb::RerollOnce => "ro",
                Verb::ExplodeOne => "ra",
                Verb::Explode => "e",
                Verb::Minimum => "mi",
                Verb::Maximum => "ma",
            };
            for Selector { pick, number } in &op.selectors {
                let pick = match pick {
                    Pick::Exactly => "",
                    Pick::Highest => "h",
                    Pick::Lowest => "l",
                    Pick::Above => ">",
                    Pick::Below => "<",
                };
                write!(f, "{verb}{pick}{number}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plus => "+",
            Self::Minus => "-",
        })
    }
}
