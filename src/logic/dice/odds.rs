//! Exact probabilities of totals.
//!
//! Entry type: [`Odds`]. No die occurs twice in an expression, so its parts are independent and
//! their probabilities multiply. **Never**: estimates; a count of too many outcomes is refused.

use std::{cmp::Ordering, collections::BTreeMap};

use super::{
    arithmetic::Binary,
    expression::Expression,
    outcome::DiceError,
    roll::{is_taken, whole},
    tree::{Dice, Kind, Node, Op, Pick, Selector, Sides, Sign, Verb},
};

/// Most steps of a count; a step combines two outcomes.
const MOST_STEPS: usize = 20_000_000;

/// Probabilities of an expression's totals.
#[derive(Debug, Clone, PartialEq)]
pub struct Odds {
    /// Each possible total and its probability, lowest first.
    pub outcomes: Vec<(i64, f64)>,
    /// Mean of all totals.
    pub mean: f64,
    /// Probability that a comparison holds; `None` without one.
    pub chance: Option<f64>,
}

impl Expression {
    /// Computes the probability of each total of one roll.
    ///
    /// # Errors
    /// Exploding dice, brackets that keep or drop, a division by zero, or too many outcomes.
    pub fn odds(&self) -> Result<Odds, DiceError> {
        let counted = Counter { left: MOST_STEPS }.node(&self.root)?;
        let mut totals: BTreeMap<i64, f64> = BTreeMap::new();
        for (value, likely) in &counted.0 {
            *totals.entry(whole(value.0)).or_default() += likely;
        }
        let mean = counted.0.iter().map(|(value, likely)| value.0 * likely).sum();
        let is_compared = matches!(&self.root.kind, Kind::Chain(_, rest)
            if rest.last().is_some_and(|link| link.op.is_comparison()));
        let chance = is_compared.then(|| totals.get(&1).copied().unwrap_or_default());
        Ok(Odds { outcomes: totals.into_iter().collect(), mean, chance })
    }
}

#[derive(Debug, Clone, Copy)]
struct Value(f64);

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        // Zero has two signs but is one value.
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

/// Values and their probabilities, which add up to 1.
#[derive(Clone)]
struct Likely(BTreeMap<Value, f64>);

impl Likely {
    fn certain(value: f64) -> Self {
        Self(BTreeMap::from([(Value(value), 1.0)]))
    }

    /// Applies `change` to each value; equal results are added up.
    fn map(&self, change: impl Fn(f64) -> f64) -> Self {
        let mut changed = BTreeMap::new();
        for (value, likely) in &self.0 {
            *changed.entry(Value(change(value.0))).or_default() += likely;
        }
        Self(changed)
    }
}

struct Counter {
    left: usize,
}

impl Counter {
    fn node(&mut self, node: &Node) -> Result<Likely, DiceError> {
        match &node.kind {
            Kind::Number(number) => Ok(Likely::certain(*number)),
            Kind::Dice(dice) => self.dice(dice),
            Kind::Group(inner, ops) if ops.is_empty() => self.node(inner),
            Kind::Set(items, ops) if ops.is_empty() => {
                items.iter().try_fold(Likely::certain(0.0), |sum, item| {
                    let item = self.node(item)?;
                    self.joined(&sum, &item, |sum, item| Binary::Add.apply(sum, item, 1))
                })
            }
            Kind::Group(..) | Kind::Set(..) => Err(refused(
                1,
                "the odds of a bracket that keeps or drops",
                "put it behind the dice",
            )),
            Kind::Sign(Sign::Plus, inner) => self.node(inner),
            Kind::Sign(Sign::Minus, inner) => Ok(self.node(inner)?.map(|value| -value)),
            Kind::Chain(first, rest) => {
                let mut sum = self.node(first)?;
                for link in rest {
                    let right = self.node(&link.node)?;
                    sum = self.joined(&sum, &right, |left, right| {
                        link.op.apply(left, right, link.column)
                    })?;
                }
                Ok(sum)
            }
        }
    }

    fn joined(
        &mut self,
        left: &Likely,
        right: &Likely,
        join: impl Fn(f64, f64) -> Result<f64, DiceError>,
    ) -> Result<Likely, DiceError> {
        self.spend(left.0.len().saturating_mul(right.0.len()))?;
        let mut joined = BTreeMap::new();
        for (one, likely) in &left.0 {
            for (other, as_likely) in &right.0 {
                *joined.entry(Value(join(one.0, other.0)?)).or_default() += likely * as_likely;
            }
        }
        Ok(Likely(joined))
    }

