//! `npc.list`, `npc.ask`.

use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};

use super::voice::{SOUND, answer, spoken_schema};
use crate::web::mcp::{
    incoming::{Incoming, ToolAnswer, ToolError},
    schema::{boolean, flag, name, object, of_list, string, strings, text},
    served::{Annotations, Rights, ServedTool},
    stage,
};

/// Longest question, in characters: what a model reads of one in its frame.
const TEXT_MAX: u32 = 1_700;

pub static LIST: ServedTool = ServedTool {
    name: "npc.list",
    title: "NPCs",
    description: "The NPCs of the running table; without one, those of the files. A player's token \
        sees those that are present at the table, and without one none.",
    rights: Rights::Everyone,
    annotations: Annotations::LOOKS,
    input: || {
        let table = name("Id of the table (default: the newest)");
        object(&json!({ "table": table }), &[])
    },
    output: || {
        let npc = json!({
            "name": string(), "aliases": strings(), "language": string(), "present": boolean(),
            "muted": boolean(),
        });
        of_list("npcs", &npc, &["name", "present"])
    },
    run: |call| list(call).boxed(),
};

pub static ASK: ServedTool = ServedTool {
    name: "npc.ask",
    title: "Ask an NPC",
    description: "A turn in writing at the running table: the NPC answers in its voice, and may \
        call its tools. The text of the answer is in 'heard'. A player's token asks NPCs who are \
        present.",
    rights: Rights::Everyone,
    annotations: Annotations { open_world: true, ..Annotations::ADDS },
    input: || {
        let members = json!({
            "npc": name("Name of the NPC"),
            "text": text("What it is asked", TEXT_MAX),
            "table": name("Id of the table (default: the newest)"),
            "sound": flag(SOUND, false),
        });
        object(&members, &["npc", "text"])
    },
    output: spoken_schema,
    run: |call| ask(call).boxed(),
};

#[derive(Deserialize)]
struct List {
    table: Option<String>,
}

#[derive(Deserialize)]
struct Ask {
    npc: String,
    text: String,
    table: Option<String>,
    sound: Option<bool>,
}

async fn list(call: Incoming) -> Result<ToolAnswer, ToolError> {
    let List { table } = call.read()?;
    if let Some(table) = call.table(table.as_deref())? {
        let status = table.link.status(table.link.halts.count()).await?;
        let npcs = stage::seats(&status, &call.holder)
            .map(|seat| json!({ "name": seat.name, "present": seat.present, "muted": seat.muted }));
        return Ok(json!({ "npcs": npcs.collect::<Vec<Value>>() }).into());
    }
    if !call.is_dm() {
        return Ok(json!({ "npcs": [] }).into());
    }
    let settings = call.handles().settings.load();
    let npcs = settings.cast.iter().map(|npc| {
        json!({
            "name": npc.name,
            "aliases": npc.aliases,
            "language": npc.language,
            "present": false,
        })
    });
    Ok(json!({ "npcs": npcs.collect::<Vec<Value>>() }).into())
}

async fn ask(call: Incoming) -> Result<ToolAnswer, ToolError> {
    let Ask { npc, text, table, sound } = call.read()?;
    if !call.is_dm() {
        check_presence(&call, table.as_deref(), &npc).await?;
    }
    let outside = &call.handles().outside;
    outside.may_ask(&call.holder.id)?;
    call.progress.report(format!("{npc} is asked")).await;
    let outside = outside.for_program(&call.holder.id);
    let answered = outside.ask(call.owner(), table.as_deref(), &npc, &text).await?;
    Ok(answer(answered, sound.unwrap_or_default()))
}

/// Fails unless the NPC is present at a running table, in words that do not tell whether it exists.
async fn check_presence(call: &Incoming, table: Option<&str>, npc: &str) -> Result<(), ToolError> {
    let table = call.handles().outside.running(call.owner(), table)?;
    let status = table.link.status(table.link.halts.count()).await?;
    let seated = table.link.seat(npc).ok().map(|seated| seated.seat);
    match stage::seats(&status, &call.holder).any(|seat| Some(seat.id) == seated) {
        true => Ok(()),
        false => Err(format!("no NPC '{npc}' is present (npc.list shows who is)").into()),
    }
}
