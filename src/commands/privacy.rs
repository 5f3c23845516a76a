//! `/privacy`: being heard or not. A face that stores voices' words adds subcommands of its own.
//!
//! Entry item: [`COMMAND`]. **Never**: tells if another player is heard.

use super::{
    answer::{Answer, Reply},
    call::Call,
    declared::{Command, Subcommand},
    face::{Face, Lasting},
    text::Refusal,
};

/// Said to a player who has opted out.
pub const NOT_HEARD: &str = "I no longer hear you (/privacy optin undoes that).";
/// Said to a player who is heard again.
pub const HEARD: &str = "The characters hear you (/privacy optout undoes that).";

/// `/privacy`.
pub static COMMAND: Command = Command {
    name: "privacy",
    description: "See what is heard of you and where it goes, or opt out",
    subs: &[
        Subcommand::new("privacy optout", "Stop being heard, at once", &[], |face, call| {
            heard(face, call, false)
        })
        .for_all(),
        Subcommand::new("privacy optin", "Let the characters hear you", &[], |face, call| {
            heard(face, call, true)
        })
        .for_all(),
    ],
};

fn heard(face: &mut dyn Face, call: &Call, is_heard: bool) -> Result<Answer, Refusal> {
    face.keep(Lasting::Received(call.speaker.id, is_heard))?;
    Ok(Reply::private(if is_heard { HEARD } else { NOT_HEARD }).into())
}
