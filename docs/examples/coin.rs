//! `coin`: heads or tails.

use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::{Map, Value, json};

use super::describe::{Millis, declared, input};
use crate::{
    domain::Tier,
    tools::{CallContext, CallError, CallOutput, Definition, Handler},
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
        handler: std::sync::Arc::new(Flip),
    }]
}

struct Flip;

impl Handler for Flip {
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        // The schema has seen to it that `calls` is there and is one of the two.
        let called = arguments.get("calls").and_then(Value::as_str).unwrap_or_default();
        let side = if rand::random() { "heads" } else { "tails" };
        context.effects.show(&format!("{} calls {called}: it is {side}", context.speaker));
        let answer = json!({"side": side, "won": side == called});
        ready(Ok(CallOutput::json(answer))).boxed()
    }
}
