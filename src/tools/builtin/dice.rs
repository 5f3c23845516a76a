//! `dice-roller`: real dice and random tables.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::{BoxFuture, FutureExt, ready};
use rand::rngs::StdRng;
use serde_json::{Map, Value, json};

use super::{
    describe::{Millis, declared, input, text},
    random_table::RandomTable,
};
use crate::{
    domain::Tier,
    logic::spoken,
    tools::{CallContext, CallError, CallErrorKind, CallOutput, Definition, Handler},
};

/// `dice-roller.roll` and `dice-roller.roll_table` over one generator.
pub fn tools(rng: StdRng, tables: Vec<RandomTable>) -> Vec<Definition> {
    let rng = Arc::new(Mutex::new(rng));
    let names: Vec<String> = tables.iter().map(|table| table.name.clone()).collect();
    // Dice have no second throw: never idempotent, never kept, never thrown ahead.
    let declared = declared("dice", Millis { estimated: 5, max: 20 }, Tier::Fast);
    let roll = Definition {
        name: "roll".to_owned(),
        description: "Rolls real dice and returns every die and the total. Always use it when \
                      dice are rolled; never make a number up."
            .to_owned(),
        input: input(
            json!({"expression": {
                "type": "string",
                "description": "dice such as 2d6+3, 1d20 adv, 4d6kh3, or the words spoken",
            }}),
            &["expression"],
        ),
        output: None,
        declared: declared.clone(),
        handler: Arc::new(Roll { rng: Arc::clone(&rng) }),
    };
    let roll_table = Definition {
        name: "roll_table".to_owned(),
        description: "Rolls once on a random table and returns the entry.".to_owned(),
        input: input(
            json!({"table_name": {"type": "string", "description": names.join(", ")}}),
            &["table_name"],
        ),
        output: None,
        declared,
        handler: Arc::new(RollTable { rng, tables }),
    };
    vec![roll, roll_table]
}

struct Roll {
    rng: Arc<Mutex<StdRng>>,
}

impl Handler for Roll {
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        ready(self.roll(context, arguments)).boxed()
    }
}

impl Roll {
    fn roll(
        &self,
        context: &CallContext,
        arguments: &Map<String, Value>,
    ) -> Result<CallOutput, CallError> {
        let said = text(arguments, "expression").unwrap_or_default();
        let expression = spoken::read_dice(said)
            .map_err(|error| CallError::new(CallErrorKind::InvalidArguments, error.to_string()))?;
        let outcome = {
            let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
            expression.roll(&mut *rng)
        }
        .map_err(|error| CallError::new(CallErrorKind::Tool, error.to_string()))?;
        show(context, &outcome.text);
        let mut value = json!({"expression": outcome.expression, "rolls": outcome.rolls});
        match outcome.total() {
            Some(total) => value["total"] = json!(total),
            None => value["totals"] = json!(outcome.totals),
        }
        Ok(CallOutput::json(value))
    }
}

struct RollTable {
    rng: Arc<Mutex<StdRng>>,
    tables: Vec<RandomTable>,
}

impl Handler for RollTable {
    fn call<'a>(
        &'a self,
        context: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        ready(self.roll(context, arguments)).boxed()
    }
}

impl RollTable {
    fn roll(
        &self,
        context: &CallContext,
        arguments: &Map<String, Value>,
    ) -> Result<CallOutput, CallError> {
        let name = text(arguments, "table_name").unwrap_or_default();
        let table = self.tables.iter().find(|table| table.answers_to(name)).ok_or_else(|| {
            let known: Vec<&str> = self.tables.iter().map(|table| table.name.as_str()).collect();
            CallError::new(
                CallErrorKind::InvalidArguments,
                format!("there is no table '{name}' (one of {})", known.join(", ")),
            )
        })?;
        let (roll, result) = {
            let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
            table.roll(&mut *rng)
        };
        show(context, &format!("{} ({roll}): {result}", table.name));
        Ok(CallOutput::json(json!({"table": table.name, "roll": roll, "result": result})))
    }
}

/// Everyone at the table sees what was really rolled.
fn show(context: &CallContext, text: &str) {
    let who = context.authority.caller().map_or("the table", |caller| &*caller.npc);
    context.effects.show(&format!("{who} rolls for {}: {text}", context.speaker));
}