    fn spend(&mut self, steps: usize) -> Result<(), DiceError> {
        self.left = self
            .left
            .checked_sub(steps)
            .ok_or_else(|| refused(1, "the odds of so many outcomes", "take fewer dice"))?;
        Ok(())
    }

    /// A term of dice: operations on each die, then the choice of those that count.
    fn dice(&mut self, dice: &Dice) -> Result<Likely, DiceError> {
        let refuse =
            |what: &str| refused(dice.column, &format!("the odds of {what}"), "leave it out");
        let mut die = self.die(dice.sides)?;
        let mut ops = dice.ops.iter().peekable();
        while let Some(op) = ops.next_if(|op| !op.is_by_height()) {
            die = match op.verb {
                Verb::Minimum => die.map(|face| face.max(bound(op))),
                Verb::Maximum => die.map(|face| face.min(bound(op))),
                Verb::Keep => die.map(|face| if takes(op, face) { face } else { 0.0 }),
                Verb::Drop => die.map(|face| if takes(op, face) { 0.0 } else { face }),
                Verb::RerollOnce => rerolled_once(&die, op),
                Verb::RerollUntil => rerolled_until(&die, op)
                    .ok_or_else(|| refuse("dice that are rerolled for ever"))?,
                Verb::Explode | Verb::ExplodeOne => return Err(refuse("dice that explode")),
            };
            let is_dropped = matches!(op.verb, Verb::Keep | Verb::Drop);
            if is_dropped && ops.peek().is_some() {
                return Err(refuse("dice that are dropped and then something else"));
            }
        }
        let Some(op) = ops.next() else { return self.summed(&die, dice.count) };
        match (op.selectors.as_slice(), ops.next()) {
            ([selector], None) if selector.pick.is_by_height() => {
                self.by_height(&die, dice.count, Height::of(op, *selector, dice.count))
            }
            _ => Err(refuse("dice of which several are kept or dropped by several rules")),
        }
    }

    fn die(&mut self, sides: Sides) -> Result<Likely, DiceError> {
        let (lowest, highest) = match sides {
            Sides::Faces(sides) => (1, sides.max(1)),
            Sides::Fate => (-1, 1),
        };
        self.spend(usize::try_from(highest - lowest).unwrap_or(usize::MAX))?;
        let each = 1.0 / f64::from(highest - lowest + 1);
        Ok(Likely((lowest..=highest).map(|face| (Value(f64::from(face)), each)).collect()))
    }

    fn summed(&mut self, die: &Likely, count: u32) -> Result<Likely, DiceError> {
        let mut sum = Likely::certain(0.0);
        for _ in 0..count {
            sum = self.joined(&sum, die, |sum, face| Ok(sum + face))?;
        }
        Ok(sum)
    }

    /// The sum of the highest or lowest of `count` dice, by how many show each face.
    fn by_height(&mut self, die: &Likely, count: u32, height: Height) -> Result<Likely, DiceError> {
        let mut faces: Vec<(f64, f64)> = die.0.iter().map(|(face, it)| (face.0, *it)).collect();
        if height.from_highest {
            faces.reverse();
        }
        // By the number of dice with a face so far and the sum of those that count.
        let mut states: BTreeMap<(u32, Value), f64> = BTreeMap::from([((0, Value(0.0)), 1.0)]);
        for (face, likely) in faces {
            let mut next: BTreeMap<(u32, Value), f64> = BTreeMap::new();
            for ((shown, sum), so_far) in &states {
                self.spend(usize::try_from(count - shown).unwrap_or(usize::MAX).saturating_add(1))?;
                for more in 0..=count - shown {
                    let counts = more.min(height.kept.saturating_sub(*shown));
                    let sum = Value(sum.0 + f64::from(counts) * face);
                    let ways = choose(count - shown, more)
                        * likely.powi(i32::try_from(more).unwrap_or(i32::MAX));
                    *next.entry((shown + more, sum)).or_default() += so_far * ways;
                }
            }
            states = next;
        }
        let mut sums = BTreeMap::new();
        for ((_, sum), likely) in states.into_iter().filter(|((shown, _), _)| *shown == count) {
            *sums.entry(sum).or_default() += likely;
        }
        Ok(Likely(sums))
    }
}

#[derive(Clone, Copy)]
struct Height {
    from_highest: bool,
    kept: u32,
}

impl Height {
    /// Of `count` dice; dropping the lowest keeps the highest.
    fn of(op: &Op, selector: Selector, count: u32) -> Self {
        let number = u32::try_from(selector.number).unwrap_or(0).min(count);
        let highest = selector.pick == Pick::Highest;
        match op.verb {
            Verb::Keep => Self { from_highest: highest, kept: number },
            _ => Self { from_highest: !highest, kept: count - number },
        }
    }
}

