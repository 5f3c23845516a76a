//! `dice-roller.odds`: the odds of totals, without rolling.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    super::describe::{Millis, declared, input},
    expression::{expression, invalid},
};
use crate::{
    domain::Tier,
    logic::{
        dice::{self, Odds},
        spoken,
    },
    tools::{CallContext, CallError, CallOutput, Definition},
};

pub fn tool() -> Definition {
    Definition {
        name: "odds".to_owned(),
        description:
            "Counts exactly how likely a roll is to reach something; it rolls nothing. Always \
                      use it when odds are asked for; never make a number up."
                .to_owned(),
        input: input(
            json!({"expression": {
                "type": "string",
                "maxLength": dice::MAX_CHARS,
                "description": "a roll that is compared, such as 2d6+3 >= 10, a roll alone for its range, \
                                or the words spoken",
            }}),
            &["expression"],
        ),
        output: None,
        declared: declared("dice", Millis { estimated: 5, max: 500 }, Tier::Fast),
        handler: Arc::new(|_: &CallContext, arguments: &Map<String, Value>| counted(arguments)),
    }
}

/// The odds of the expression among `arguments`.
pub fn counted(arguments: &Map<String, Value>) -> Result<CallOutput, CallError> {
    let said = expression(arguments)?;
    let read = dice::parse(said).or_else(|error| {
        spoken::DiceRequest::of(said).odds().map_or(Err(error), |odds| dice::parse(&odds))
    });
    let roll = read.map_err(invalid)?;
    let odds = roll.odds().map_err(invalid)?;
    Ok(CallOutput::json(described(&roll.to_string(), &odds)))
}

fn described(expression: &str, odds: &Odds) -> Value {
    if let Some(chance) = odds.chance {
        return json!({"expression": expression, "percent": percent(chance)});
    }
    let (first, last) = (odds.outcomes.first(), odds.outcomes.last());
    let most = odds.outcomes.iter().max_by(|one, other| one.1.total_cmp(&other.1));
    json!({
        "expression": expression,
        "lowest": first.map(|it| it.0),
        "highest": last.map(|it| it.0),
        "mean": tenths(odds.mean),
        "likeliest": most.map(|it| it.0),
    })
}

/// Whole percent; tenths near 0 and 100.
fn percent(chance: f64) -> Value {
    let percent = 100.0 * chance;
    if (1.0..=99.0).contains(&percent) { number(percent.round()) } else { tenths(percent) }
}

fn tenths(number: f64) -> Value {
    self::number((number * 10.0).round() / 10.0)
}

fn number(number: f64) -> Value {
    if number.fract() == 0.0 { json!(dice::whole(number)) } else { json!(number) }
}
