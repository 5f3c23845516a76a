//! `session.status`.

use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    campaign::{Holder, TableHere},
    session::{SeatStatus, State, Status},
    web::mcp::{
        incoming::{Incoming, ToolAnswer, ToolError},
        schema::{boolean, integer, maybe_string, name, number, object, of_list, result, string},
        served::{Annotations, Rights, ServedTool},
        stage,
    },
};

pub static STATUS: ServedTool = ServedTool {
    name: "session.status",
    title: "Status of the tables",
    description: "The running tables: campaign, scene, NPCs, who is speaking. A game master's token \
        also sees tiers, failures and money spent.",
    rights: Rights::Everyone,
    annotations: Annotations::LOOKS,
    input: || object(&json!({ "table": name("Id of the table (default: all)") }), &[]),
    output: || {
        let scene = json!({ "location": maybe_string(), "time_of_day": maybe_string() });
        let npc = json!({
            "name": string(), "present": boolean(), "muted": boolean(), "tier": string(),
            "waiting": integer(),
        });
        let money = json!({ "utterances": integer(), "errors": integer(), "spent": number() });
        let members = json!({
            "table": string(),
            "campaign": string(),
            "state": { "type": "string", "enum": ["listening", "thinking", "speaking", "paused"] },
            "npc": maybe_string(),
            "x_card": boolean(),
            "scene": result(&scene, &["location", "time_of_day"]),
            "npcs": { "type": "array", "items": result(&npc, &["name", "present", "muted"]) },
            "for_dm": result(&money, &["utterances", "errors", "spent"]),
        });
        let required = ["table", "campaign", "state", "npc", "x_card", "scene", "npcs"];
        of_list("tables", &members, &required)
    },
    run: |call| status(call).boxed(),
};

#[derive(Deserialize)]
struct Asked {
    table: Option<String>,
}

async fn status(call: Incoming) -> Result<ToolAnswer, ToolError> {
    let Asked { table } = call.read()?;
    let tables = match &table {
        Some(id) => call.table(Some(id))?.into_iter().collect(),
        None => call.handles().sessions.tables(call.owner()),
    };
    let mut shown: Vec<Value> = Vec::new();
    for TableHere { scope, link } in tables {
        // One that closes now is left out.
        let Ok(status) = link.status(link.halts.count()).await else { continue };
        let mut table = of_table(&status, &call.holder);
        table["table"] = link.session.0.into();
        table["campaign"] = scope.campaign.0.into();
        shown.push(table);
    }
    Ok(json!({ "tables": shown }).into())
}

fn of_table(status: &Status, holder: &Holder) -> Value {
    let is_dm = holder.is_dm();
    let (state, npc) = match &status.state {
        State::Listening => ("listening", None),
        State::Thinking(npc) => ("thinking", Some(npc)),
        State::Speaking(npc) => ("speaking", Some(npc)),
        State::Paused => ("paused", None),
    };
    let npcs = stage::seats(status, holder).map(|seat| of_seat(seat, is_dm));
    let scene = json!({
        "location": status.scene.location,
        "time_of_day": status.scene.time_of_day,
    });
    let mut table = json!({
        "state": state,
        "npc": npc,
        "x_card": status.card.is_some(),
        "scene": scene,
        "npcs": npcs.collect::<Vec<Value>>(),
    });
    if is_dm {
        table["for_dm"] = json!({
            "utterances": status.utterances,
            "errors": status.errors,
            "spent": status.spent,
        });
    }
    table
}

fn of_seat(seat: &SeatStatus, is_dm: bool) -> Value {
    let mut npc = json!({ "name": seat.name, "present": seat.present, "muted": seat.muted });
    if is_dm {
        let overridden = seat.override_.as_ref().map(|(tier, _)| *tier);
        npc["tier"] = overridden.unwrap_or(seat.ceiling).name().into();
        npc["waiting"] = seat.waiting.into();
    }
    npc
}
