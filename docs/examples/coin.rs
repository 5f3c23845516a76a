//! `coin`: heads or tails.

use serde_json::{Map, Value, json};

use super::describe::{Millis, declared, input};
use crate::{
    domain::Tier,
    tools::{CallContext, CallError, CallOutput, Definition},
};

/// `coin.flip`.
pub fn tools() -> Vec<Definition> {
    vec![Definition {
        name: "flip".to_owned(),
        description: "Flips a real coin. Use it when a coin is to decide.".to_owned(),
        input: input(json!({"calls": {"enum": ["heads", "tails"]}}), &["calls"]),
        output: None,
        // It takes about 1 ms and never more than 20; any tier may call it.
        declared: declared("dice", Millis { estimated: 1, max: 20 }, Tier::Fast),
        handler: std::sync::Arc::new(flip),
    }]
}

/// Answers at once; slow tools implement `Handler` instead.
fn flip(context: &CallContext, arguments: &Map<String, Value>) -> Result<CallOutput, CallError> {
    // The schema guarantees that `calls` is one of the two.
    let called = arguments.get("calls").and_then(Value::as_str).unwrap_or_default();
    let side = if rand::random() { "heads" } else { "tails" };
    context.effects.show(&format!("{} calls {called}: it is {side}", context.speaker));
    Ok(CallOutput::json(json!({"side": side, "won": side == called})))
}
