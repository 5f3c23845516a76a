//! `/session`: how the play session stands. A face that opens sessions adds subcommands of its own.
//!
//! Entry item: [`COMMAND`]. **Never**: begins or ends a session.

use super::{
    answer::{Reply, with_status},
    declared::{Command, Subcommand},
};

/// `/session`.
pub static COMMAND: Command = Command {
    name: "session",
    description: "Start, stop or check the play session",
    subs: &[Subcommand::new("session status", "Show the state of the session", &[], |face, _| {
        with_status(face, |_, status| Ok(Reply::default().titled("The session").of(status)))
    })],
};
