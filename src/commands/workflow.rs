//! `/workflow`: steps that run by themselves.

use super::{
    answer::{Answer, Reply},
    call::Call,
    declared::{Command, Kind, Parameter, Subcommand, Suggested},
    face::Face,
    runs::WorkflowsHere,
    text::{Refusal, Text},
};
use crate::{
    campaign::{WantedRun, date, read_inputs, run_title},
    logic::workflow::record::RunRecord,
};

/// Longest name, and longest id of a run, in characters.
const NAME_MAX: u16 = 48;
/// Longest inputs, in characters.
const INPUTS_MAX: u16 = 1_500;
/// Earlier runs in a list.
const SHOWN: usize = 5;

pub static COMMAND: Command = Command {
    name: "workflow",
    description: "Run prepared steps: scenes, music, lines, rolls and tools",
    subs: &[
        Subcommand::new(
            "workflow list",
            "Show the workflows, what runs, and how earlier runs ended",
            &[],
            list,
        ),
        Subcommand::new(
            "workflow run",
            "Start a workflow, which goes on by itself",
            &[
                Parameter::required(
                    "name",
                    "Workflow to run",
                    Kind::Suggested(Suggested::Workflows, NAME_MAX),
                ),
                Parameter::new(
                    "inputs",
                    "Inputs: NAME=VALUE, NAME=VALUE; or a JSON object",
                    Kind::Words(INPUTS_MAX),
                ),
            ],
            run,
        ),
        Subcommand::new(
            "workflow stop",
            "Stop a run at once",
            &[Parameter::new(
                "run",
                "Name of the workflow, or id of the run (default: all)",
                Kind::Suggested(Suggested::Runs, NAME_MAX),
            )],
            stop,
        ),
    ],
};

fn list(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let WorkflowsHere { runs, scope, .. } = face.workflows(&call.speaker)?;
    let known = runs.settings().load();
    let mut lines: Vec<Text> = Vec::new();
    for workflow in known.workflows.iter() {
        let line = Text::of(&workflow.name);
        lines.push(match workflow.description.lines().next() {
            Some(description) => line.plain(" · ").others(description),
            None => line,
        });
    }
    if lines.is_empty() {
        lines.push("No workflows (files in the folder workflows describe them).".into());
    }
    let running = runs.running(&scope).into_iter();
    lines.extend(
        running.map(|it| Text::of(it.workflow).plain(format!(" is running ({})", it.run.0))),
    );
    let stored = async move { runs.stored(&scope, SHOWN).await };
    Ok(Answer::after(stored, move |_, stored| {
        for run in stored?.into_iter().filter(|run| run.ended.is_some()) {
            let Ok(record) = serde_json::from_str::<RunRecord>(&run.record) else { continue };
            let (when, id) = (date(run.began), run.id);
            let how = run_title(&record);
            lines.push(
                Text::from(format!("{when} · "))
                    .strong(run.workflow)
                    .others(format!(" ({id}) {how}")),
            );
        }
        Ok(Reply::private(Text::lines(lines)).titled("Workflows"))
    }))
}

fn run(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let WorkflowsHere { runs, scope, origin } = face.workflows(&call.speaker)?;
    let name = call.words("name")?.to_owned();
    let inputs = read_inputs(call.text("inputs").unwrap_or_default())?;
    let wanted = WantedRun { scope, workflow: name.clone(), inputs, outside: false, origin };
    let started = async move { runs.start(wanted).await };
    Ok(Answer::after(started, move |_, started| {
        let id = started?.run.0;
        let said = format!(" is running ({id}); /workflow stop ends it.");
        Ok(Reply::private(Text::of(name).plain(said)))
    }))
}

fn stop(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let WorkflowsHere { runs, scope, .. } = face.workflows(&call.speaker)?;
    let which = call.text("run").map(str::to_owned);
    let wanted = which.clone();
    let stopped = async move { runs.stop(&scope, wanted.as_deref()).await };
    Ok(Answer::after(stopped, move |_, stopped| {
        if stopped.is_empty() {
            let what = which.map_or_else(|| "no workflow".to_owned(), |it| format!("no '{it}'"));
            return Err(format!("{what} is running (/workflow list shows what runs)").into());
        }
        let names: Vec<String> = stopped.into_iter().map(|it| it.workflow).collect();
        Ok(Reply::private(Text::from("Stopped: ").strong(names.join(", ")).plain(".")))
    }))
}
