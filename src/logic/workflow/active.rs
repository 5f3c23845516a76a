//! Steps of a run that have begun, as a tree: a step, members of `parallel`, a called workflow.
//!
//! [`Body::poll`] goes on as far as it can: it begins the next step when one has ended, asks for
//! what the service does, and stops at what it must wait for. A failing step ends its workflow,
//! which fails the step that called it, and so on up, as far as `on_error: continue`.

use std::{sync::Arc, time::Instant};

use serde_json::Value;

use super::{
    calls::DEEPEST,
    look::{Begun, Done, Look, StepAction},
    request::Request,
    step::{Step, StepKind, Workflow},
    values::{Given, Values},
};

const NO_SESSION: &str = "no play session";

/// A workflow that runs.
#[derive(Debug)]
pub struct Body {
    bindings: Bindings,
    /// Index of the next step.
    next: usize,
    current: Option<Active>,
}

/// Values shared by the steps of one workflow.
#[derive(Debug)]
struct Bindings {
    workflow: Arc<Workflow>,
    /// Number of workflows around it.
    depth: usize,
    values: Values,
}

#[derive(Debug)]
struct Active {
    begun: Begun,
    work: Work,
}

#[derive(Debug)]
enum Work {
    Asked {
        needs_session: bool,
        /// It is done then without an answer.
        until: Option<Instant>,
    },
    Timed {
        until: Instant,
    },
    /// Those that have not ended.
    Parallel(Vec<Active>),
    Body(Box<Body>),
}

impl Body {
    /// `inputs` is an object.
    pub const fn new(workflow: Arc<Workflow>, inputs: Given) -> Self {
        Self::inside(workflow, inputs, 0)
    }

    const fn inside(workflow: Arc<Workflow>, inputs: Given, depth: usize) -> Self {
        let bindings = Bindings { workflow, depth, values: Values::new(inputs) };
        Self { bindings, next: 0, current: None }
    }

    /// Goes on; `None`: it waits.
    pub fn poll(&mut self, look: &mut Look) -> Option<Done> {
        let workflow = Arc::clone(&self.bindings.workflow);
        loop {
            if let Some(active) = &mut self.current {
                let done = active.poll(look, &mut self.bindings)?;
                let ended = self.current.take()?;
                if let Err(why) = look.end(&ended.begun, done, &mut self.bindings.values) {
                    return Some(Done::Failed(why));
                }
            }
            let Some(step) = workflow.steps.get(self.next) else {
                return Some(Done::Result(self.bindings.values.results()));
            };
            self.next += 1;
            match self.bindings.begin(step, look) {
                Ok(active) => self.current = active,
                Err(why) => return Some(Done::Failed(why)),
            }
        }
    }

    /// Stops what runs, and records it.
    pub fn stop(&mut self, look: &mut Look) {
        if let Some(active) = self.current.take() {
            active.stop(look);
        }
    }

    pub fn wake_at(&self) -> Option<Instant> {
        self.current.as_ref().and_then(Active::wake_at)
    }
}

impl Bindings {
    /// Begins `step`; `None`: it has ended. Fails if that ends the workflow.
    fn begin(&mut self, step: &Step, look: &mut Look) -> Result<Option<Active>, String> {
        let begun = look.begin(step, &self.workflow.name)?;
        match self.work(step, &begun, look) {
            Ok(work) => Ok(Some(Active { begun, work })),
            Err(done) => look.end(&begun, done, &mut self.values).map(|()| None),
        }
    }

    /// The work of a step, or how it has ended without any.
    fn work(&mut self, step: &Step, begun: &Begun, look: &mut Look) -> Result<Work, Done> {
        if let Some(when) = &step.when {
            let holds = when.holds(&self.values.for_conditions());
            if !holds.map_err(|error| Done::Failed(format!("'when': {error}")))? {
                return Err(Done::Skipped);
            }
        }
        match &step.kind {
            StepKind::Wait(wait) => Ok(Work::Timed { until: look.now + *wait }),
            StepKind::Parallel(members) => self.side_by_side(members, look),
            StepKind::Workflow { name, inputs } => {
                let inputs = self.values.json(inputs);
                let inputs = inputs.map_err(|error| Done::Failed(error.to_string()))?;
                self.called(name, inputs, look)
            }
            kind => self.asked(kind, begun, look),
        }
    }

