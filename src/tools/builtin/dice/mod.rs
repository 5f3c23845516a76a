//! `dice-roller`: rolls, the latest rolls, odds of totals, and random tables.

mod expression;
mod last;
mod odds;
mod told;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rand::rngs::StdRng;
use serde_json::{Map, Value, json};

use self::{
    expression::{expression, invalid},
    last::LastRolls,
};
use super::{
    describe::{Millis, declared, input, text},
    random_table::RandomTable,
};
use crate::{
    domain::Tier,
    logic::{
        dice::{MAX_CHARS, Outcome},
        spoken,
    },
    tools::{CallContext, CallError, CallErrorKind, CallOutput, Definition},
};

/// Throws dice and remembers the latest rolls. Cloning shares it.
#[derive(Clone)]
pub struct Dice {
    rng: Arc<Mutex<StdRng>>,
    last: LastRolls,
}

impl Dice {
    /// Dice thrown by `rng`.
    pub fn new(rng: StdRng) -> Self {
        Self { rng: Arc::new(Mutex::new(rng)), last: LastRolls::default() }
    }

    fn rng(&self) -> MutexGuard<'_, StdRng> {
        self.rng.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub fn tools(dice: Dice, tables: Vec<RandomTable>) -> Vec<Definition> {
    let mut table_name = json!({"type": "string", "description": "the table"});
    // Services refuse an empty list.
    if !tables.is_empty() {
        table_name["enum"] = tables.iter().map(|table| table.name.as_str()).collect();
    }
    // A roll cannot be repeated: never idempotent, cached or run ahead.
    let declared = declared("dice", Millis { estimated: 5, max: 20 }, Tier::Fast);
    let (thrown, remembered) = (dice.clone(), dice.last.clone());
    let rolls = Definition {
        name: "roll".to_owned(),
        description: "Rolls real dice and returns every die and the total. Always use it when \
                      dice are rolled; never make a number up."
            .to_owned(),
        input: input(
            json!({"expression": {
                "type": "string",
                "maxLength": MAX_CHARS,
                "description": "dice such as 2d6+3, 1d20 adv, 4d6kh3, several with ; between, the words \
                                spoken, 'again' for the last roll of the person you answer, or 'told+7' to \
                                add a bonus to it that they tell afterwards",
            }}),
            &["expression"],
        ),
        output: None,
        declared: declared.clone(),
        handler: Arc::new(move |context: &CallContext, arguments: &Map<String, Value>| {
            roll(&thrown, context, arguments)
        }),
    };
    let rolls_table = Definition {
        name: "roll_table".to_owned(),
        description: "Rolls once on a random table and returns the entry.".to_owned(),
        input: input(json!({"table_name": table_name}), &["table_name"]),
        output: None,
        declared,
        handler: Arc::new(move |context: &CallContext, arguments: &Map<String, Value>| {
            roll_table(&tables, &dice, context, arguments)
        }),
    };
    vec![rolls, rolls_table, odds::tool(), last::tool(remembered)]
}

fn roll(
    dice: &Dice,
    context: &CallContext,
    arguments: &Map<String, Value>,
) -> Result<CallOutput, CallError> {
    let said = expression(arguments)?;
    if let Some(bonus) = spoken::told(said) {
        return with_bonus(dice, context, bonus);
    }
    let repeated = match spoken::repeated(said) {
        Some(changes) => Some(changed(&last_expression(dice, context)?, &changes)),
        None => None,
    };
    let rolls = spoken::read_dice(repeated.as_deref().unwrap_or(said)).map_err(invalid)?;
    let rolled: Result<Vec<Outcome>, _> =
        rolls.iter().map(|roll| roll.roll(&mut *dice.rng())).collect();
    let rolled = rolled.map_err(|error| CallError::new(CallErrorKind::Tool, error.to_string()))?;
    for outcome in &rolled {
        show(context, &outcome.text);
    }
    let value = described(&rolled);
    dice.last.keep(context, value.clone());
    Ok(CallOutput::json(value))
}

/// Adds `bonus` to the last roll of the speaker in `context`, without rolling again.
fn with_bonus(dice: &Dice, context: &CallContext, bonus: &str) -> Result<CallOutput, CallError> {
    let rolled = dice.last.of(context, 0).ok_or_else(|| last::none_yet(context, 0))?;
    let value = told::with_bonus(&rolled, bonus).ok_or_else(|| {
        let text = format!("'{bonus}' cannot be added to {} (roll it again)", rolled["expression"]);
        CallError::new(CallErrorKind::Tool, text)
    })?;
    show(context, &format!("{bonus} for {}", told::shown(&value)));
    dice.last.correct(context, value.clone());
    Ok(CallOutput::json(value))
}

fn last_expression(dice: &Dice, context: &CallContext) -> Result<String, CallError> {
    let rolled = dice.last.of(context, 0).ok_or_else(|| last::none_yet(context, 0))?;
    Ok(rolled["expression"].as_str().unwrap_or_default().to_owned())
}

/// `expression` with `changes`; advantage in `changes` replaces the roll's own.
fn changed(expression: &str, changes: &str) -> String {
    let says_advantage = ["adv", "dis"].iter().any(|word| changes.contains(word));
    let plain = match says_advantage {
        true => expression.replace("2d20kh1", "1d20").replace("2d20kl1", "1d20"),
        false => expression.to_owned(),
    };
    format!("{plain}{changes}")
}

fn described(rolled: &[Outcome]) -> Value {
    let expressions: Vec<&str> = rolled.iter().map(|it| it.expression.as_str()).collect();
    let faces: Vec<i64> = rolled.iter().flat_map(|it| it.rolls.iter().copied()).collect();
    let mut value = json!({"expression": expressions.join(spoken::APART), "rolls": faces});
    match rolled {
        [one] if one.total().is_some() => value["total"] = json!(one.total()),
        _ => value["totals"] = rolled.iter().flat_map(|it| it.totals.iter().copied()).collect(),
    }
    value
}

fn roll_table(
    tables: &[RandomTable],
    dice: &Dice,
    context: &CallContext,
    arguments: &Map<String, Value>,
) -> Result<CallOutput, CallError> {
    let name = text(arguments, "table_name").unwrap_or_default();
    let table = tables.iter().find(|table| table.answers_to(name)).ok_or_else(|| {
        let known: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
        CallError::new(
            CallErrorKind::InvalidArguments,
            format!("there is no table '{name}' (one of {})", known.join(", ")),
        )
    })?;
    let (roll, result) = table.roll(&mut *dice.rng());
    show(context, &format!("{} ({roll}): {result}", table.name));
    Ok(CallOutput::json(json!({"table": table.name, "roll": roll, "result": result})))
}

/// Shows everyone the real roll.
fn show(context: &CallContext, text: &str) {
    let who = context.authority.caller().map_or("the table", |caller| &*caller.npc);
    context.effects.show(&format!("{who} rolls for {}: {text}", context.speaker));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_over_the_limit_are_refused() {
        let of = |said: &str| {
            let arguments = json!({"expression": said});
            arguments.as_object().cloned().unwrap_or_default()
        };
        let longest = of(&"1".repeat(MAX_CHARS));
        assert_eq!(expression(&longest).map(str::len).ok(), Some(MAX_CHARS));
        for said in ["1+".repeat(MAX_CHARS), "ü".repeat(MAX_CHARS + 1)] {
            let error = expression(&of(&said)).unwrap_err();
            assert_eq!(error.kind, CallErrorKind::InvalidArguments);
            let odds = odds::counted(&of(&said)).unwrap_err();
            assert_eq!(odds.kind, CallErrorKind::InvalidArguments);
        }
        let tools = tools(Dice::new(rand::SeedableRng::seed_from_u64(1)), Vec::new());
        for tool in tools.iter().filter(|it| matches!(&*it.name, "roll" | "odds")) {
            assert_eq!(tool.input["properties"]["expression"]["maxLength"], MAX_CHARS);
        }
    }

    #[test]
    fn advantage_said_again_replaces_the_earlier() {
        for (last, changes, wanted) in [
            ("2d20kh1+4", " adv", "2d20kh1+4"),
            ("2d20kl1", "+2 adv", "2d20kh1+2"),
            ("2d6; 2d20kl1+4", " adv", "2d6; 2d20kh1+4"),
            ("2d20kh1+4", "", "2d20kh1+4"),
            ("1d20", " dis", "2d20kl1"),
        ] {
            let rolls = spoken::read_dice(&changed(last, changes)).unwrap();
            let rolls: Vec<String> = rolls.iter().map(ToString::to_string).collect();
            assert_eq!(rolls.join(spoken::APART), wanted, "{last}{changes}");
        }
    }
}
