//! One look at a run: what its steps share, and what they ask of the service.

use std::{sync::Arc, time::Instant};

use serde_json::Value;

use super::{
    record::{Outcome, RunId, StepRecord},
    request::Request,
    step::{OnError, STEPS_MAX, Step, Workflows},
    values::{Given, Values},
};
use crate::domain::one_line;

/// Longest reason of a failure, in characters.
const WHY_MAX: usize = 500;

/// Outcome of a step that has ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    Result(Given),
    Skipped,
    /// The reason.
    Missed(String),
    /// The reason.
    Failed(String),
}

impl Done {
    /// The result of a step that has none.
    pub const NOTHING: Self = Self::Result(Given { value: Value::Null, outside: false });
}

/// Action of the service for a step.
#[derive(Clone, Debug, PartialEq)]
pub enum StepAction {
    /// Carry it out, then answer with its number. `tainted`: the run has words from outside.
    Begin { step: usize, request: Request, tainted: bool },
    /// Stop carrying it out; an answer would be ignored.
    Abort { step: usize },
    /// The step begins or has ended.
    Note { step: usize, record: StepRecord },
}

/// A run without its steps.
#[derive(Debug)]
pub struct Shared {
    pub run: RunId,
    /// As they were when it began.
    pub workflows: Arc<Workflows>,
    pub started: Instant,
    /// In the order in which they began.
    pub records: Vec<StepRecord>,
    pub tainted: bool,
}

pub struct Look<'a> {
    pub shared: &'a mut Shared,
    pub actions: &'a mut Vec<StepAction>,
    pub now: Instant,
    /// True while a play session is open.
    pub is_open: bool,
    /// Answer to a request, by the number of its step.
    pub answer: Option<(usize, Done)>,
}

/// A step that has begun.
#[derive(Debug)]
pub struct Begun {
    /// Index of its record.
    pub number: usize,
    name: Option<String>,
    on_error: OnError,
}

impl Look<'_> {
    /// Records that `step` begins. Fails at the limit of steps.
    pub fn begin(&mut self, step: &Step, workflow: &str) -> Result<Begun, String> {
        let number = self.shared.records.len();
        if number >= STEPS_MAX {
            return Err(format!("the run has more than {STEPS_MAX} steps"));
        }
        let record = StepRecord {
            workflow: workflow.to_owned(),
            name: step.name.clone(),
            kind: step.kind.key().to_owned(),
            outcome: Outcome::Running,
            began_ms: self.since_start(),
            ended_ms: None,
        };
        self.shared.records.push(record.clone());
        self.actions.push(StepAction::Note { step: number, record });
        Ok(Begun { number, name: step.name.clone(), on_error: step.on_error })
    }

    /// Records how a step has ended, and keeps its result. Fails if that ends its workflow.
    pub fn end(&mut self, begun: &Begun, done: Done, values: &mut Values) -> Result<(), String> {
        let done = match done {
            Done::Result(result) => self.kept(begun, result, values),
            done => done,
        };
        let (outcome, failure) = match done {
            Done::Result(_) => (Outcome::Done, None),
            Done::Skipped => (Outcome::Skipped, None),
            Done::Missed(why) => (Outcome::Missed(why), None),
            Done::Failed(why) => {
                // It may quote words from outside.
                let why = one_line(&why, WHY_MAX);
                (Outcome::Failed(why.clone()), Some(why))
            }
        };
        let kind = self.note(begun.number, outcome);
        match failure {
            Some(why) if begun.on_error == OnError::Stop => Err(match &begun.name {
                Some(name) => format!("step '{name}': {why}"),
                None => format!("step '{kind}': {why}"),
            }),
            _ => Ok(()),
        }
    }

    /// Keeps the result if the step has a name. Fails if it is too large.
    fn kept(&mut self, begun: &Begun, result: Given, values: &mut Values) -> Done {
        self.shared.tainted |= result.outside;
        let is_kept = !result.is_too_large()
            && begun.name.as_ref().is_none_or(|name| values.keep(name, result));
        if is_kept { Done::NOTHING } else { Done::Failed("its result is too large".to_owned()) }
    }

    /// Records that a step was stopped.
    pub fn cancel(&mut self, begun: &Begun) {
        self.note(begun.number, Outcome::Cancelled);
    }

    /// Asks the service to stop carrying a step out.
    pub fn abort(&mut self, begun: &Begun) {
        self.actions.push(StepAction::Abort { step: begun.number });
    }

    /// The answer to the request of a step, if it has come.
    pub fn answer_to(&mut self, begun: &Begun) -> Option<Done> {
        self.answer.take_if(|(step, _)| *step == begun.number).map(|(_, done)| done)
    }

    /// Records the end of a step, whose kind it returns.
    fn note(&mut self, number: usize, outcome: Outcome) -> String {
        let ended_ms = Some(self.since_start());
        let Some(record) = self.shared.records.get_mut(number) else { return String::new() };
        record.outcome = outcome;
        record.ended_ms = ended_ms;
        let record = record.clone();
        let kind = record.kind.clone();
        self.actions.push(StepAction::Note { step: number, record });
        kind
    }

    fn since_start(&self) -> u64 {
        let since = self.now.saturating_duration_since(self.shared.started);
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}
