//! `workflow.run`, `workflow.list`.

use std::sync::Arc;

use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    campaign::{Origin, StartedRun, WantedRun, WorkflowRuns, date},
    domain::{Scope, one_line},
    logic::workflow::record::{Outcome, RunEnd, RunId, RunRecord, Starter, StepRecord},
    tools::Taint,
    web::mcp::{
        incoming::{Incoming, ToolAnswer, ToolError},
        outside_effects::NoTable,
        schema::{boolean, flag, maybe_string, name, object, result, string},
        served::{Annotations, Rights, ServedTool},
    },
};

/// Earlier runs in a list.
const RUNS: usize = 20;
/// Longest reason of a step in a progress notice, in characters.
const WHY_MAX: usize = 200;

pub static RUN: ServedTool = ServedTool {
    name: "workflow.run",
    title: "Run a workflow",
    description: "Starts a workflow and waits for its end; progress tells its steps. Closing the \
        request stops the run. With wait: false it goes on by itself, until the token ends, and the \
        answer has its id. Sound of its lines is not returned.",
    rights: Rights::Dm,
    annotations: Annotations { destructive: true, open_world: true, ..Annotations::ADDS },
    input: || {
        let members = json!({
            "workflow": name("Name of the workflow"),
            "inputs": { "type": "object", "description": "Inputs of the workflow" },
            "wait": flag("Wait for its end", true),
        });
        object(&members, &["workflow"])
    },
    output: || result(&run_members(), &["run", "workflow", "status", "why"]),
    run: |call| run(call).boxed(),
};

pub static LIST: ServedTool = ServedTool {
    name: "workflow.list",
    title: "Workflows",
    description: "The workflows with their inputs, what runs, and how earlier runs ended.",
    rights: Rights::Dm,
    annotations: Annotations::LOOKS,
    input: || object(&json!({}), &[]),
    output: || {
        let workflow = json!({
            "name": string(), "description": string(), "inputs": { "type": "object" },
        });
        let running = json!({ "run": string(), "workflow": string() });
        let mut earlier = run_members();
        earlier["began"] = string();
        let workflow = result(&workflow, &["name", "description", "inputs"]);
        let running = result(&running, &["run", "workflow"]);
        let earlier = result(&earlier, &["run", "workflow", "status", "why", "began"]);
        let members = json!({
            "workflows": { "type": "array", "items": workflow },
            "running": { "type": "array", "items": running },
            "earlier": { "type": "array", "items": earlier },
        });
        result(&members, &["workflows", "running", "earlier"])
    },
    run: |call| list(call).boxed(),
};

fn run_members() -> Value {
    let step = json!({ "name": maybe_string(), "kind": string(), "outcome": string() });
    let status = ["running", "done", "failed", "cancelled", "timed_out"];
    json!({
        "run": string(),
        "workflow": string(),
        "status": { "type": "string", "enum": status },
        "why": maybe_string(),
        "steps": { "type": "array", "items": result(&step, &["name", "kind", "outcome"]) },
        "result": {},
        "outside": boolean(),
    })
}

#[derive(Deserialize)]
struct Asked {
    workflow: String,
    inputs: Option<Value>,
    wait: Option<bool>,
}

/// Stops a run whose caller has left.
struct StopOnDrop {
    runs: WorkflowRuns,
    scope: Scope,
    /// `None`: it has ended, or goes on by itself.
    run: Option<RunId>,
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        if let Some(run) = self.run.take() {
            self.runs.cancel_soon(&self.scope, &run);
        }
    }
}

async fn run(call: Incoming) -> Result<ToolAnswer, ToolError> {
    let Asked { workflow, inputs, wait } = call.read()?;
    let scope = call.played().await?;
    let runs = call.handles().workflows.clone();
    let wanted = wanted(&call, scope.clone(), workflow, inputs.unwrap_or(Value::Null));
    if wait == Some(false) {
        return begin(&call, wanted).await;
    }
    let mut started = runs.start(wanted).await?;
    let run = started.run.clone();
    let mut stop = StopOnDrop { runs, scope, run: Some(run) };
    let ended = loop {
        tokio::select! {
            biased;
            Some(step) = started.steps.recv() => call.progress.report(told(&step)).await,
            ended = &mut started.ended => break ended,
        }
    };
    stop.run = None;
    let ended = ended.map_err(|_| "the program is ending (run it again later)")?;
    let mut shown = of_record(&ended.record);
    shown["result"] = ended.result.map_or(Value::Null, |result| result.value);
    Ok(shown.into())
}

