//! `/xcard`: everyone stops at once.
//!
//! Entry items: [`COMMAND`], [`halt`]. **Never**: tells anybody who used it.

use serenity::all::CreateCommand;

use super::{
    answer::{Answer, Refusal},
    command::{Call, Command, Who},
    parts,
};
use crate::{
    discord::{guild::Guild, ui::reply::Reply},
    session::Command as TableCommand,
};

/// `/xcard`.
pub const COMMAND: Command =
    Command { name: "xcard", register, who: |_| Who::Everyone, run, complete: |_, _| Vec::new() };

fn register() -> CreateCommand {
    parts::command(
        "xcard",
        "Stop every NPC and take the last exchange back; no one learns that it was you",
    )
}

fn run(guild: &mut Guild, _: &Call) -> Result<Answer, Refusal> {
    halt(guild)
}

/// Everyone falls silent at once; nobody learns who held the card up.
///
/// # Errors
/// No session runs.
pub fn halt(guild: &Guild) -> Result<Answer, Refusal> {
    guild.tell(TableCommand::Halt)?;
    Ok(Reply::private(
        "Everyone is silent, and the last exchange is taken back. Nobody learns who held up the \
         card.",
    )
    .into())
}