/// A die rerolled once if `op` takes its face.
fn rerolled_once(die: &Likely, op: &Op) -> Likely {
    let again = taken(die, op);
    let faces = die.0.iter().map(|(face, likely)| {
        let stays = if takes(op, face.0) { 0.0 } else { *likely };
        (*face, stays + likely * again)
    });
    Likely(faces.collect())
}

/// A die rerolled until `op` does not take it; `None` if it takes every face.
fn rerolled_until(die: &Likely, op: &Op) -> Option<Likely> {
    let left = 1.0 - taken(die, op);
    let faces = die.0.iter().filter(|(face, _)| !takes(op, face.0));
    let faces = faces.map(|(face, likely)| (*face, likely / left));
    (left > f64::EPSILON).then(|| Likely(faces.collect()))
}

fn taken(die: &Likely, op: &Op) -> f64 {
    die.0.iter().filter(|(face, _)| takes(op, face.0)).map(|(_, likely)| likely).sum()
}

/// True if an operation takes a die that shows `face`.
fn takes(op: &Op, face: f64) -> bool {
    op.selectors.iter().any(|selector| is_taken(face, *selector))
}

fn bound(op: &Op) -> f64 {
    op.selectors.first().map_or(0.0, |selector| f64::from(selector.number))
}

fn choose(all: u32, few: u32) -> f64 {
    (0..few).fold(1.0, |ways, at| ways * f64::from(all - at) / f64::from(at + 1))
}

fn refused(column: usize, what: &str, hint: &str) -> DiceError {
    DiceError { column, message: format!("{what} are not known"), hint: Some(hint.to_owned()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{SeedableRng, rngs::StdRng};

    use super::super::parse;
    use crate::extent;

    fn chance(expression: &str) -> f64 {
        parse(expression).unwrap().odds().unwrap().chance.unwrap()
    }

    #[test]
    fn odds_are_counted() {
        let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
        for (expression, of, all) in [
            ("1d20 >= 15", 6.0, 20.0),
            ("2d6+3 >= 10", 21.0, 36.0),
            ("2d6 == 7", 6.0, 36.0),
            ("1d20+5 > 15", 10.0, 20.0),
            ("2d20kh1 >= 15", 204.0, 400.0),
            ("2d20kl1 >= 15", 36.0, 400.0),
            ("4d6kh3 == 18", 21.0, 1296.0),
            ("4d6pl1 == 18", 21.0, 1296.0),
            ("1d6ro1 == 1", 1.0, 36.0),
            ("1d6rr<3 >= 5", 2.0, 4.0),
            ("1d6mi3 == 3", 3.0, 6.0),
            ("3d6k6 == 18", 1.0, 216.0),
            ("4dF == 4", 1.0, 81.0),
            ("-1d4+5 == 1", 1.0, 4.0),
            ("1d6*2 == 4", 1.0, 6.0),
        ] {
            assert!(near(chance(expression), of / all), "{expression}: {}", chance(expression));
        }
        let odds = parse("8d6").unwrap().odds().unwrap();
        assert_eq!((odds.outcomes.first().unwrap().0, odds.outcomes.last().unwrap().0), (8, 48));
        assert!(near(odds.mean, 28.0) && odds.chance.is_none());
        // Counting up to the limit takes seconds.
        let many = if extent::whole() { "1000d1000" } else { "3d9999" };
        for refused in ["1d6e6", "(1d6, 1d8)kh1", many, "1d2rr<3", "1/0"] {
            let refused = parse(refused).unwrap().odds().expect_err(refused);
            assert!(refused.message.contains("not known") || refused.message.contains("zero"));
        }
    }

    proptest! {
        #[test]
        fn rolled_totals_are_possible_outcomes(count in 1u32..6, sides in 1u32..9, kept in 0u32..6, seed: u64) {
            for text in [format!("{count}d{sides}"), format!("{count}d{sides}kh{kept}-2")] {
                let expression = parse(&text).unwrap();
                let odds = expression.odds().unwrap();
                let sum: f64 = odds.outcomes.iter().map(|(_, likely)| likely).sum();
                prop_assert!((sum - 1.0).abs() < 1e-9, "{} {}", text, sum);
                let total = expression.roll(&mut StdRng::seed_from_u64(seed)).unwrap().totals[0];
                prop_assert!(odds.outcomes.iter().any(|(it, likely)| *it == total && *likely > 0.0));
            }
        }
    }
}
