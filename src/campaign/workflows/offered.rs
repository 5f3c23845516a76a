//! Workflows as tools of NPCs that list them. Entry function: [`definitions`].

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures::future::{BoxFuture, FutureExt};
use serde_json::{Map, Value, json};

use super::{
    service::{WeakRuns, WorkflowRuns},
    started::{Origin, WantedRun},
};
use crate::{
    domain::{Scope, Tier},
    logic::workflow::{
        DEEPEST, Step, StepKind, Workflow, Workflows,
        event::LONGEST,
        record::{RunEnd, RunId, Starter},
    },
    tools::{
        CallContext, CallError, CallErrorKind, CallOutput, Declared, Definition, Handler,
        SideEffects, Snapshot,
    },
};

/// Time from the beginning of a spoken step to its first word.
const SPEECH_BEGINS: Duration = Duration::from_secs(1);
/// Time of an answer by a model, spoken aloud.
const ANSWERED: Duration = Duration::from_secs(6);
/// Characters spoken per second.
const SPOKEN: u32 = 15;
/// Time of a picture, and longest estimate of a wait for silence.
const SLOW: Duration = Duration::from_secs(10);
/// Time the table takes to obey an order.
const OBEYED: Duration = Duration::from_millis(20);
/// Added to twice the estimated time of a run: the longest it may take.
const SPARE: Duration = Duration::from_secs(60);

/// Where the tools find the service, which is made after them. Cloning shares it.
#[derive(Clone, Default)]
pub struct RunsSlot(Arc<OnceLock<WeakRuns>>);

impl RunsSlot {
    /// Tools start their runs with `runs` from now on; a second call changes nothing.
    pub fn fill(&self, runs: &WorkflowRuns) {
        _ = self.0.set(runs.downgrade());
    }

    fn get(&self) -> Option<WorkflowRuns> {
        self.0.get()?.upgrade()
    }
}

/// The offered ones of `workflows` as tools; `known` has the expected times of the tools they call.
pub fn definitions(workflows: &Workflows, known: &Snapshot, slot: &RunsSlot) -> Vec<Definition> {
    let offered = workflows.iter().filter(|it| it.offer);
    offered.map(|it| definition(it, &Times { workflows, known }, slot)).collect()
}

fn definition(workflow: &Arc<Workflow>, times: &Times<'_>, slot: &RunsSlot) -> Definition {
    let takes = times.all(&workflow.steps, 0);
    let description = match workflow.description.as_str() {
        "" => format!("Runs the workflow {}.", workflow.name),
        description => description.to_owned(),
    };
    Definition {
        name: workflow.name.clone(),
        description,
        input: workflow.inputs.clone(),
        output: None,
        declared: Declared {
            estimated: Some(takes),
            max: Some((takes * 2 + SPARE).min(LONGEST)),
            floor: Some(Tier::lasting(takes).unwrap_or(Tier::Deep)),
            categories: vec!["workflow".to_owned()],
            // Each of its steps asks for itself.
            effects: Some(SideEffects::Reversible),
            idempotent: Some(false),
            open_world: Some(false),
            follow_up: Some(true),
            ..Declared::default()
        },
        handler: Arc::new(OfferedWorkflow { name: workflow.name.clone(), slot: slot.clone() }),
    }
}

/// Expected times of steps: one after the other they add up, side by side the longest counts.
struct Times<'a> {
    workflows: &'a Workflows,
    known: &'a Snapshot,
}

