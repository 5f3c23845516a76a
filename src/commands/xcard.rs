//! `/xcard`: everyone stops at once. **Never**: reveals its user.

use super::{
    answer::{Answer, Reply},
    declared::{Command, Subcommand},
    face::Face,
    text::Refusal,
};
use crate::session::Command as TableCommand;

const DESCRIPTION: &str =
    "Stop every NPC and take the last exchange back; no one learns that it was you";

pub static COMMAND: Command = Command {
    name: "xcard",
    description: DESCRIPTION,
    subs: &[Subcommand::new("xcard", DESCRIPTION, &[], |face, _| halt(face)).for_all()],
};

/// Silences everyone at once; does not reveal the user of the card.
pub fn halt(face: &mut dyn Face) -> Result<Answer, Refusal> {
    face.tell(TableCommand::Halt)?;
    Ok(Reply::private(
        "Everyone is silent, and the last exchange is taken back. No player learns that you held \
         up the card.",
    )
    .into())
}
