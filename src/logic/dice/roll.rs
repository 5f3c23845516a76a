//! Rolls a parsed expression; each die has its history.
//!
//! The operators' effects, their order and the choice between equal values follow Avrae's `d20`
//! 1.1.2.

use std::{cmp::Ordering, collections::BTreeSet};

use rand::{Rng, RngExt};

use super::outcome::{DiceError, Natural};
use super::tree::{Dice, Kind, Node, Op, Pick, Selector, Sides, Sign, Verb};
use super::{
    arithmetic::Binary,
    outcome::{self, MAX_DICE},
};

pub(super) struct Rolled<'a> {
    /// Kept for its labels.
    pub node: &'a Node,
    /// False if dropped by an operator: it counts zero.
    pub kept: bool,
    pub part: Part<'a>,
}

pub(super) enum Part<'a> {
    Number(f64),
    /// Dice, with those added by explosions at the end.
    Dice(&'a Dice, Vec<Die>),
    /// A bracket around one value, with operations on the dice inside.
    Group(Box<Rolled<'a>>, &'a [Op]),
    Set(Vec<Rolled<'a>>, &'a [Op]),
    Sign(Sign, Box<Rolled<'a>>),
    Chain(Box<Rolled<'a>>, Vec<(Binary, usize, Rolled<'a>)>),
}

/// A die with every face it has shown.
pub(super) struct Die {
    pub kept: bool,
    /// Faces before rerolls.
    pub earlier: Vec<Face>,
    pub face: Face,
}

#[derive(Clone, Copy)]
pub(super) struct Face {
    pub thrown: i32,
    /// Number after `mi` and `ma`.
    pub counts: i32,
    /// True if it added a die.
    pub exploded: bool,
}

pub(super) struct Cup<'r, R: ?Sized> {
    rng: &'r mut R,
    /// Dice that may still be thrown.
    left: u32,
}

impl<'r, R: Rng + ?Sized> Cup<'r, R> {
    /// For one roll with all its repeats.
    pub fn new(rng: &'r mut R) -> Self {
        Self { rng, left: MAX_DICE }
    }

