//! The parsed form of a roll and its canonical text.
//!
//! Sums and products are flat chains rather than pairs, so only brackets and signs add depth.

use std::fmt;

use super::arithmetic::Binary;

/// A value with the labels behind it (`2d6[fire]`).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub kind: Kind,
    pub labels: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Number(f64),
    Dice(Dice),
    /// `(x)`: operators apply to what is inside.
    Group(Box<Node>, Vec<Op>),
    Set(Vec<Node>, Vec<Op>),
    Sign(Sign, Box<Node>),
    /// Operators of one precedence, applied from left to right.
    Chain(Box<Node>, Vec<Link>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Plus,
    Minus,
}

#[derive(Debug, Clone)]
pub(super) struct Dice {
    /// Number thrown at first.
    pub count: u32,
    pub sides: Sides,
    pub ops: Vec<Op>,
    /// Start of the term, from 1; for errors.
    pub column: usize,
}

impl PartialEq for Dice {
    /// Ignores columns.
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count && self.sides == other.sides && self.ops == other.ops
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sides {
    /// 1 to this number.
    Faces(i32),
    Fate,
}

#[derive(Debug, Clone)]
pub(super) struct Link {
    pub op: Binary,
    /// Column of the operator, from 1; for errors.
    pub column: usize,
    pub node: Node,
}

impl PartialEq for Link {
    /// Ignores columns.
    fn eq(&self, other: &Self) -> bool {
        self.op == other.op && self.node == other.node
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Op {
    pub verb: Verb,
    /// Never empty.
    pub selectors: Vec<Selector>,
}

impl Op {
    pub fn new(verb: Verb, pick: Pick, number: i32) -> Self {
        Self { verb, selectors: vec![Selector { pick, number }] }
    }

    /// True if it keeps or drops by height: such dice cannot take advantage.
    pub fn is_by_height(&self) -> bool {
        matches!(self.verb, Verb::Keep | Verb::Drop)
            && self.selectors.iter().any(|selector| selector.pick.is_by_height())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// `k`: drops the others.
    Keep,
    Drop,
    /// `rr`: until none is left.
    RerollUntil,
    RerollOnce,
    /// `ra`: one more die for the first.
    ExplodeOne,
    /// `e`: one more die for each, also for the new ones.
    Explode,
    /// `mi`: lower faces count as this.
    Minimum,
    /// `ma`: higher faces count as this.
    Maximum,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Selector {
    pub pick: Pick,
    pub number: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pick {
    /// `3`: values equal to it.
    Exactly,
    /// `h3`: this many of the highest.
    Highest,
    /// `l3`: this many of the lowest.
    Lowest,
    Above,
    Below,
}

impl Pick {
    /// True if the choice depends on the other values.
    pub fn is_by_height(self) -> bool {
        matches!(self, Self::Highest | Self::Lowest)
    }
}

impl Node {
    pub fn new(kind: Kind) -> Self {
        Self { kind, labels: Vec::new() }
    }

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

    pub fn has_dice(&self) -> bool {
        matches!(self.kind, Kind::Dice(_)) || self.children().into_iter().any(Self::has_dice)
    }

    /// True if `test` holds for an operation anywhere in it.
    pub fn any_op(&self, test: &impl Fn(&Op) -> bool) -> bool {
        let own = match &self.kind {
            Kind::Dice(dice) => dice.ops.iter().any(test),
            Kind::Group(_, ops) | Kind::Set(_, ops) => ops.iter().any(test),
            _ => false,
        };
        own || self.children().into_iter().any(|child| child.any_op(test))
    }

    /// The dice at the far left, if it begins with dice.
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