impl Times<'_> {
    fn all(&self, steps: &[Step], depth: usize) -> Duration {
        steps.iter().map(|step| self.one(&step.kind, depth)).sum()
    }

    fn one(&self, kind: &StepKind, depth: usize) -> Duration {
        match kind {
            StepKind::Say { text, .. } => {
                let characters = text.plain().map_or(0, |text| text.chars().count());
                let characters = u32::try_from(characters).unwrap_or(u32::MAX);
                SPEECH_BEGINS + Duration::from_secs(u64::from(characters / SPOKEN))
            }
            StepKind::Ask { .. } => ANSWERED,
            StepKind::Picture { .. } => SLOW,
            StepKind::Tool { identity, .. } => {
                self.known.find(identity).map_or(OBEYED, |entry| entry.expected)
            }
            StepKind::Workflow { name, .. } => {
                let called = self.workflows.get(name).filter(|_| depth + 1 < DEEPEST);
                called.map_or(Duration::ZERO, |called| self.all(&called.steps, depth + 1))
            }
            StepKind::Parallel(members) => {
                let members = members.iter().map(|member| self.one(&member.kind, depth));
                members.max().unwrap_or_default()
            }
            StepKind::Wait(wait) => *wait,
            StepKind::Silence { at_most } => at_most.map_or(SLOW, |at_most| at_most.min(SLOW)),
            StepKind::Scene { .. }
            | StepKind::Music(_)
            | StepKind::Roll(_)
            | StepKind::Tier { .. }
            | StepKind::Mute(_)
            | StepKind::Unmute(_)
            | StepKind::Notify { .. } => OBEYED,
        }
    }
}

struct OfferedWorkflow {
    name: String,
    slot: RunsSlot,
}

/// Stops its run unless the run has ended.
struct StopsRun {
    runs: WorkflowRuns,
    scope: Scope,
    run: Option<RunId>,
}

impl Drop for StopsRun {
    fn drop(&mut self) {
        if let Some(run) = self.run.take() {
            self.runs.cancel_soon(&self.scope, &run);
        }
    }
}

impl Handler for OfferedWorkflow {
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        self.run(context, arguments).boxed()
    }
}

impl OfferedWorkflow {
    async fn run(
        &self,
        context: &CallContext,
        arguments: &Map<String, Value>,
    ) -> Result<CallOutput, CallError> {
        let refused = |why: String| CallError::new(CallErrorKind::Tool, why);
        let runs = self.slot.get().ok_or_else(|| refused("no workflow can run here".to_owned()))?;
        let starter = match context.authority.caller() {
            Some(caller) => Starter::Npc(caller.npc.to_string()),
            None => Starter::Program("operator".to_owned()),
        };
        let wanted = WantedRun {
            scope: context.scope.clone(),
            workflow: self.name.clone(),
            inputs: Value::Object(arguments.clone()),
            // The model that filled them in may have read words from outside.
            outside: context.taint.is_set() || context.taint.holds_secrets(),
            origin: Origin {
                starter,
                speaker: None,
                effects: Arc::clone(&context.effects),
                decided: None,
                taint: context.taint.clone(),
            },
        };
        let started = runs.start(wanted).await.map_err(|error| refused(error.to_string()))?;
        let scope = context.scope.clone();
        let mut stops = StopsRun { runs, scope, run: Some(started.run) };
        let ended = started.ended.await;
        stops.run = None;
        let ended = ended.map_err(|_| refused("the program is ending".to_owned()))?;
        let steps: Vec<Value> = ended.record.steps.iter().map(|it| json!(it)).collect();
        match (ended.record.end, ended.result) {
            (Some(RunEnd::Done), result) => {
                let results = result.map(|it| it.value).unwrap_or_default();
                let value = json!({ "done": true, "results": results, "steps": steps });
                // Secrets mark a run as well.
                let outside = ended.record.tainted;
                Ok(CallOutput { outside, secret: outside, ..CallOutput::json(value) })
            }
            (Some(RunEnd::Failed(why)), _) if ended.record.tainted => {
                Err(refused(why).from_outside())
            }
            (Some(RunEnd::Failed(why)), _) => Err(refused(why)),
            (Some(RunEnd::TimedOut), _) => Err(refused("it took too long".to_owned())),
            (Some(RunEnd::Cancelled(_)) | None, _) => {
                Err(CallError::new(CallErrorKind::Cancelled, "the workflow was stopped"))
            }
        }
    }
}
