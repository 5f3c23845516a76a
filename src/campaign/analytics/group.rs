//! Calls that have a tool, a server, an NPC or a session in common. Entry type: [`Groups`].

use std::collections::BTreeMap;

use super::log::LoggedCall;

/// Most names of one kind; a model can make up any number of tools.
pub const GROUPS_MAX: usize = 1_000;
/// Group of all further names.
const OTHERS: &str = "(others)";

/// A turn of a session: numbers begin again when its table opens again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnKey {
    pub at: i64,
    pub turn: u64,
}

/// Sums of some calls.
#[derive(Clone, Debug, Default)]
pub struct Group {
    pub calls: u64,
    pub failed: u64,
    pub cached: u64,
    /// Requests sent for them, retries included.
    pub requests: u64,
    /// Turns with such a call.
    pub turns: u64,
    /// Turn of the last call; calls of a turn follow each other.
    last: Option<TurnKey>,
    /// Durations of calls that were sent, in ms.
    took: Vec<f64>,
}

impl Group {
    pub fn add(&mut self, call: &LoggedCall) {
        self.calls += 1;
        self.failed += u64::from(!call.ok);
        self.cached += u64::from(call.cached);
        self.requests += u64::from(call.attempts);
        if call.attempts > 0 && !call.cached {
            self.took.push(call.ms);
        }
        let key = TurnKey { at: call.at.unwrap_or_default(), turn: call.turn };
        if self.last.replace(key) != Some(key) {
            self.turns += 1;
        }
    }

    /// Ends a session, after which an equal turn is another one.
    pub const fn end_session(&mut self) {
        self.last = None;
    }

    /// Durations that half and 99 of 100 sent calls did not exceed, in ms; `None`: none was sent.
    pub fn percentiles(&self) -> Option<(f64, f64)> {
        let mut took = self.took.clone();
        took.sort_by(f64::total_cmp);
        // The nearest rank.
        let at =
            |percent: usize| took.get((took.len() * percent).div_ceil(100).max(1) - 1).copied();
        Some((at(50)?, at(99)?))
    }
}

/// Groups by name.
#[derive(Clone, Debug, Default)]
pub struct Groups<K: Ord>(BTreeMap<K, Group>);

impl<K: Ord + Clone + From<&'static str>> Groups<K> {
    pub fn add(&mut self, name: K, call: &LoggedCall) {
        let is_known = self.0.len() < GROUPS_MAX || self.0.contains_key(&name);
        let name = if is_known { name } else { K::from(OTHERS) };
        self.0.entry(name).or_default().add(call);
    }

    pub fn end_session(&mut self) {
        self.0.values_mut().for_each(Group::end_session);
    }

    /// Most calls first.
    pub fn sorted(&self) -> Vec<(&K, &Group)> {
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort_by(|a, b| b.1.calls.cmp(&a.1.calls).then_with(|| a.0.cmp(b.0)));
        all
    }
}
