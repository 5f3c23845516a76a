//! Faults injected on demand.
//!
//! Entry types: [`Fault`], [`Faults`]. Never: going wrong on its own.

use std::time::Duration;

/// Something that goes wrong with a REST request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Discord answers with this status and does nothing.
    Status(u16),
    /// Discord waits this long before it does anything.
    Slow(Duration),
    /// The connection is cut, and nothing is done.
    Cut,
    /// It is done, and answered this much later.
    Late(Duration),
    /// It is done, but the connection is cut before the answer.
    Unanswered,
}

/// A fault that waits for its request.
#[derive(Clone, Debug)]
struct Planned {
    method: String,
    path: String,
    fault: Fault,
    times: usize,
}

/// All faults that wait.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    planned: Vec<Planned>,
}

impl Faults {
    /// Plans `fault` for the next `times` requests with `method` whose path contains `path`.
    pub(crate) fn plan(&mut self, method: &str, path: &str, fault: Fault, times: usize) {
        self.planned.push(Planned { method: method.into(), path: path.into(), fault, times });
    }

    /// The fault of this request.
    pub(crate) fn take(&mut self, method: &str, path: &str) -> Option<Fault> {
        let concerns = |one: &Planned| one.method == method && path.contains(&one.path);
        let at = self.planned.iter().position(concerns)?;
        let planned = self.planned.get_mut(at)?;
        let fault = planned.fault;
        planned.times = planned.times.saturating_sub(1);
        if planned.times == 0 {
            self.planned.remove(at);
        }
        Some(fault)
    }
}
