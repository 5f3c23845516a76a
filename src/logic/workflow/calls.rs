//! Workflows that call each other: circles, and how large a run can become.

use std::collections::BTreeMap;

use super::step::STEPS_MAX;

/// Most workflows inside each other, the first included.
pub const DEEPEST: usize = 4;

/// A workflow as its callers see it; `P` is a place in its file.
#[derive(Clone, Debug)]
pub struct Outline<P> {
    /// Number of its own steps.
    pub steps: usize,
    pub calls: Vec<Called<P>>,
}

#[derive(Clone, Debug)]
pub struct Called<P> {
    pub workflow: String,
    pub at: P,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misuse {
    /// Names from the workflow to itself.
    #[error("the workflow calls itself: {}", .0.join(" > "))]
    Circle(Vec<String>),
    #[error("workflows call each other deeper than {DEEPEST}")]
    TooDeep,
    #[error("with the workflows it calls it has more than {STEPS_MAX} steps")]
    TooLong,
}

/// The first misuse of each workflow, at the call that leads to it.
pub fn check_calls<P: Copy>(all: &BTreeMap<String, Outline<P>>) -> Vec<(String, P, Misuse)> {
    let mut found = Vec::new();
    for (name, outline) in all {
        let mut steps = outline.steps;
        for call in &outline.calls {
            let mut trail = vec![name.as_str()];
            if let Err(misuse) = weigh(&call.workflow, all, &mut trail, &mut steps) {
                found.push((name.clone(), call.at, misuse));
                break;
            }
        }
    }
    found
}

/// Adds the steps of `name`, called from the end of `trail`. Ends at the first misuse, so it takes
/// no more than [`STEPS_MAX`] visits.
fn weigh<'a, P>(
    name: &'a str,
    all: &'a BTreeMap<String, Outline<P>>,
    trail: &mut Vec<&'a str>,
    steps: &mut usize,
) -> Result<(), Misuse> {
    let Some(outline) = all.get(name) else { return Ok(()) };
    if trail.first() == Some(&name) {
        let circle = trail.iter().copied().chain([name]).map(str::to_owned);
        return Err(Misuse::Circle(circle.collect()));
    }
    // A circle further down is reported where it closes.
    if trail.contains(&name) {
        return Ok(());
    }
    if trail.len() >= DEEPEST {
        return Err(Misuse::TooDeep);
    }
    *steps += outline.steps;
    if *steps > STEPS_MAX {
        return Err(Misuse::TooLong);
    }
    trail.push(name);
    for call in &outline.calls {
        weigh(&call.workflow, all, trail, steps)?;
    }
    trail.pop();
    Ok(())
}
