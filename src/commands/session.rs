//! `/session`: status of the play session. A face that opens sessions adds subcommands.

use futures::FutureExt;

use super::{
    answer::{Answer, Next, Reply, with_status},
    call::Call,
    declared::{Command, Kind, Parameter, Subcommand},
    face::Face,
    text::Refusal,
};

pub const DESCRIPTION: &str = "Start, stop or check the play session";

pub const STATUS: Subcommand =
    Subcommand::new("session status", "Show the state of the session", &[], |face, _| {
        with_status(face, |_, status| Ok(Reply::default().titled("The session").of(status)))
    });

/// For faces without a recap of their own.
pub const RECAP: Subcommand = Subcommand::new(
    "session recap",
    "Show what happened, with the numbers of the lines that prove it",
    &[Parameter::new("dm", "With the game master's secrets", Kind::Flag).for_dm()],
    recap,
)
.for_all();

pub static COMMAND: Command =
    Command { name: "session", description: DESCRIPTION, subs: &[STATUS] };

fn recap(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let told = face.recap(call.flag("dm"))?;
    let next = |told: Result<String, Refusal>| {
        Box::new(move |_: &mut dyn Face| told.map(|it| Answer::Now(Reply::private(it)))) as Next
    };
    Ok(Answer::Soon(told.map(next).boxed()))
}
