//! `glyphoxa roll`: dice.

use std::io::Write;

use clap::Args;
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use super::{DONE, Failure, stdout};
use crate::logic::dice;

#[derive(Args)]
#[command(
    after_help = "examples: glyphoxa roll 2d6+3\n          glyphoxa roll '4d6kh3' --times 6\n          glyphoxa roll '1d20 adv + 5 to hit'\n          glyphoxa roll --odds '2d6+3 >= 10'"
)]
pub struct Arguments {
    /// Dice expression; may begin with '-'.
    #[arg(allow_hyphen_values = true, value_name = "EXPR")]
    expression: String,
    /// Repeat the roll N times.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    times: u16,
    /// Seed; equal seeds roll equal dice.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Print the odds of each total, or of a comparison ("2d6+3 >= 10"), without rolling.
    #[arg(long, conflicts_with_all = ["times", "seed"])]
    odds: bool,
    /// Print one JSON object per roll.
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

pub fn run(arguments: &Arguments) -> Result<u8, Failure> {
    let refuse = |error: dice::DiceError| Failure::Usage(error.to_string());
    let expression = dice::parse(&arguments.expression).map_err(refuse)?;
    if arguments.odds {
        return odds(&expression, arguments.json);
    }
    let seed = arguments.seed.unwrap_or_else(rand::random);
    let mut rng = StdRng::seed_from_u64(seed);
    let mut out = stdout();
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

/// The widest bar, in characters.
const WIDEST: f64 = 40.0;

/// Prints the probabilities of totals.
fn odds(expression: &dice::Expression, json: bool) -> Result<u8, Failure> {
    let odds = expression.odds().map_err(|error| Failure::Usage(error.to_string()))?;
    let expression = expression.to_string();
    let mut out = stdout();
    let mut at_least = 1.0;
    let rows: Vec<Row> = odds
        .outcomes
        .iter()
        .map(|(total, exactly)| {
            let row = Row { total: *total, exactly: *exactly, at_least };
            at_least -= exactly;
            row
        })
        .collect();
    if json {
        let all = Likely { expression, chance: odds.chance, mean: odds.mean, outcomes: rows };
        writeln!(out, "{}", serde_json::to_string(&all)?)?;
        return Ok(DONE);
    }
    if let Some(chance) = odds.chance {
        writeln!(out, "{expression}: {:.2} %", 100.0 * chance)?;
        return Ok(DONE);
    }
    let (lowest, highest) = (rows.first().map(|it| it.total), rows.last().map(|it| it.total));
    let (lowest, highest) = (lowest.unwrap_or_default(), highest.unwrap_or_default());
    writeln!(out, "{expression}: {lowest} to {highest}, {:.2} on average", odds.mean)?;
    writeln!(out, "{:>7} {:>9} {:>9}", "total", "exactly", "at least")?;
    let most = rows.iter().map(|row| row.exactly).fold(0.0, f64::max);
    for Row { total, exactly, at_least } in rows {
        let bar = "#"
            .repeat(usize::try_from(dice::whole((WIDEST * exactly / most).round())).unwrap_or(0));
        let line = format!("{total:>7} {:>8.2}% {:>8.2}% {bar}", 100.0 * exactly, 100.0 * at_least);
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(DONE)
}

#[derive(Serialize)]
struct Likely {
    expression: String,
    /// Probability of the comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    chance: Option<f64>,
    mean: f64,
    outcomes: Vec<Row>,
}

/// Probability of one total.
#[derive(Serialize)]
struct Row {
    total: i64,
    exactly: f64,
    /// This total or more.
    at_least: f64,
}
