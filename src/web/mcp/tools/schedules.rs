//! `schedule.create`, `schedule.list`, `schedule.cancel`.

use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    campaign::{NewSchedule, Planner, ScheduleEntry, ScheduleError, by_program, date},
    logic::schedule::Planned,
    web::mcp::{
        incoming::{Incoming, ToolAnswer, ToolError},
        schema::{maybe_string, name, object, of_list, result, string, text},
        served::{Annotations, Rights, ServedTool},
    },
};

/// Longest line of an NPC, in characters.
const TEXT_MAX: u32 = 2_000;

pub static CREATE: ServedTool = ServedTool {
    name: "schedule.create",
    title: "Make a schedule",
    description: "Starts a workflow, or has an NPC say a line, at a time: at 21:30, in 90m, every \
        15m, every friday 19:30, session +20m. Give a workflow, or an npc and a text.",
    rights: Rights::Dm,
    annotations: Annotations::ADDS,
    input: || {
        let members = json!({
            "when": name("The time, as in 'in 90m'"),
            "workflow": name("Workflow to start"),
            "inputs": { "type": "object", "description": "Inputs of the workflow" },
            "npc": name("NPC that says the text"),
            "text": text("What the NPC says", TEXT_MAX),
        });
        object(&members, &["when"])
    },
    output: || result(&members(), &["id", "line", "next"]),
    run: |call| create(call).boxed(),
};

pub static LIST: ServedTool = ServedTool {
    name: "schedule.list",
    title: "Schedules",
    description: "The schedules of the campaign, by their next time.",
    rights: Rights::Dm,
    annotations: Annotations::LOOKS,
    input: || object(&json!({}), &[]),
    output: || of_list("schedules", &members(), &["id", "line", "next"]),
    run: |call| list(call).boxed(),
};

pub static CANCEL: ServedTool = ServedTool {
    name: "schedule.cancel",
    title: "Cancel a schedule",
    description: "Cancels the schedule of this id.",
    rights: Rights::Dm,
    annotations: Annotations { destructive: true, idempotent: true, ..Annotations::ADDS },
    input: || object(&json!({ "id": name("Id of the schedule") }), &["id"]),
    output: || result(&json!({ "cancelled": string() }), &["cancelled"]),
    run: |call| cancel(call).boxed(),
};

fn members() -> Value {
    json!({
        "id": string(),
        "line": { "type": "string", "description": "Id, time and action" },
        "next": maybe_string(),
    })
}

#[derive(Deserialize)]
struct Create {
    when: String,
    workflow: Option<String>,
    inputs: Option<Value>,
    npc: Option<String>,
    text: Option<String>,
}

#[derive(Deserialize)]
struct Cancel {
    id: String,
}

async fn create(call: Incoming) -> Result<ToolAnswer, ToolError> {
    let Create { when, workflow, inputs, npc, text } = call.read()?;
    let action = match (workflow, npc, text) {
        (Some(name), None, None) => {
            Planned::Workflow { name, inputs: inputs.unwrap_or_else(|| json!({})) }
        }
        (None, Some(npc), Some(text)) if inputs.is_none() => Planned::Line { npc, text },
        _ => {
            let what = "a schedule needs a workflow, or an npc and a text (give one of the two)";
            return Err(what.into());
        }
    };
    let planner = planner(&call).await?;
    // Made by a program: no person's deletion removes it, and its words count as from outside.
    let by = Some(by_program(&call.holder.id));
    let entry = planner.create(NewSchedule { when, action, by }).await?;
    Ok(shown(&planner, &entry).into())
}

async fn list(call: Incoming) -> Result<ToolAnswer, ToolError> {
    let planner = planner(&call).await?;
    let entries = planner.list().await?;
    let entries = entries.iter().map(|entry| shown(&planner, entry)).collect::<Vec<Value>>();
    Ok(json!({ "schedules": entries }).into())
}

async fn cancel(call: Incoming) -> Result<ToolAnswer, ToolError> {
    let Cancel { id } = call.read()?;
    let id = planner(&call).await?.cancel(&id).await.map_err(|error| match error {
        ScheduleError::Unknown(id) => {
            ToolError(format!("unknown schedule '{id}' (schedule.list shows them)"))
        }
        other => other.into(),
    })?;
    Ok(json!({ "cancelled": id }).into())
}

async fn planner(call: &Incoming) -> Result<Planner, ToolError> {
    let scope = call.played().await?;
    Ok(call.handles().schedules.within(scope))
}

fn shown(planner: &Planner, entry: &ScheduleEntry) -> Value {
    json!({ "id": entry.id, "line": planner.line(entry), "next": entry.next.map(date) })
}
