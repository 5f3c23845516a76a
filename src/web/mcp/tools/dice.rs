//! `dice.roll`.

use futures::FutureExt;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    logic::{dice::Outcome, words::shortened},
    web::mcp::{
        incoming::{Incoming, ToolAnswer, ToolError},
        schema::{boolean, integer, name, object, of_list, string, text},
        served::{Annotations, Rights, ServedTool},
    },
};

/// Longest roll, in characters; dice have limits of their own.
const DICE_MAX: u32 = 500;
/// Longest roll that a table is shown, in characters.
const SHOWN_MAX: usize = 1_500;

pub static ROLL: ServedTool = ServedTool {
    name: "dice.roll",
    title: "Roll dice",
    description: "Rolls dice, in notation (4d6kh3, 1d20+5, 2d6; 1d8) or in words. A running table \
        sees up to 30 rolls a minute.",
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
    let outside = &call.handles().outside;
    let seen = table.filter(|_| outside.may_show(&call.holder.id));
    if let Some(table) = &seen {
        let text = shown(&outcomes);
        table.link.effects.show(&format!("A program outside rolls {text}"));
    }
    let rolls = outcomes.into_iter().map(|it| {
        json!({ "dice": it.expression, "text": it.text, "rolls": it.rolls, "totals": it.totals })
    });
    Ok(json!({ "rolls": rolls.collect::<Vec<Value>>(), "seen": seen.is_some() }).into())
}

/// The rolls without comments and labels: those are words of the program, and a table shows their
/// links and emphasis.
fn shown(outcomes: &[Outcome]) -> String {
    let rolls = outcomes.iter().map(|Outcome { text, comment, .. }| {
        let comment = comment.as_ref().map(|comment| format!(" # {comment}")).unwrap_or_default();
        unlabelled(text.strip_suffix(comment.as_str()).unwrap_or(text))
    });
    shortened(&rolls.collect::<Vec<String>>().join("\n"), SHOWN_MAX)
}

/// `text` without what is between square brackets.
fn unlabelled(text: &str) -> String {
    let mut is_label = false;
    let is_kept = |c: &char| {
        let was_label = is_label;
        is_label = if is_label { *c != ']' } else { *c == '[' };
        !was_label && !is_label
    };
    text.chars().filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::Dice;

    #[test]
    fn table_sees_no_words_of_a_program() {
        let rolled =
            Dice::new(1).roll("2d6[**gold**]+3 # [a](https://evil.example); 1d4", "a").unwrap();
        let text = shown(&rolled);
        assert!(text.starts_with("2d6 ") && text.contains("\n1d4 ("), "{text}");
        assert!(!text.contains('#') && !text.contains("gold"), "{text}");
    }
}