/// Starts a run that goes on by itself, until the token of its starter ends.
async fn begin(call: &Incoming, wanted: WantedRun) -> Result<ToolAnswer, ToolError> {
    let place = call.handles().outside.for_program(&call.holder.id).place()?;
    let (scope, workflow) = (wanted.scope.clone(), wanted.workflow.clone());
    let runs = call.handles().workflows.clone();
    let StartedRun { run, ended, .. } = runs.start(wanted).await?;
    let (id, until) = (run.0.clone(), call.token_ends());
    place.go_on(async move {
        tokio::select! {
            // An error means that the program is ending.
            _ = ended => {}
            () = until => runs.cancel_soon(&scope, &run),
        }
    });
    Ok(json!({ "run": id, "workflow": workflow, "status": "running", "why": null, "steps": [] })
        .into())
}

/// Order of a run. Its inputs count as words from outside: the program may act on such words.
fn wanted(call: &Incoming, scope: Scope, workflow: String, inputs: Value) -> WantedRun {
    let taint = Taint::default();
    taint.set();
    let origin = Origin {
        starter: Starter::Program(call.holder.id.clone()),
        speaker: None,
        effects: Arc::new(NoTable),
        decided: None,
        taint,
    };
    // Defaults are the game master's own words.
    let outside = inputs.as_object().is_some_and(|inputs| !inputs.is_empty());
    WantedRun { scope, workflow, inputs, outside, origin }
}

async fn list(call: Incoming) -> Result<ToolAnswer, ToolError> {
    let scope = call.played().await?;
    let runs = &call.handles().workflows;
    let stored = runs.stored(&scope, RUNS).await?;
    let known = Arc::clone(&runs.settings().load().workflows);
    let workflows = known
        .iter()
        .map(|it| json!({ "name": it.name, "description": it.description, "inputs": it.inputs }));
    let running = runs.running(&scope).into_iter();
    let running = running.map(|it| json!({ "run": it.run.0, "workflow": it.workflow }));
    let earlier = stored.into_iter().filter(|run| run.ended.is_some()).filter_map(|run| {
        let record: RunRecord = serde_json::from_str(&run.record).ok()?;
        let mut shown = of_record(&record);
        shown["began"] = date(run.began).into();
        Some(shown)
    });
    Ok(json!({
        "workflows": workflows.collect::<Vec<Value>>(),
        "running": running.collect::<Vec<Value>>(),
        "earlier": earlier.collect::<Vec<Value>>(),
    })
    .into())
}

/// A run without its starter.
fn of_record(record: &RunRecord) -> Value {
    let (status, why) = match &record.end {
        // It was cut off when the program stopped.
        None => ("cancelled", Some("the program was stopped".to_owned())),
        Some(RunEnd::Done) => ("done", None),
        Some(RunEnd::Failed(why)) => ("failed", Some(why.clone())),
        Some(RunEnd::TimedOut) => ("timed_out", Some("it took too long".to_owned())),
        Some(RunEnd::Cancelled(reason)) => {
            let word = serde_json::to_value(reason).unwrap_or_default();
            ("cancelled", word.as_str().map(|word| word.replace('_', " ")))
        }
    };
    let steps = record.steps.iter().map(
        |step| json!({ "name": step.name, "kind": step.kind, "outcome": outcome(&step.outcome) }),
    );
    json!({
        "run": record.run.0,
        "workflow": record.workflow,
        "status": status,
        "why": why,
        "steps": steps.collect::<Vec<Value>>(),
        "outside": record.tainted,
    })
}

/// A step in one line.
fn told(step: &StepRecord) -> String {
    let name = step.name.as_deref().map(|name| format!("{name} ")).unwrap_or_default();
    format!("{name}({}): {}", step.kind, outcome(&step.outcome))
}

fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Running => "running".to_owned(),
        Outcome::Done => "done".to_owned(),
        Outcome::Skipped => "skipped".to_owned(),
        Outcome::Missed(why) => format!("missed: {}", one_line(why, WHY_MAX)),
        Outcome::Failed(why) => format!("failed: {}", one_line(why, WHY_MAX)),
        Outcome::Cancelled => "cancelled".to_owned(),
    }
}