    pub fn roll<'a>(&mut self, node: &'a Node) -> Result<Rolled<'a>, DiceError> {
        let part = match &node.kind {
            Kind::Number(number) => Part::Number(*number),
            Kind::Dice(dice) => Part::Dice(dice, self.dice(dice)?),
            Kind::Group(inner, ops) => {
                let mut inner = self.roll(inner)?;
                for op in ops {
                    inner.keep_or_drop(op)?;
                }
                Part::Group(Box::new(inner), ops)
            }
            Kind::Set(items, ops) => {
                let mut items =
                    items.iter().map(|item| self.roll(item)).collect::<Result<Vec<_>, _>>()?;
                for op in ops {
                    keep_or_drop_items(&mut items, op)?;
                }
                Part::Set(items, ops)
            }
            Kind::Sign(sign, inner) => Part::Sign(*sign, Box::new(self.roll(inner)?)),
            Kind::Chain(first, rest) => {
                let first = Box::new(self.roll(first)?);
                let rest = rest
                    .iter()
                    .map(|link| Ok((link.op, link.column, self.roll(&link.node)?)))
                    .collect::<Result<Vec<_>, DiceError>>()?;
                Part::Chain(first, rest)
            }
        };
        Ok(Rolled { node, kept: true, part })
    }

    fn dice(&mut self, term: &Dice) -> Result<Vec<Die>, DiceError> {
        let mut dice = Vec::new();
        for _ in 0..term.count {
            dice.push(self.die(term)?);
        }
        for op in &term.ops {
            match op.verb {
                Verb::Keep | Verb::Drop => {
                    let chosen = select(&values(&dice), &op.selectors);
                    for (die, chosen) in dice.iter_mut().zip(chosen) {
                        die.kept &= chosen == (op.verb == Verb::Keep);
                    }
                }
                Verb::RerollOnce => {
                    let chosen = select(&values(&dice), &op.selectors);
                    for (die, _) in dice.iter_mut().zip(chosen).filter(|(_, chosen)| *chosen) {
                        self.reroll(term, die)?;
                    }
                }
                Verb::RerollUntil => self.reroll_until(term, &mut dice, op)?,
                Verb::Explode => self.explode(term, &mut dice, op)?,
                Verb::ExplodeOne => {
                    let values = values(&dice);
                    let first = op.selectors.iter().find_map(|s| first(&values, *s));
                    if let Some(die) = first.and_then(|at| dice.get_mut(at)) {
                        die.face.exploded = true;
                        dice.push(self.die(term)?);
                    }
                }
                Verb::Minimum | Verb::Maximum => {
                    let Some(bound) = op.selectors.first().map(|s| s.number) else { continue };
                    for die in dice.iter_mut().filter(|die| die.kept) {
                        let counts = &mut die.face.counts;
                        let raise = op.verb == Verb::Minimum;
                        *counts = if raise { (*counts).max(bound) } else { (*counts).min(bound) };
                    }
                }
            }
        }
        Ok(dice)
    }

    fn die(&mut self, term: &Dice) -> Result<Die, DiceError> {
        let face = self.throw(term)?;
        Ok(Die { kept: true, earlier: Vec::new(), face })
    }

    fn throw(&mut self, term: &Dice) -> Result<Face, DiceError> {
        self.left = self.left.checked_sub(1).ok_or_else(|| DiceError {
            column: term.column,
            message: format!("more than {MAX_DICE} dice in one roll"),
            hint: Some("repeats, rerolls and explosions count too".to_owned()),
        })?;
        let thrown = match term.sides {
            Sides::Faces(sides) => self.rng.random_range(1..=sides.max(1)),
            Sides::Fate => self.rng.random_range(-1..=1),
        };
        Ok(Face { thrown, counts: thrown, exploded: false })
    }

    fn reroll(&mut self, term: &Dice, die: &mut Die) -> Result<(), DiceError> {
        die.earlier.push(die.face);
        die.face = self.throw(term)?;
        Ok(())
    }

    fn reroll_until(&mut self, term: &Dice, dice: &mut [Die], op: &Op) -> Result<(), DiceError> {
        let mut chooser = Chooser::new(&op.selectors);
        for (at, die) in dice.iter().enumerate().filter(|(_, die)| die.kept) {
            chooser.add(at, die.face.counts);
        }
        loop {
            let chosen = chooser.chosen();
            if chosen.is_empty() {
                return Ok(());
            }
            for at in chosen {
                let Some(die) = dice.get_mut(at) else { continue };
                chooser.remove(at, die.face.counts);
                self.reroll(term, die)?;
                chooser.add(at, die.face.counts);
            }
        }
    }

    /// Adds a die for each one selected, also among the new ones; each die explodes once.
    fn explode(&mut self, term: &Dice, dice: &mut Vec<Die>, op: &Op) -> Result<(), DiceError> {
        let mut chooser = Chooser::new(&op.selectors);
        let mut seen = 0;
        // A die not selected at first never is later: each new one only takes places among the
        // highest.
        loop {
            for (at, die) in dice.iter().enumerate().skip(seen).filter(|(_, die)| die.kept) {
                chooser.add(at, die.face.counts);
            }
            chooser.narrow();
            let mut new = 0;
            for (at, die) in dice.iter_mut().enumerate().skip(seen) {
                if die.kept && chooser.is_chosen(at, die.face.counts) {
                    die.face.exploded = true;
                    new += 1;
                }
            }
            if new == 0 {
                return Ok(());
            }
            seen = dice.len();
            for _ in 0..new {
                dice.push(self.die(term)?);
            }
        }
    }
}

/// Tracks the dice that selectors take while dice change. A change costs little however many dice
/// and selectors exist, so rerolls and explosions stay fast.
struct Chooser<'a> {
    selectors: &'a [Selector],
    /// Dice taken whatever the others show.
    taken: BTreeSet<usize>,
    /// For each `hN` and `lN`, all dice in the order in which they are taken.
    by_height: Vec<(Selector, BTreeSet<(i64, usize)>)>,
}

impl<'a> Chooser<'a> {
    fn new(selectors: &'a [Selector]) -> Self {
        let by_height = selectors.iter().filter(|selector| selector.pick.is_by_height());
        Self {
            selectors,
            taken: BTreeSet::new(),
            by_height: by_height.map(|selector| (*selector, BTreeSet::new())).collect(),
        }
    }

    fn add(&mut self, at: usize, counts: i32) {
        outcome::note(self.by_height.len());
        if self.selectors.iter().any(|selector| is_taken(f64::from(counts), *selector)) {
            self.taken.insert(at);
        }
        for (selector, places) in &mut self.by_height {
            places.insert(place(*selector, at, counts));
        }
    }

