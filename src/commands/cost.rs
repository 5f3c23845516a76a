//! `/cost`: what a month has cost.

use super::{
    answer::{Answer, Reply},
    call::Call,
    declared::{Command, Kind, Parameter, Subcommand},
    face::Face,
    text::{Refusal, Text},
};
use crate::campaign::cost_lines;

/// Length of a month, in characters.
const MONTH_MAX: u16 = 7;
/// Rows of each kind, so that a message has room for all kinds.
const SHOWN: usize = 5;

pub static COMMAND: Command = Command {
    name: "cost",
    description: "Show what a month has cost, by service, NPC, tool and session",
    subs: &[Subcommand::new(
        "cost",
        "Show what a month has cost, by service, NPC, tool and session",
        &[Parameter::new(
            "month",
            "Month, like 2026-11 (default: this month)",
            Kind::Words(MONTH_MAX),
        )],
        cost,
    )],
};

fn cost(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let analytics = face.analytics()?;
    let month = call.text("month").map(str::to_owned);
    let counted = async move { analytics.costs(month.as_deref()).await };
    Ok(Answer::after(counted, |_, report| {
        let lines = cost_lines(&report?, SHOWN).into_iter();
        let lines = lines.map(|line| Text::default().others(line));
        Ok(Reply::private(Text::lines(lines)).titled("Costs"))
    }))
}
