//! `glyphoxa roll`: dice.

use std::io::{self, Write};

use clap::Args;
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use super::{DONE, Failure};
use crate::logic::dice;

#[derive(Args)]
#[command(
    after_help = "examples: glyphoxa roll 2d6+3\n          glyphoxa roll '4d6kh3' --times 6\n          glyphoxa roll '1d20 adv + 5 to hit'"
)]
pub struct Arguments {
    /// What to roll; may begin with '-'.
    #[arg(allow_hyphen_values = true, value_name = "EXPR")]
    expression: String,
    /// How many times to roll it.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    times: u16,
    /// The same seed rolls the same dice.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// One JSON object per roll.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Rolled<'a> {
    expression: &'a str,
    rolls: &'a [i64],
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    totals: Option<&'a [i64]>,
    text: &'a str,
}

/// Rolls and prints.
///
/// # Errors
/// An expression that cannot be understood or rolled, or stdout is gone.
pub fn run(arguments: &Arguments) -> Result<u8, Failure> {
    let refuse = |error: dice::DiceError| Failure::Usage(error.to_string());
    let expression = dice::parse(&arguments.expression).map_err(refuse)?;
    let seed = arguments.seed.unwrap_or_else(rand::random);
    let mut rng = StdRng::seed_from_u64(seed);
    let mut out = io::stdout().lock();
    for _ in 0..arguments.times {
        let outcome = expression.roll(&mut rng).map_err(refuse)?;
        if arguments.json {
            let total = outcome.total();
            let rolled = Rolled {
                expression: &outcome.expression,
                rolls: &outcome.rolls,
                total,
                totals: total.is_none().then_some(&outcome.totals),
                text: &outcome.text,
            };
            writeln!(out, "{}", serde_json::to_string(&rolled)?)?;
        } else {
            writeln!(out, "{}", outcome.text)?;
        }
    }
    Ok(DONE)
}