    fn remove(&mut self, at: usize, counts: i32) {
        outcome::note(self.by_height.len());
        self.taken.remove(&at);
        for (selector, places) in &mut self.by_height {
            places.remove(&place(*selector, at, counts));
        }
    }

    /// Forgets dice that others of greater height will always exclude.
    fn narrow(&mut self) {
        for (selector, places) in &mut self.by_height {
            while places.len() > number(*selector) {
                places.pop_last();
            }
        }
    }

    /// True if a die is taken. Call [`Self::narrow`] first.
    fn is_chosen(&self, at: usize, counts: i32) -> bool {
        let high = |(s, places): &(Selector, BTreeSet<_>)| places.contains(&place(*s, at, counts));
        self.taken.contains(&at) || self.by_height.iter().any(high)
    }

    /// All dice taken, from left to right.
    fn chosen(&self) -> BTreeSet<usize> {
        let by_height = self.by_height.iter();
        let by_height = by_height.flat_map(|(s, places)| places.iter().take(number(*s)));
        let chosen = by_height.map(|(_, at)| *at).chain(self.taken.iter().copied());
        chosen.inspect(|_| outcome::note(1)).collect()
    }
}

/// Sort key for a selector by height; equal dice stay in order.
fn place(selector: Selector, at: usize, counts: i32) -> (i64, usize) {
    let counts = i64::from(counts);
    (if selector.pick == Pick::Highest { -counts } else { counts }, at)
}

/// Number of dice that a selector by height takes.
fn number(selector: Selector) -> usize {
    usize::try_from(selector.number).unwrap_or(0)
}

impl Rolled<'_> {
    pub fn total(&self) -> Result<f64, DiceError> {
        if !self.kept {
            return Ok(0.0);
        }
        match &self.part {
            Part::Number(number) => Ok(*number),
            Part::Dice(_, dice) => {
                let kept = dice.iter().filter(|die| die.kept);
                Ok(kept.map(|die| f64::from(die.face.counts)).sum())
            }
            Part::Group(inner, _) => inner.total(),
            Part::Set(items, _) => items
                .iter()
                .try_fold(0.0, |sum, item| Binary::Add.apply(sum, item.total()?, item.column())),
            Part::Sign(Sign::Plus, inner) => inner.total(),
            Part::Sign(Sign::Minus, inner) => Ok(-inner.total()?),
            Part::Chain(first, rest) => {
                rest.iter().try_fold(first.total()?, |left, (op, column, right)| {
                    op.apply(left, right.total()?, *column)
                })
            }
        }
    }

    /// Adds the faces that count, from left to right.
    pub fn faces(&self, faces: &mut Vec<i64>) {
        if !self.kept {
            return;
        }
        match &self.part {
            Part::Number(_) => {}
            Part::Dice(_, dice) => {
                let kept = dice.iter().filter(|die| die.kept);
                faces.extend(kept.map(|die| i64::from(die.face.counts)));
            }
            Part::Group(inner, _) | Part::Sign(_, inner) => inner.faces(faces),
            Part::Set(items, _) => items.iter().for_each(|item| item.faces(faces)),
            Part::Chain(first, rest) => {
                first.faces(faces);
                rest.iter().for_each(|(_, _, right)| right.faces(faces));
            }
        }
    }

    /// Set if the leftmost dice kept a single d20 that shows 20 or 1.
    pub fn natural(&self) -> Option<Natural> {
        if !self.kept {
            return None;
        }
        match &self.part {
            Part::Number(_) => None,
            Part::Dice(term, dice) if term.sides == Sides::Faces(20) => {
                let mut kept = dice.iter().filter(|die| die.kept);
                match (kept.next()?.face.counts, kept.next()) {
                    (20, None) => Some(Natural::Twenty),
                    (1, None) => Some(Natural::One),
                    _ => None,
                }
            }
            Part::Dice(..) => None,
            Part::Group(inner, _) | Part::Sign(_, inner) | Part::Chain(inner, _) => inner.natural(),
            Part::Set(items, _) => items.first()?.natural(),
        }
    }

    /// A column within it, for an error about its sum.
    fn column(&self) -> usize {
        match &self.part {
            Part::Number(_) => 1,
            Part::Dice(term, _) => term.column,
            Part::Group(inner, _) | Part::Sign(_, inner) | Part::Chain(inner, _) => inner.column(),
            Part::Set(items, _) => items.first().map_or(1, Rolled::column),
        }
    }

    /// Applies an operator behind a bracket: to the dice or set inside, else to the one value.
    fn keep_or_drop(&mut self, op: &Op) -> Result<(), DiceError> {
        match &mut self.part {
            Part::Group(inner, _) => inner.keep_or_drop(op),
            Part::Set(items, _) => keep_or_drop_items(items, op),
            Part::Dice(_, dice) => {
                let chosen = select(&values(dice), &op.selectors);
                for (die, chosen) in dice.iter_mut().zip(chosen) {
                    die.kept &= chosen == (op.verb == Verb::Keep);
                }
                Ok(())
            }
            _ => keep_or_drop_items(std::slice::from_mut(self), op),
        }
    }
}

