//! One run of a workflow.

use std::{sync::Arc, time::Instant};

use serde_json::Value;

use super::{
    active::Body,
    event::{Action, LONGEST, Start},
    look::{Done, Look, Shared, StepAction},
    record::{CancelReason, RunEnd, RunRecord, Starter},
    values::Given,
};

#[derive(Debug)]
pub struct Run {
    shared: Shared,
    body: Body,
    workflow: String,
    starter: Starter,
    /// When it is ended.
    deadline: Instant,
}

impl Run {
    /// The inputs of `start` are an object.
    pub fn new(start: Start, now: Instant) -> Self {
        let Start { run, workflow, workflows, inputs, starter } = start;
        let inputs = match inputs {
            Given { value: Value::Object(given), outside } => {
                Given { value: Value::Object(workflow.with_defaults(given)), outside }
            }
            other => other,
        };
        let tainted = inputs.outside;
        Self {
            shared: Shared { run, workflows, started: now, records: Vec::new(), tainted },
            workflow: workflow.name.clone(),
            body: Body::new(Arc::clone(&workflow), inputs),
            starter,
            deadline: now + LONGEST,
        }
    }

    /// Goes on; true: it is over.
    pub fn poll(
        &mut self,
        now: Instant,
        is_open: bool,
        answer: Option<(usize, Done)>,
        actions: &mut Vec<Action>,
    ) -> bool {
        let mut steps = Vec::new();
        let mut look = Look { shared: &mut self.shared, actions: &mut steps, now, is_open, answer };
        let over = if now >= self.deadline {
            self.body.stop(&mut look);
            Some((RunEnd::TimedOut, None))
        } else {
            self.body.poll(&mut look).map(|done| match done {
                Done::Result(result) => (RunEnd::Done, Some(result)),
                Done::Failed(why) => (RunEnd::Failed(why), None),
                Done::Skipped | Done::Missed(_) => (RunEnd::Done, None),
            })
        };
        self.act(steps, actions);
        let is_over = over.is_some();
        if let Some((end, result)) = over {
            actions.push(Action::Ended { record: self.record(Some(end)), result });
        }
        is_over
    }

    /// Stops all its steps.
    pub fn cancel(mut self, reason: CancelReason, now: Instant, actions: &mut Vec<Action>) {
        let mut steps = Vec::new();
        let mut look = Look {
            shared: &mut self.shared,
            actions: &mut steps,
            now,
            is_open: true,
            answer: None,
        };
        self.body.stop(&mut look);
        self.act(steps, actions);
        let record = self.record(Some(RunEnd::Cancelled(reason)));
        actions.push(Action::Ended { record, result: None });
    }

    pub fn wake_at(&self) -> Instant {
        self.body.wake_at().map_or(self.deadline, |at| at.min(self.deadline))
    }

    pub fn record(&self, end: Option<RunEnd>) -> RunRecord {
        RunRecord {
            run: self.shared.run.clone(),
            workflow: self.workflow.clone(),
            starter: self.starter.clone(),
            steps: self.shared.records.clone(),
            tainted: self.shared.tainted,
            end,
        }
    }

    fn act(&self, steps: Vec<StepAction>, actions: &mut Vec<Action>) {
        let run = &self.shared.run;
        actions.extend(steps.into_iter().map(|action| Action::Step { run: run.clone(), action }));
    }
}
