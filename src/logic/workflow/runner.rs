//! The runner of one table's workflows: events and the time in, actions out.
//!
//! A run begins with [`Event::Start`]. Each step that the service does comes as
//! [`super::look::StepAction::Begin`] and is answered by [`Event::Answer`]; the runner itself
//! waits, runs members of `parallel` side by side, and runs called workflows inside the same run.
//! A run keeps the workflows as they were when it began. An early end aborts its steps in the same
//! call, so that cancelling takes no time of its own. [`Runner::wake_at`] says when to call again
//! with [`Event::Tick`].

use std::{collections::BTreeMap, mem, time::Instant};

use super::{
    event::{Action, Event, RUNS_MAX, Refusal, Start},
    record::RunId,
    run::Run,
};

/// Runs of one table.
#[derive(Debug)]
pub struct Runner {
    runs: BTreeMap<RunId, Run>,
    /// True while a play session is open.
    is_open: bool,
}

impl Runner {
    pub const fn new(is_open: bool) -> Self {
        Self { runs: BTreeMap::new(), is_open }
    }

    pub fn handle(&mut self, event: Event, now: Instant) -> Vec<Action> {
        let mut actions = Vec::new();
        match event {
            Event::Start(start) => self.start(start, now, &mut actions),
            Event::Answer { run, step, done } => {
                if let Some(it) = self.runs.get_mut(&run) {
                    let answer = Some((step, done));
                    if it.poll(now, self.is_open, answer, &mut actions) {
                        self.runs.remove(&run);
                    }
                }
            }
            Event::Cancel { run, reason } => {
                let it = self.runs.remove(&run);
                it.into_iter().for_each(|run| run.cancel(reason, now, &mut actions));
            }
            Event::CancelAll(reason) => {
                let all = mem::take(&mut self.runs);
                all.into_values().for_each(|run| run.cancel(reason, now, &mut actions));
            }
            Event::SessionBegan => self.is_open = true,
            Event::SessionEnded => {
                self.is_open = false;
                self.poll_all(now, &mut actions);
            }
            Event::Tick => self.poll_all(now, &mut actions),
        }
        actions
    }

    /// When to call next with [`Event::Tick`]; `None`: nothing runs.
    pub fn wake_at(&self) -> Option<Instant> {
        self.runs.values().map(Run::wake_at).min()
    }

    /// Records of the running ones, in the order of their ids.
    #[cfg(test)]
    pub fn running(&self) -> Vec<super::record::RunRecord> {
        self.runs.values().map(|run| run.record(None)).collect()
    }

    fn poll_all(&mut self, now: Instant, actions: &mut Vec<Action>) {
        let is_open = self.is_open;
        self.runs.retain(|_, run| !run.poll(now, is_open, None, actions));
    }

    fn start(&mut self, start: Start, now: Instant, actions: &mut Vec<Action>) {
        let id = start.run.clone();
        let refusal = if self.runs.contains_key(&id) {
            Some(Refusal::Known)
        } else if self.runs.len() >= RUNS_MAX {
            Some(Refusal::TooMany)
        } else {
            (!start.inputs.value.is_object()).then_some(Refusal::Inputs)
        };
        if let Some(reason) = refusal {
            return actions.push(Action::Refused { run: id, reason });
        }
        let mut run = Run::new(start, now);
        if !run.poll(now, self.is_open, None, actions) {
            self.runs.insert(id, run);
        }
    }
}