fn keep_or_drop_items(items: &mut [Rolled<'_>], op: &Op) -> Result<(), DiceError> {
    let totals = items
        .iter()
        .map(|item| item.kept.then(|| item.total()).transpose())
        .collect::<Result<Vec<_>, _>>()?;
    for (item, chosen) in items.iter_mut().zip(select(&totals, &op.selectors)) {
        item.kept &= chosen == (op.verb == Verb::Keep);
    }
    Ok(())
}

fn values(dice: &[Die]) -> Vec<Option<f64>> {
    outcome::note(dice.len());
    dice.iter().map(|die| die.kept.then(|| f64::from(die.face.counts))).collect()
}

/// For each value, true if a selector takes it; dropped ones are never taken.
fn select(values: &[Option<f64>], selectors: &[Selector]) -> Vec<bool> {
    let takes = |value: f64| selectors.iter().any(|selector| is_taken(value, *selector));
    let mut chosen: Vec<bool> = values.iter().map(|value| value.is_some_and(takes)).collect();
    for at in selectors.iter().flat_map(|selector| by_height(values, *selector)) {
        if let Some(chosen) = chosen.get_mut(at) {
            *chosen = true;
        }
    }
    chosen
}

/// Index of the first value that a selector takes.
fn first(values: &[Option<f64>], selector: Selector) -> Option<usize> {
    let taken = |value: &Option<f64>| value.is_some_and(|value| is_taken(value, selector));
    values.iter().position(taken).or_else(|| foremost(values, selector))
}

/// True if a selector takes this value whatever the others are.
pub(super) fn is_taken(value: f64, selector: Selector) -> bool {
    outcome::note(1);
    let number = f64::from(selector.number);
    match selector.pick {
        Pick::Exactly => value == number,
        Pick::Above => value > number,
        Pick::Below => value < number,
        Pick::Highest | Pick::Lowest => false,
    }
}

/// Indices that `hN` or `lN` takes, unordered; of equal values the first are taken.
fn by_height(values: &[Option<f64>], selector: Selector) -> Vec<usize> {
    if !selector.pick.is_by_height() {
        return Vec::new();
    }
    outcome::note(values.len());
    let mut kept: Vec<RankedValue> = counting(values).collect();
    let number = number(selector);
    if number < kept.len() {
        kept.select_nth_unstable_by(number, |a, b| by_order(selector.pick, a, b));
        kept.truncate(number);
    }
    kept.into_iter().map(|it| it.at).collect()
}

/// Index of the value that `hN` or `lN` takes first.
fn foremost(values: &[Option<f64>], selector: Selector) -> Option<usize> {
    let Selector { pick, number } = selector;
    let values = counting(values).filter(|_| pick.is_by_height() && number > 0);
    values.min_by(|a, b| by_order(pick, a, b)).map(|it| it.at)
}

/// A value that counts, and its index.
struct RankedValue {
    at: usize,
    value: f64,
}

fn counting(values: &[Option<f64>]) -> impl Iterator<Item = RankedValue> {
    values.iter().enumerate().filter_map(|(at, value)| Some(RankedValue { at, value: (*value)? }))
}

/// Order in which values are taken; of equals, the leftmost first.
fn by_order(pick: Pick, a: &RankedValue, b: &RankedValue) -> Ordering {
    let (first, second) = if pick == Pick::Highest { (b, a) } else { (a, b) };
    first.value.total_cmp(&second.value).then(a.at.cmp(&b.at))
}

/// Truncates toward zero; every total is within 2^53.
#[expect(clippy::cast_possible_truncation, reason = "cutting is what is asked for")]
pub fn whole(total: f64) -> i64 {
    total as i64
}
