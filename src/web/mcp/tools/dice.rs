//! `dice.roll`.

use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    logic::dice::Outcome,
    web::mcp::{
        incoming::{Incoming, ToolAnswer, ToolError},
        schema::{boolean, integer, name, object, of_list, string, text},
        served::{Annotations, Rights, ServedTool},
    },
};

/// Longest roll, in characters; dice have limits of their own.
const DICE_MAX: u32 = 500;

pub static ROLL: ServedTool = ServedTool {
    name: "dice.roll",
    title: "Roll dice",
    description: "Rolls dice, in notation (4d6kh3, 1d20+5, 2d6; 1d8) or in words. A running table \
        sees the roll.",
    rights: Rights::Everyone,
    annotations: Annotations::ADDS,
    input: || {
        let members = json!({
            "dice": text("The dice, as in 2d6+3", DICE_MAX),
            "table": name("Id of the table that sees it (default: the newest)"),
        });
        object(&members, &["dice"])
    },
    output: || {
        let roll = json!({
            "dice": string(),
            "text": string(),
            "rolls": { "type": "array", "items": integer() },
            "totals": { "type": "array", "items": integer() },
        });
        let mut schema = of_list("rolls", &roll, &["dice", "text", "rolls", "totals"]);
        schema["properties"]["seen"] = boolean();
        schema
    },
    run: |call| roll(call).boxed(),
};

#[derive(Deserialize)]
struct Roll {
    dice: String,
    table: Option<String>,
}

async fn roll(call: Incoming) -> Result<ToolAnswer, ToolError> {
    let Roll { dice, table } = call.read()?;
    let table = call.table(table.as_deref())?;
    let outcomes = call.handles().dice.roll(&dice, &format!("token {}", call.holder.id))?;
    if let Some(table) = &table {
        for Outcome { text, .. } in &outcomes {
            table.link.effects.show(&format!("A program outside rolls {text}"));
        }
    }
    let rolls = outcomes.into_iter().map(|it| {
        json!({ "dice": it.expression, "text": it.text, "rolls": it.rolls, "totals": it.totals })
    });
    Ok(json!({ "rolls": rolls.collect::<Vec<Value>>(), "seen": table.is_some() }).into())
}
