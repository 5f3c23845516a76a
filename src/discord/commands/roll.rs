//! `/roll`: the same dice as the NPCs'.
//!
//! Entry item: [`COMMAND`]. **Never**: shows a secret roll to others.

use serenity::all::{CommandOptionType, CreateCommand, CreateCommandOption};

use super::{
    answer::{Answer, Refusal},
    command::{Call, Own, Who},
    parts,
};
use crate::discord::{guild::Guild, ui::reply::Reply};

pub const COMMAND: Own =
    Own { name: "roll", register, who: |_| Who::Everyone, run, complete: |_, _| Vec::new() };

/// Longest expression, in characters.
const LONGEST: u16 = 200;

fn register() -> CreateCommand {
    let secret = CreateCommandOption::new(
        CommandOptionType::Boolean,
        "secret",
        "Show the result only to you (default: to everyone)",
    );
    let expression = parts::words(
        "expression",
        "Such as 2d6+3, 1d20 adv, 4d6kh3, 1d20+5 to hit, again",
        LONGEST,
    );
    parts::command("roll", "Roll dice").add_option(expression.required(true)).add_option(secret)
}

fn run(guild: &mut Guild, call: &Call) -> Result<Answer, Refusal> {
    let expression = call.words("expression")?;
    let by = format!("{}/{}", guild.id, call.user);
    let rolled = guild.shared.handles.dice.roll(expression, &by)?;
    let reply = if call.flag("secret") { Reply::private } else { Reply::public };
    let lines: Vec<&str> = rolled.iter().map(|roll| roll.text.as_str()).collect();
    Ok(reply(lines.join("\n")).into())
}