    fn asked(&self, kind: &StepKind, begun: &Begun, look: &mut Look) -> Result<Work, Done> {
        let request = Request::of(kind, &self.values);
        let request = request.map_err(|error| Done::Failed(error.to_string()))?;
        let request = request.ok_or(Done::NOTHING)?;
        let needs_session = request.needs_session();
        if needs_session && !look.is_open {
            return Err(Done::Missed(NO_SESSION.to_owned()));
        }
        let until = match kind {
            StepKind::Silence { at_most } => at_most.map(|wait| look.now + wait),
            _ => None,
        };
        let tainted = look.shared.tainted;
        look.actions.push(StepAction::Begin { step: begun.number, request, tainted });
        Ok(Work::Asked { needs_session, until })
    }

    fn called(&self, name: &str, inputs: Given, look: &Look) -> Result<Work, Done> {
        let Some(workflow) = look.shared.workflows.get(name) else {
            return Err(Done::Failed(format!("no workflow is called '{name}'")));
        };
        let depth = self.depth + 1;
        if depth >= DEEPEST {
            return Err(Done::Failed(format!("workflows call each other deeper than {DEEPEST}")));
        }
        let Given { value: Value::Object(given), outside } = inputs else {
            return Err(Done::Failed("its inputs are no object".to_owned()));
        };
        let value = Value::Object(workflow.with_defaults(given));
        let inputs = Given { value, outside };
        Ok(Work::Body(Box::new(Body::inside(Arc::clone(workflow), inputs, depth))))
    }

    fn side_by_side(&mut self, steps: &[Step], look: &mut Look) -> Result<Work, Done> {
        let mut members = Vec::new();
        for step in steps {
            match self.begin(step, look) {
                Ok(active) => members.extend(active),
                Err(why) => {
                    stop_all(&mut members, look);
                    return Err(Done::Failed(why));
                }
            }
        }
        Ok(Work::Parallel(members))
    }
}

impl Active {
    /// `bindings` is the one of its workflow.
    fn poll(&mut self, look: &mut Look, bindings: &mut Bindings) -> Option<Done> {
        match &mut self.work {
            Work::Asked { needs_session, until } => {
                if let Some(done) = look.answer_to(&self.begun) {
                    return Some(done);
                }
                let done = if *needs_session && !look.is_open {
                    Done::Missed("the play session has ended".to_owned())
                } else if until.is_some_and(|until| look.now >= until) {
                    Done::NOTHING
                } else {
                    return None;
                };
                look.abort(&self.begun);
                Some(done)
            }
            Work::Timed { until } => (look.now >= *until).then_some(Done::NOTHING),
            Work::Parallel(members) => poll_all(members, look, bindings),
            Work::Body(body) => body.poll(look),
        }
    }

    fn stop(self, look: &mut Look) {
        match self.work {
            Work::Asked { .. } => look.abort(&self.begun),
            Work::Timed { .. } => {}
            Work::Parallel(mut members) => stop_all(&mut members, look),
            Work::Body(mut body) => body.stop(look),
        }
        look.cancel(&self.begun);
    }

    fn wake_at(&self) -> Option<Instant> {
        match &self.work {
            Work::Asked { until, .. } => *until,
            Work::Timed { until } => Some(*until),
            Work::Parallel(members) => members.iter().filter_map(Self::wake_at).min(),
            Work::Body(body) => body.wake_at(),
        }
    }
}

/// Goes on with all; the first that fails ends the others.
fn poll_all(members: &mut Vec<Active>, look: &mut Look, bindings: &mut Bindings) -> Option<Done> {
    let mut index = 0;
    while let Some(member) = members.get_mut(index) {
        let Some(done) = member.poll(look, bindings) else {
            index += 1;
            continue;
        };
        let ended = members.remove(index);
        if let Err(why) = look.end(&ended.begun, done, &mut bindings.values) {
            stop_all(members, look);
            return Some(Done::Failed(why));
        }
    }
    members.is_empty().then_some(Done::NOTHING)
}

fn stop_all(members: &mut Vec<Active>, look: &mut Look) {
    members.drain(..).for_each(|member| member.stop(look));
}
