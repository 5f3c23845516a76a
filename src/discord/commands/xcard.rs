//! `/xcard`: everyone stops at once.
//!
//! Entry item: [`COMMAND`]. **Never**: tells anybody who used it.

use serenity::all::CreateCommand;

use super::{Answer, Call, Command, Refusal, Who, parts};
use crate::discord::guild::task::Guild;

/// `/xcard`.
pub const COMMAND: Command =
    Command { name: "xcard", register, who: |_| Who::Everyone, run, complete: |_, _| Vec::new() };

fn register() -> CreateCommand {
    parts::command(
        "xcard",
        "Stops every NPC and takes the last exchange back; nobody learns that it was you",
    )
}

fn run(guild: &mut Guild, _: &Call) -> Result<Answer, Refusal> {
    guild.halt().map(Answer::Now)
}
