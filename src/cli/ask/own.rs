//! Commands that only a terminal has, beside those of every face.
//!
//! Entry function: [`all`]. **Never**: does what a command of every face does.

use crate::{
    commands::{self, Answer, Command, Face, Refusal, Reply, Subcommand, Text, usage},
    session::Command as TableCommand,
};

/// A command of one word and without parameters.
const fn sub(
    command: &'static str,
    description: &'static str,
    for_all: bool,
    run: fn(&mut dyn Face, &commands::Call) -> Result<Answer, Refusal>,
) -> Subcommand {
    Subcommand { command, name: "", description, for_all, parameters: &[], run }
}

static SKIP: Command = Command {
    name: "skip",
    description: "End the current answer",
    subs: &[sub(
        "skip",
        "End the current answer and go on with the next speaker",
        false,
        |face, _| commands::skip(face),
    )],
};

static PAUSE: Command = Command {
    name: "pause",
    description: "Have no NPC answer",
    subs: &[sub("pause", "Have no NPC answer until /resume", false, |face, _| {
        commands::pause(face)
    })],
};

static RESUME: Command = Command {
    name: "resume",
    description: "Have NPCs answer again",
    subs: &[sub("resume", "Have NPCs answer again", false, |face, _| commands::resume(face))],
};

static LEAVE: Command = Command {
    name: "leave",
    description: "Leave the table",
    subs: &[sub("leave", "Leave the table until your next line", true, |face, call| {
        face.tell(TableCommand::Leave(call.speaker.id))?;
        Ok(Reply::private("You have left; the next line brings you back.").into())
    })],
};

static HELP: Command = Command {
    name: "help",
    description: "List the commands",
    subs: &[sub("help", "List the commands", true, |_, call| {
        let subs = all().into_iter().flat_map(|command| command.subs);
        let may = subs.filter(|sub| sub.for_all || call.speaker.is_dm);
        let lines = may.map(|sub| format!("{} · {}", usage(sub), sub.description));
        let lines = lines.chain(["quit or Ctrl-D leaves".to_owned()]);
        Ok(Reply::private(Text::lines(lines.map(Text::from))).into())
    })],
};

/// Every command of a terminal, in the order of `/help`.
pub fn all() -> Vec<&'static Command> {
    commands::ALL.into_iter().chain([&SKIP, &PAUSE, &RESUME, &LEAVE, &HELP]).collect()
}
